//! `mean(*)`: one result for every channel of the devices asked for of which the call makes sense.

use super::plant::Plant;
use crate::error::OwnerError;
use crate::language::limits;
use crate::question::{Question, Selected, conversion, has_star, unit_of};

/// Number of channels that a remark names.
const NAMED: usize = 10;

/// Puts a result for each channel in the place of each result with `*`. The question gets remarks on channels left out.
pub(super) fn expand(plant: &Plant, question: &mut Question) -> Result<(), OwnerError> {
    if let (Some(ranking), Some(first)) = (question.ranking, question.select.first())
        && first.has_star()
    {
        let expression = &first.expression;
        return Err(OwnerError::Question(format!(
            "{ranking} {expression}: one result decides the order, and * stands for several: name the channel of the first, as in {ranking} \
             mean(x), {expression}"
        )));
    }
    let (mut select, mut remarks) = (Vec::new(), Vec::new());
    for selected in &question.select {
        if !selected.has_star() {
            select.push(selected.clone());
            continue;
        }
        let mut left_out: Vec<String> = Vec::new();
        let before = select.len();
        for name in plant.settings().channels.keys() {
            let one = selected.with_channel(name).map_err(|error| OwnerError::Question(error.to_string()))?;
            if !is_asked_for(plant, question, &one) {
                continue;
            }
            match unfit(plant, selected, &one, name) {
                Some(reason) => left_out.push(format!("{name} ({reason})")),
                None => select.push(one),
            }
        }
        let expression = &selected.expression;
        if select.len() == before {
            let why = match left_out.len() {
                0 => "the devices asked for measure no channel".to_owned(),
                _ => format!("it makes sense of no channel: {}", listed(&left_out)),
            };
            return Err(OwnerError::Question(format!("{expression}: {why}")));
        }
        if !left_out.is_empty() {
            remarks.push(format!("{expression} leaves out {}", listed(&left_out)));
        }
    }
    if select.len() > limits::SELECTED {
        return Err(OwnerError::Question(format!(
            "* stands for more than {} results: name channels, or choose devices with where device in (a, b)",
            limits::SELECTED
        )));
    }
    (question.select, question.remarks) = (select, remarks);
    Ok(())
}

/// Returns true if a device of each call measures its channels. Without devices every channel is asked for.
fn is_asked_for(plant: &Plant, question: &Question, one: &Selected) -> bool {
    let settings = plant.settings();
    settings.devices.is_empty()
        || one.expression.calls_of().all(|(call, of)| {
            settings.devices.iter().any(|(name, device)| {
                let has = |channel: &&str| device.channels.iter().any(|own| own == channel);
                settings.takes(question, (call, of), settings.member(name)) && call.channels().iter().all(has)
            })
        })
}

/// Returns why a result makes no sense with a channel in the place of `*`; None if it does.
fn unfit(plant: &Plant, selected: &Selected, one: &Selected, name: &str) -> Option<String> {
    let kind = plant.settings().channels.get(name)?.kind();
    // The calls come in the same order.
    let calls = selected.expression.calls().zip(one.expression.calls());
    let unfit = |(starred, call): (&crate::functions::Call, &crate::functions::Call)| {
        has_star(starred) && !call.fits(&kind)
    };
    if calls.into_iter().any(unfit) {
        return Some(kind.rules().word().to_owned());
    }
    let settings = plant.settings();
    let unit = unit_of(&one.expression, settings).map_err(|error| error.to_string());
    let converted = unit.and_then(|_| conversion(&one.expression, one.unit.as_deref(), settings));
    converted.err()
}

fn listed(names: &[String]) -> String {
    match names.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}
