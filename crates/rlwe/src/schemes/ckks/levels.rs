//! CKKS: a ciphertext at rest has the scale of its level. Products are rescaled at once; the operand at the higher
//! level is lowered.

use super::{Ckks, ScalePower};
use crate::error::EvalError;
use crate::level_rules::LevelRules;
use crate::parameters::Params;
use crate::shape::Shape;

/// Maximum bits of a scaled message at decryption.
const ANSWER_BITS: f64 = 62.0;

impl LevelRules for Ckks {
    const RESCALES: bool = true;

    /// Encodes constants at the first power of their level's scale.
    fn addend_scaling(_of: ScalePower) -> ScalePower {
        ScalePower(1)
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
}
