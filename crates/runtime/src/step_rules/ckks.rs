//! CKKS: matching of scales on the way down the levels, and signs.

use sotto_circuits::{Encrypted, Machine, Outline, Sign};
use sotto_program::{Register, Step, limits};
use sotto_rlwe::{
    Ciphertext, Ckks, EncodeError, EvalError, EvaluationKeys, Evaluator, Params, PlainSize, Plaintext,
    Scheme, SchemeId, Shape,
};

use super::{BEYOND_ONE, StepRules, foreign, refused};

impl StepRules for Ckks {
    fn towards(of: Register, level: usize) -> Step {
        Step::MatchScale { of, level: level as u8 }
    }

    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError> {
        match values {
            [value] => Self::encode_scalar(params, *value, level),
            _ => Self::encode_slots(params, values, level),
        }
    }

    fn follow_own(params: &Params<Self>, step: &Step, of: &Shape<Self>) -> Result<Shape<Self>, EvalError> {
        match step {
            Step::MatchScale { level, .. } => of.match_scale(params, usize::from(*level)),
            _ => Err(foreign::<Self>(step)),
        }
    }

    fn follow_sign(params: &Params<Self>, gap_bits: u8, of: &Shape<Self>) -> Result<Shape<Self>, EvalError> {
        sign(&mut Outline::new(params), gap_bits, of)
    }

    fn run_sign(
        evaluator: &Evaluator<Self>,
        gap_bits: u8,
        of: &Ciphertext<Self>,
        keys: &EvaluationKeys<Self>,
    ) -> Result<Ciphertext<Self>, EvalError> {
        sign(&mut Encrypted::new(evaluator, keys), gap_bits, of)
    }

    fn scale_match(params: &Params<Self>, from: usize, to: usize) -> Option<PlainSize> {
        params.encode_scale_match(from, to).ok().map(|constant| constant.size())
    }

    fn run_own(
        evaluator: &Evaluator<Self>,
        step: &Step,
        of: &Ciphertext<Self>,
    ) -> Result<Ciphertext<Self>, EvalError> {
        match step {
            Step::MatchScale { level, .. } => evaluator.match_scale(of, usize::from(*level)),
            _ => Err(foreign::<Self>(step)),
        }
    }
}

/// Returns the signs of slots on a machine. A slot beyond ±1 counts as ±1 with an error.
fn sign<M: Machine<Value = f64>>(
    machine: &mut M,
    gap_bits: u8,
    of: &M::Vector,
) -> Result<M::Vector, EvalError> {
    let unsupported = EvalError::Unsupported { operation: "sign", scheme: SchemeId::Ckks };
    if !limits::GAP_BITS.contains(&gap_bits) {
        return Err(unsupported);
    }
    let sign = Sign::with_gap(f64::from(-i32::from(gap_bits)).exp2()).map_err(|_| unsupported)?;
    let copy = machine.copy(of);
    let error = machine.slot_error(of) + BEYOND_ONE;
    let operand = machine.with_slot_bounds(copy, 1.0, error);
    let signs = sign.evaluate(machine, &operand, 1.0);
    machine.recycle(operand);
    signs.map(|(signs, _)| signs).map_err(|error| refused::<Ckks>(error, "sign"))
}
