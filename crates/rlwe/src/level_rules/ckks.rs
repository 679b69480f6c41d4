//! CKKS: a ciphertext at rest has the scale of its level. Products are rescaled at once; the higher operand is brought down.

use super::{Adjustment, LevelRules, lower_of, small_integer};
use crate::error::EvalError;
use crate::parameters::Params;
use crate::schemes::{Ckks, ScalePower};
use crate::shape::Shape;

/// Decryption takes scaled messages of at most this many bits.
const ANSWER_BITS: f64 = 62.0;

impl LevelRules for Ckks {
    const EXACT: bool = false;
    const RESCALES: bool = true;

    /// Constants are encoded at the first power of their level's scale.
    fn addend_scaling(_of: ScalePower) -> ScalePower {
        ScalePower(1)
    }

    fn before_sum(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> [Adjustment; 2] {
        lower_of(a, b)
    }

    fn product_level(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> Result<usize, EvalError> {
        match a.level.min(b.level) {
            // The product has to be rescaled.
            0 => Err(EvalError::NoLevel { level: 0 }),
            level => Ok(level),
        }
    }

    fn answer_level(_params: &Params<Self>, answer: &Shape<Self>) -> Result<usize, EvalError> {
        let over = (answer.noise.message + answer.noise.error).0 - ANSWER_BITS;
        if over > 0.0 { Err(EvalError::Noise { over }) } else { Ok(answer.level) }
    }

    fn canonical(_params: &Params<Self>, value: f64) -> f64 {
        value
    }

    fn as_integer(value: f64) -> Option<i64> {
        small_integer(value)
    }
}
