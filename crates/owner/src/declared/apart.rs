//! Results by window whose readings are sent in windows of their own.

use super::plant::Plant;
use crate::functions::Call;
use crate::language::By;
use crate::question::Question;
use crate::streams::Kind;

/// Returns why no window has all calls of a result by window, with the call that is sent apart from the first one; None if
/// windows may have them. Rows by window have one period.
pub(super) fn apart(plant: &Plant, question: &Question) -> Option<(usize, String)> {
    if question.by != Some(By::Window) {
        return None;
    }
    let channel = |call: &Call| call.channels().first().map(|name| (*name).to_owned());
    let period = |name: &String| plant.settings().channels.get(name).map(|of| of.every.period);
    let own = |call: &Call| {
        let of = plant.settings().channels.get(&channel(call)?)?;
        Some((Kind::of(&call.needs()), of.kind().rules().is_joined()))
    };
    let told = |name: &String, there: &String| {
        let both = if name == there {
            format!(
                "no window has both: values of polynomials and models of {name} are sent in windows of their own"
            )
        } else {
            format!("no window has both {name} and {there}, which are sent in windows of their own")
        };
        format!("{both}: ask for one of them, or for both by hour or by day")
    };
    let (mut index, mut earlier) = (0, None);
    for selected in &question.select {
        let mut first: Option<(String, (Kind, bool))> = None;
        for call in selected.expression.calls() {
            let Some((name, own)) = channel(call).zip(own(call)) else { continue };
            let before = first.get_or_insert((name.clone(), own));
            let earlier = earlier.get_or_insert_with(|| name.clone());
            if before.1 != own {
                return Some((index, told(&before.0, &name)));
            }
            if period(earlier) != period(&name) {
                return Some((index, told(earlier, &name)));
            }
            index += 1;
        }
    }
    None
}
