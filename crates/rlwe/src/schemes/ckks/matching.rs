//! Scales that match: a ciphertext of power 1 at the scale of a lower level.

use super::Ckks;
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluator::Evaluator;
use crate::parameters::Params;
use crate::shape::Shape;

impl Shape<Ckks> {
    /// Returns the shape at a lower level's scale: see [`Evaluator::match_scale`].
    ///
    /// # Errors
    /// [`EvalError::LevelMismatch`] unless the level is lower; else as [`Shape::lower`].
    pub fn match_scale(&self, params: &Params<Ckks>, level: usize) -> Result<Self, EvalError> {
        if self.level <= level {
            return Err(EvalError::LevelMismatch { left: self.level, right: level });
        }
        self.lower(params, level)
    }
}

impl Evaluator<Ckks> {
    /// Brings a ciphertext of power 1 to the scale of a lower level, for any distance: omits the limbs above `level` +
    /// 1, multiplies the rest by Δ_level·q_{level+1}/Δ and rescales once.
    ///
    /// # Errors
    /// As [`Shape::match_scale`].
    pub fn match_scale(&self, a: &Ciphertext<Ckks>, level: usize) -> Result<Ciphertext<Ckks>, EvalError> {
        a.shape().match_scale(self.params(), level)?;
        self.lower(a, level)
    }
}
