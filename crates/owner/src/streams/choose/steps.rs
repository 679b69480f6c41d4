//! The choice of parameters for whole steps, which the cloud compares with limits chosen later.

use sotto_circuits::table_chains_with;
use sotto_pack::{Channel, Cut, Layout, StepDigits};
use sotto_rlwe::with_scheme;
use sotto_runtime::Managed;

use super::chosen::{Alternative, Chosen, no_parameters, under_public_key, without_secret};
use super::judge::attempt;
use super::worst::layout;
use crate::error::OwnerError;
use crate::quantities::STEPS_MODULUS;
use crate::question::ExactScheme;
use crate::streams::{StreamNeeds, Wishes};

/// Degrees to try. Smaller ones have no room for a polynomial of degree 63.
const DEGREES: [usize; 2] = [16384, 32768];

/// Returns the smallest windows of steps that carry any comparison of a stream's channels.
pub(super) fn choose_steps(
    stream: &StreamNeeds,
    channels: &[Channel],
    wishes: Wishes,
) -> Result<Chosen, OwnerError> {
    let mut tried = Vec::new();
    for degree in DEGREES {
        let (layout, cut) = steps_layout(stream, channels, degree, wishes)?;
        let mut found: Vec<Chosen> = Vec::new();
        let stated = |scheme: &ExactScheme| stream.scheme.is_none_or(|stated| stated == *scheme);
        for scheme in ExactScheme::ALL.into_iter().filter(stated) {
            let candidate =
                with_scheme!(scheme.id(), S => at_degree::<S>(stream, &layout, cut, degree, wishes));
            match candidate {
                Ok(chosen) => found.push(chosen),
                Err(why) => tried.push(Alternative::refused(&scheme.to_string(), degree, why)),
            }
        }
        found.sort_by_key(|chosen| chosen.window_bytes);
        let mut found = found.into_iter();
        let Some(mut chosen) = found.next() else { continue };
        tried.extend(found.map(|other| Alternative::of(&other, "not fewer bytes".to_owned())));
        tried.push(if stream.public {
            without_secret(chosen.scheme(), degree)
        } else {
            under_public_key(chosen.scheme(), degree)
        });
        chosen.alternatives = tried;
        return Ok(chosen);
    }
    let way_out = "take `comparable` from one of the channels, or declare coarser resolutions";
    Err(no_parameters(&tried, wishes, way_out))
}

/// Returns the layout with the fewest slots for the ticks of a window.
fn steps_layout(
    stream: &StreamNeeds,
    channels: &[Channel],
    degree: usize,
    wishes: Wishes,
) -> Result<(Layout, Cut), OwnerError> {
    let refused = |reason: String| OwnerError::NoParameters(reason);
    // Both digits of all channels have to fit a row.
    let (whole, cut) = layout(stream, channels, degree as u32 / 4, 1, wishes)?;
    let digits = StepDigits::of(&whole).ok_or_else(|| {
        let many = channels.iter().find(|channel| StepDigits::of_one(channel).is_none());
        let name = many.map_or("a channel", |channel| channel.name.as_str());
        refused(format!(
            "{name} has more than 4,096 steps (range / resolution), which cannot be compared exactly: declare a coarser resolution or a narrower range, or take `comparable` away from it"
        ))
    })?;
    let columns = (whole.block() * channels.len() as u32).next_power_of_two().max(2);
    let slots = digits.count() * columns;
    let compact = Layout::of_steps(channels, cut.ticks, slots);
    Ok((compact.map_err(|error| refused(error.to_string()))?, cut))
}

/// Returns the fastest chain at a degree.
fn at_degree<S: Managed>(
    stream: &StreamNeeds,
    layout: &Layout,
    cut: Cut,
    degree: usize,
    wishes: Wishes,
) -> Result<Chosen, String> {
    let mut why = wishes.no_room();
    for spec in table_chains_with(S::ID, degree, STEPS_MODULUS, wishes.target()) {
        match attempt::<S>(stream, layout, cut, spec, wishes) {
            Ok(chosen) => return Ok(chosen),
            Err(error) => why = error,
        }
    }
    Err(why)
}
