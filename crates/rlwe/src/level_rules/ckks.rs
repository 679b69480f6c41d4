//! CKKS: a ciphertext at rest has the scale of its level. Products are rescaled at once; the operand at the higher
//! level is lowered.

use super::{Adjustment, LevelRules, lower_of, small_integer};
use crate::error::EvalError;
use crate::parameters::Params;
use crate::schemes::{Ckks, ScalePower};
use crate::shape::Shape;

/// Maximum bits of a scaled message at decryption.
const ANSWER_BITS: f64 = 62.0;

impl LevelRules for Ckks {
    const EXACT: bool = false;
    const RESCALES: bool = true;

    /// Encodes constants at the first power of their level's scale.
    fn addend_scaling(_of: ScalePower) -> ScalePower {
        ScalePower(1)
    }

    fn before_sum(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> [Adjustment; 2] {
        lower_of(a, b)
    }

    fn product_level(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> Result<usize, EvalError> {
        match a.level.min(b.level) {
            // The product must still be rescaled.
            0 => Err(EvalError::NoLevel { level: 0 }),
            level => Ok(level),
        }
    }

    fn answer_level(_params: &Params<Self>, answer: &Shape<Self>) -> Result<usize, EvalError> {
        let over = (answer.noise.message + answer.noise.error).0 - ANSWER_BITS;
        if over > 0.0 { Err(EvalError::Noise { over }) } else { Ok(answer.level) }
    }

    fn replace_factor(_params: &Params<Self>, _shape: &mut Shape<Self>, _factor: f64) -> f64 {
        1.0
    }

    fn canonical(_params: &Params<Self>, value: f64) -> f64 {
        value
    }

    fn as_integer(value: f64) -> Option<i64> {
        small_integer(value)
    }
}
