//! The test of parameters for a stream, by the noise bound.

use sotto_pack::{Cut, Layout};
use sotto_program::{KeysNeeded, LowerError};
use sotto_rlwe::{ParameterSpec, Params};
use sotto_runtime::{Encoding as Slots, Managed, Planned, RlweTarget};
use sotto_wire::{SlotsWindow, WINDOW_OVERHEAD};

use super::chosen::{Chosen, MOST_WINDOWS};
use super::precision::real_error;
use super::worst::{most_parts, windows_of, worst};
use crate::quantities::{Quantity, frames, kept, origin, program, typical};
use crate::streams::{StreamNeeds, Wishes};

/// The largest error of a comparison's result, about 1 or −1: together with the error of the approximation, at most 0.07,
/// it leaves the sides apart.
pub(super) const MOST_FLAG_ERROR: f64 = 0.25;

/// Tests a parameter set by the noise bound.
pub(super) fn attempt<S: Managed>(
    stream: &StreamNeeds,
    layout: &Layout,
    cut: Cut,
    spec: ParameterSpec,
    wishes: Wishes,
) -> Result<Chosen, String> {
    let params =
        Params::<S>::with_security(spec.clone(), wishes.target()).map_err(|error| error.to_string())?;
    let (origin, kept) = (origin(stream.public), kept(layout, spec.degree));
    let target = RlweTarget { params, encoding: Slots::Slots, origin, kept, may_wrap: true };
    // A single window has less noise than many; most candidates fail here, in a hundredth of the time.
    judge(stream, layout, cut, &target, spec.clone(), true)?;
    Ok(Chosen { wishes, ..judge(stream, layout, cut, &target, spec, false)? })
}

/// Lowers the worst case of every quantity (for a single window if `alone`), and collects keys, levels, noise and
/// bytes.
pub(super) fn judge<S: Managed>(
    stream: &StreamNeeds,
    layout: &Layout,
    cut: Cut,
    target: &RlweTarget<S>,
    spec: ParameterSpec,
    alone: bool,
) -> Result<Chosen, String> {
    let params = &target.params;
    let mut chosen = Chosen {
        stream: stream.clone(),
        spec: Some(spec),
        layout: layout.clone(),
        cut,
        keys: KeysNeeded::default(),
        levels_used: 0,
        noise_bits_left: f64::INFINITY,
        flooding_bits: None,
        window_bytes: match target.kept {
            _ if stream.public => sotto_wire::expanded_bytes(params, params.top_level(), 2),
            Some(kept) => WINDOW_OVERHEAD + SlotsWindow::body_bytes(params, kept),
            None => sotto_wire::seeded_bytes(params),
        },
        answer_bytes: 0,
        results_in_one: frames(layout, params.degree(), true),
        sums_of: MOST_WINDOWS as u64,
        key_bytes: 0,
        alternatives: Vec::new(),
        sums: Vec::new(),
        wishes: Wishes::default(),
    };
    for quantity in worst(stream, layout, &cut) {
        // As many parts as fit one ciphertext. The bound on the packed result's noise is that of the largest part times
        // their number, so every part has the largest size.
        let (windows, parts) = if alone {
            (1, 1)
        } else {
            (windows_of(&quantity), chosen.results_in_one.min(most_parts(&quantity)))
        };
        let parts = vec![typical(layout, &cut, windows, &quantity); parts];
        let most = match quantity {
            Quantity::Beyond(_) => MOST_FLAG_ERROR,
            _ => real_error(&stream.needs),
        };
        let asked = program(layout, params.degree(), &parts, &[quantity], true);
        let asked = asked.map_err(|error| error.to_string())?;
        let Some(program) = &asked.program else { continue };
        let lowered = target.lower_reduced(program, &asked.merged).map_err(|error| lost(&error))?;
        chosen.keys = chosen.keys.and(&lowered.keys);
        chosen.levels_used = chosen.levels_used.max(lowered.plan.predicted.levels_used);
        for Planned { shape, reduction, slot_error, .. } in &lowered.outputs {
            chosen.noise_bits_left = chosen.noise_bits_left.min(shape.room(params));
            let error = match stream.needs.flooding {
                // Publishing rounds to the noise bound, which at most doubles the error.
                None => 2.0 * slot_error,
                // Flooding uses the shape's bound, and hides all values of a ciphertext together.
                Some(flooding) => {
                    let values = parts.len() * layout.ticks() as usize;
                    let bits = flooding.cost_bits(values);
                    chosen.flooding_bits = Some(chosen.flooding_bits.map_or(bits, |most| most.max(bits)));
                    flooding.published_error(values, shape.slot_error(params))
                }
            };
            if error > most {
                return Err(format!(
                    "noise{} may change a value by {error:.1e} of its size; {most:.1e} is asked",
                    if stream.needs.flooding.is_some() { " and flooding" } else { "" }
                ));
            }
            let bytes = match reduction {
                Some(reduction) => sotto_wire::reduced_bytes(params, *reduction),
                None => sotto_wire::expanded_bytes(params, shape.level, shape.components),
            };
            chosen.answer_bytes = chosen.answer_bytes.max(bytes as u64);
        }
    }
    let keys = &chosen.keys;
    if !keys.is_empty() {
        chosen.key_bytes = sotto_wire::evaluation_keys_bytes(
            params,
            sotto_wire::EvaluationKeyCounts {
                relinearisation: keys.relinearisation,
                galois: keys.rotations.len() + usize::from(keys.swap_rows),
                transfers: keys.transfers.len(),
            },
        );
    }
    Ok(chosen)
}

/// Describes why parameters are unsuitable, for a table of alternatives.
fn lost(error: &LowerError) -> String {
    match error {
        LowerError::NoiseExceeded { bits_over, .. } => {
            format!("noise passes its limit by {:.0} bits", bits_over.ceil())
        }
        LowerError::TooLarge { bits_over, .. } => {
            format!("values with their precision exceed the modulus by {bits_over:.0} bits")
        }
        LowerError::TooDeep { levels_needed, levels_available } => {
            format!("the questions need {levels_needed} levels, and {levels_available} fit")
        }
        LowerError::PlainModulusTooSmall { needed_bits, .. } => {
            format!("sums need a plain modulus of {needed_bits} bits")
        }
        other => other.to_string(),
    }
}
