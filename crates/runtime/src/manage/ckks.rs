//! CKKS: matching of scales on the way down the levels.

use sotto_program::{Register, Step};
use sotto_rlwe::{
    Ciphertext, Ckks, EncodeError, EvalError, Evaluator, Params, PlainSize, Plaintext, Scheme, Shape,
};

use super::{Managed, foreign};
use crate::lower::Builder;

impl Managed for Ckks {
    fn lower(builder: &mut Builder<'_, Self>, of: Register, level: usize) -> Result<Register, EvalError> {
        if builder.shape(of).level == level {
            return Ok(of);
        }
        builder.push(Step::MatchScale { of, level: level as u8 })
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
