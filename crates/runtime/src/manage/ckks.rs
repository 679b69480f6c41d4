//! CKKS: every register has the scale of its level. Products are rescaled at once; the higher operand is brought down.

use sotto_program::{Register, Step};
use sotto_rlwe::{
    Ciphertext, Ckks, EncodeError, EvalError, Evaluator, Params, Plaintext, ScalePower, Scheme, Shape,
};

use super::{Managed, foreign};
use crate::lower::Builder;

impl Managed for Ckks {
    const EXACT: bool = false;

    /// Constants are encoded at the first power of their level's scale.
    fn addend_scaling(_of: ScalePower) -> ScalePower {
        ScalePower(1)
    }

    fn align(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError> {
        let (high, low) = (builder.shape(a).level, builder.shape(b).level);
        Ok(match high.cmp(&low) {
            core::cmp::Ordering::Equal => (a, b),
            core::cmp::Ordering::Greater => (builder.push(Step::MatchScale { of: a, level: low as u8 })?, b),
            core::cmp::Ordering::Less => (a, builder.push(Step::MatchScale { of: b, level: high as u8 })?),
        })
    }

    fn before_product(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError> {
        let (a, b) = Self::align(builder, a, b)?;
        // The product has to be rescaled.
        if builder.shape(a).level == 0 { Err(EvalError::NoLevel { level: 0 }) } else { Ok((a, b)) }
    }

    fn after_product(builder: &mut Builder<'_, Self>, product: Register) -> Result<Register, EvalError> {
        builder.push(Step::DropModulus { of: product, count: 1 })
    }

    /// Decryption takes scaled messages of at most 62 bits.
    fn finish(builder: &mut Builder<'_, Self>, answer: Register) -> Result<Register, EvalError> {
        let noise = builder.shape(answer).noise;
        let over = (noise.message + noise.error).0 - 62.0;
        if over > 0.0 { Err(EvalError::Noise { over }) } else { Ok(answer) }
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
