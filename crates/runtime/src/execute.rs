//! Execution of one step.

use sotto_program::{Register, Step};
use sotto_ring::Scratch;
use sotto_rlwe::{Addend, Ciphertext, EvalError, EvaluationKeys, Evaluator, Multiplier};

use crate::constants::Constants;
use crate::step_rules::StepRules;

/// Runs a step on registers, which `at` returns.
pub(crate) fn execute<'a, S: StepRules>(
    evaluator: &Evaluator<S>,
    step: &Step,
    at: impl Fn(Register) -> Result<&'a Ciphertext<S>, EvalError>,
    constants: Constants<'_, S>,
    keys: &EvaluationKeys<S>,
    scratch: &mut Scratch,
) -> Result<Ciphertext<S>, EvalError> {
    let params = evaluator.params();
    // Steps that work in place get a copy of the first operand.
    let of = match *step {
        // Both operands may be the same register: doubling is noisier than adding two independent ciphertexts.
        Step::Add(a, b) => return evaluator.add_with(at(a)?, at(b)?, scratch),
        Step::Multiply(a, b) => return evaluator.multiply_with(at(a)?, at(b)?, scratch),
        Step::Relinearise(a) => return evaluator.relinearise_with(at(a)?, keys, scratch),
        Step::DropModulus { of: a, count: count @ 1.. } => {
            let mut result = evaluator.drop_modulus_with(at(a)?, scratch)?;
            (1..count).try_for_each(|_| evaluator.drop_modulus_assign(&mut result, scratch))?;
            return Ok(result);
        }
        Step::Rotate(a, steps) => return evaluator.rotate_with(at(a)?, steps, keys, scratch),
        Step::SwapRows(a) => return evaluator.swap_rows_with(at(a)?, keys, scratch),
        Step::SwitchKey(a) => return evaluator.switch_key_with(at(a)?, keys, scratch),
        Step::Table { of, values, first } => {
            return S::run_table(evaluator, &constants.table(values, first)?, at(of)?, keys);
        }
        Step::Sign { of, gap_bits } => return S::run_sign(evaluator, gap_bits, at(of)?, keys),
        Step::MatchScale { of, .. } | Step::MatchFactor { of, .. } => {
            return S::run_own(evaluator, step, at(of)?);
        }
        Step::MultiplyPlain(a, c) => {
            let plain = &constants.encoded[c.index()];
            let multiplier = Multiplier::new(params, plain, plain.level());
            return evaluator.multiply_plain_with(at(a)?, &multiplier, scratch);
        }
        Step::AddPlain(a, c) => {
            let (a, plain) = (at(a)?, &constants.encoded[c.index()]);
            let addend = Addend::new(params, plain, plain.level(), S::addend_scaling(a.shape().scaling));
            return evaluator.add_plain_with(a, &addend, scratch);
        }
        Step::Sub(a, _)
        | Step::Negate(a)
        | Step::MultiplyScalar(a, _)
        | Step::MultiplyMonomial(a, _)
        | Step::DropModulus { of: a, .. } => at(a)?,
    };
    let mut result = evaluator.copy_with(of, scratch);
    match *step {
        Step::Sub(_, b) => evaluator.subtract_assign(&mut result, at(b)?, scratch)?,
        Step::Negate(_) => evaluator.negate_assign(&mut result)?,
        Step::MultiplyScalar(_, scalar) => evaluator.multiply_scalar_assign(&mut result, scalar)?,
        Step::MultiplyMonomial(_, power) => {
            evaluator.multiply_monomial_assign(&mut result, power as usize)?;
        }
        // The other steps returned above; a drop of 0 primes copies.
        _ => {}
    }
    Ok(result)
}
