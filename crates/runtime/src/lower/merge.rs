//! Merging: results of compact inputs side by side in one ciphertext.

use sotto_program::{PlanOutput, Register, Step};
use sotto_rlwe::EvalError;

use super::builder::Builder;
use super::levels;
use crate::step_rules::StepRules;

/// Outputs of a program that are merged into one ciphertext.
///
/// ```
/// use sotto_program::ProgramBuilder;
/// use sotto_rlwe::{Ckks, Kept, Origin, Params};
/// use sotto_runtime::{Encoding, Merged, RlweTarget};
///
/// // The squares of two channels, four readings each.
/// let mut asked = ProgramBuilder::new();
/// for name in ["inlet", "outlet"] {
///     let reading = asked.input(name, 1.0);
///     let square = asked.mul(reading, reading);
///     asked.output(format!("{name}-square"), square);
/// }
/// let target = RlweTarget {
///     params: Params::<Ckks>::default_chain(8192, 0)?,
///     encoding: Encoding::Slots,
///     origin: Origin::SecretKey,
///     kept: Some(Kept::Folded(4)),
///     may_wrap: false,
/// };
/// // The first result stays at X^0, the second moves to X^1.
/// let squares = Merged { name: "squares".into(), outputs: vec![(0, 0), (1, 1)] };
/// let lowered = target.lower_merged(&asked.finish()?, &[squares])?;
/// assert_eq!(lowered.plan.outputs.len(), 1);
/// assert_eq!(lowered.plan.counts()["multiply-monomial"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The name of the ciphertext.
    pub name: String,
    /// Positions of outputs in the program, each with its power of X.
    pub outputs: Vec<(usize, u32)>,
}

/// Adds outputs times powers of X. A polynomial in X^(n/k) times X^i has coefficients only at i, i + n/k, ….
pub(super) fn merge<S: StepRules>(
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
                let (sum, moved) = levels::before_sum(builder, sum, moved)?;
                builder.push(Step::Add(sum, moved))?
            }
            None => moved,
        });
    }
    // Brought down after the sum, so that its rounding error is added once.
    let register = sum.ok_or(EvalError::MissingRegister { register: 0 })?;
    Ok(PlanOutput { name: merged.name.clone(), register, form: None })
}
