//! The last steps before outputs: whole at the lowest level that holds them, or reduced to few bits.

use sotto_program::{OutputForm, PlanOutput, Register};
use sotto_rlwe::{EvalError, Kept, Params, Selection, Shape};

use super::builder::Builder;
use super::levels;
use super::merge::Merged;
use super::slot_errors::SlotErrors;
use super::target::Encoding;
use crate::step_rules::StepRules;

/// In CKKS, the fraction by which reducing an answer may raise its error bound.
const ADDED: f64 = 1.0 / 8.0;

/// Brings every output down to the level at which a whole ciphertext is returned.
pub(super) fn whole<S: StepRules>(
    builder: &mut Builder<'_, S>,
    outputs: Vec<PlanOutput>,
) -> Result<Vec<PlanOutput>, EvalError> {
    let finished = |output: PlanOutput| {
        let register = levels::finish(builder, output.register)?;
        Ok(PlanOutput { register, ..output })
    };
    outputs.into_iter().map(finished).collect()
}

/// Returns the coefficients of an output that the owner reads.
pub(super) fn selection<S: StepRules>(
    params: &Params<S>,
    encoding: Encoding,
    kept: Option<Kept>,
    merged: Option<&Merged>,
) -> Selection {
    match (encoding, kept, merged) {
        (Encoding::Slots, Some(kept), Some(merged)) => {
            let last = merged.outputs.iter().map(|(_, power)| *power as usize).max().unwrap_or(0);
            Selection::new(kept.spacing(params.degree()), last + 1)
        }
        (Encoding::Scalar, _, None) => Selection::new(params.degree(), 1),
        _ => Selection::ALL,
    }
}

/// Brings every output to the level at which it takes the fewest bits, and sets its form. An output that no form holds
/// stays whole.
pub(super) fn reduced<S: StepRules>(
    builder: &mut Builder<'_, S>,
    outputs: Vec<(PlanOutput, Selection)>,
    errors: &SlotErrors,
    read: Option<usize>,
) -> Result<Vec<PlanOutput>, EvalError> {
    let reduced = |(output, selection): (PlanOutput, Selection)| {
        let Some((width, level)) = least(builder, output.register, selection, errors, read) else {
            let register = levels::finish(builder, output.register)?;
            return Ok(PlanOutput { register, ..output });
        };
        let register = builder.lower(output.register, level)?;
        let Selection { spacing, count } = selection;
        let form = OutputForm { width: width as u8, spacing: spacing as u32, count: count as u32 };
        Ok(PlanOutput { register, form: Some(form), ..output })
    };
    outputs.into_iter().map(reduced).collect()
}

/// Returns the smallest width in bits of an output, and the lowest level with this width.
fn least<S: StepRules>(
    builder: &Builder<'_, S>,
    register: Register,
    selection: Selection,
    errors: &SlotErrors,
    read: Option<usize>,
) -> Option<(u32, usize)> {
    let (params, shape) = (builder.params(), builder.shape(register));
    let most = errors.bound(params, register, shape, read) * (1.0 + ADDED);
    let at = |level: usize| {
        let lowered: Shape<S> = shape.lower(params, level).ok()?;
        let left = most - errors.lowered(params, register, builder.shapes(), &lowered, read);
        Some((lowered.least_width(params, selection, left)?, level))
    };
    (0..=shape.level).filter_map(at).min()
}
