//! Plaintext factors that match: products with integers that do not change the decoded message.

use super::Bgv;
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluator::{Evaluator, Operation};
use crate::parameters::Params;
use crate::shape::Shape;

impl Shape<Bgv> {
    /// Returns the shape after multiplying message and plaintext factor by an integer, which does not change the
    /// decoded message.
    ///
    /// # Errors
    /// [`EvalError::Factor`] if the integer is not invertible modulo t; [`EvalError::Noise`] if the noise bound passes
    /// the decryption limit.
    pub fn match_factor(&self, params: &Params<Bgv>, scalar: i64) -> Result<Self, EvalError> {
        let scaling =
            Bgv::multiply_factor(params, self.scaling, scalar).ok_or(EvalError::Factor { scalar })?;
        Ok(Self { scaling, ..self.multiply_scalar(params, scalar)? })
    }
}

impl Evaluator<Bgv> {
    /// Multiplies by an integer and includes it in the plaintext factor, so that the decoded message does not change.
    /// Use it to bring two ciphertexts of different factors to one. The integer must be invertible modulo t.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], and as [`Shape::match_factor`].
    pub fn match_factor(&self, a: &Ciphertext<Bgv>, scalar: i64) -> Result<Ciphertext<Bgv>, EvalError> {
        let mut matched = a.clone();
        self.match_factor_assign(&mut matched, scalar)?;
        Ok(matched)
    }

    /// Like [`Evaluator::match_factor`], in place.
    ///
    /// # Errors
    /// As [`Evaluator::match_factor`].
    pub fn match_factor_assign(&self, a: &mut Ciphertext<Bgv>, scalar: i64) -> Result<(), EvalError> {
        let rule = |shape: &Shape<Bgv>, params: &_| shape.match_factor(params, scalar);
        let shape = self.follow(a, Operation::MatchFactor, rule)?;
        a.components_mut().iter_mut().for_each(|c| c.scale_signed(scalar));
        a.set_shape(shape);
        Ok(())
    }
}
