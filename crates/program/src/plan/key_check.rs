//! The key of each register, and the steps that are allowed under it.

use alloc::vec::Vec;

use super::{Plan, PlanError, Step};
use crate::{KeyNumber, key_number};

/// Returns the key of each register: inputs first, then the register of each step. A switch gives the answer's key, any
/// other step that of its first operand. A missing register counts as the answer's.
pub(super) fn register_keys(plan: &Plan) -> Vec<KeyNumber> {
    let mut keys: Vec<KeyNumber> = plan.inputs.iter().map(|input| input.key).collect();
    for step in &plan.steps {
        let first = step.step.operands().next().and_then(|of| keys.get(of.index()).copied());
        keys.push(match step.step {
            Step::SwitchKey(_) => KeyNumber::ANSWER,
            _ => first.unwrap_or_default(),
        });
    }
    keys
}

/// Checks the keys of operands and outputs, which must exist. Registers under different keys are never combined. Only
/// the answer's key has evaluation keys, so foreign registers are neither multiplied by each other nor rotated. Every
/// output is under the answer's key.
pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    if let Some((input, key)) = key_number::first_misnumbered(plan.inputs.iter().map(|input| input.key)) {
        return Err(PlanError::KeyNumber { input, key });
    }
    let keys = register_keys(plan);
    for (index, step) in plan.steps.iter().enumerate() {
        let mut operands = step.step.operands().map(|register| (register, keys[register.index()]));
        let (first, second) = (operands.next(), operands.next());
        if let (Some((left, left_key)), Some((right, right_key))) = (first, second)
            && left_key != right_key
        {
            return Err(PlanError::MixedKeys { step: index, left, left_key, right, right_key });
        }
        let Some((register, key)) = first else { continue };
        match step.step {
            Step::SwitchKey(_) if !key.is_foreign() => {
                return Err(PlanError::NotForeign { step: index, register });
            }
            Step::Multiply(..)
            | Step::Relinearise(_)
            | Step::Rotate(..)
            | Step::SwapRows(_)
            | Step::Table { .. }
            | Step::Sign { .. }
                if key.is_foreign() =>
            {
                return Err(PlanError::Foreign { step: index, what: step.step.name(), register, key });
            }
            _ => {}
        }
    }
    let foreign = plan.outputs.iter().find(|output| keys[output.register.index()].is_foreign());
    match foreign {
        Some(output) => {
            Err(PlanError::ForeignOutput { name: output.name.clone(), key: keys[output.register.index()] })
        }
        None => Ok(()),
    }
}
