//! Results of compact inputs, beside each other in one ciphertext.

use sotto_program::{PlanOutput, Register, Step};
use sotto_rlwe::EvalError;

use super::Builder;
use crate::manage::{self, Managed};

/// Outputs of a program that leave in one ciphertext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The name of the ciphertext.
    pub name: String,
    /// Outputs by their position in the program, each with the power of X that it is multiplied by.
    pub outputs: Vec<(usize, u32)>,
}

/// The sum of outputs times powers of X, as it leaves: a polynomial in X^(n/k) times X^i has coefficients at i, i + n/k, … alone.
pub(super) fn merge<S: Managed>(
    builder: &mut Builder<'_, S>,
    outputs: &[PlanOutput],
    merged: &Merged,
) -> Result<PlanOutput, EvalError> {
    let mut sum: Option<Register> = None;
    for (at, power) in &merged.outputs {
        let output = outputs.get(*at).ok_or(EvalError::MissingRegister { register: *at as u32 })?;
        let moved = match power {
            0 => output.register,
            power => builder.push(Step::MultiplyMonomial(output.register, *power))?,
        };
        sum = Some(match sum {
            Some(sum) => {
                let (sum, moved) = manage::before_sum(builder, sum, moved)?;
                builder.push(Step::Add(sum, moved))?
            }
            None => moved,
        });
    }
    // Brought down afterwards: what that rounds off is added once.
    let register = sum.ok_or(EvalError::MissingRegister { register: 0 })?;
    Ok(PlanOutput { name: merged.name.clone(), register, form: None })
}
