//! Products of ciphertexts.

use sotto_ring::Scratch;

use super::guards::Relinearisation;
use super::{Evaluator, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::key_switch::{self, Addends};
use crate::scheme::Scheme;
use crate::shape::Shape;

impl<S: Scheme> Evaluator<S> {
    /// Returns a·b with three components.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], [`EvalError::KeyMismatch`], [`EvalError::LevelMismatch`] and
    /// [`EvalError::ScalingMismatch`] if the operands differ; [`EvalError::Components`] unless both have two;
    /// [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn multiply(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.multiply_with(a, b, &mut Scratch::new())
    }

    /// Like [`Evaluator::multiply`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::multiply`].
    pub fn multiply_with(
        &self,
        a: &Ciphertext<S>,
        b: &Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.pair(a, b)?;
        let shape = if core::ptr::eq(a, b) {
            a.shape().square(&self.params)?
        } else {
            a.shape().multiply(&self.params, b.shape())?
        };
        self.counters.count(Operation::Multiply);
        let components = S::tensor(&self.params, shape.level, a.components(), b.components(), scratch);
        Ok(self.result(a, shape, components))
    }

    /// Returns a² with three components; cheaper than a product of two.
    ///
    /// # Errors
    /// As [`Evaluator::multiply`].
    pub fn square(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.multiply(a, a)
    }

    /// Relinearises from three components to two.
    ///
    /// # Errors
    /// [`EvalError::Components`] unless there are three; [`EvalError::MissingKey`] without the relinearisation key;
    /// [`EvalError::NoSpecialPrime`], [`EvalError::ParameterMismatch`], [`EvalError::KeyMismatch`];
    /// [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn relinearise(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.relinearise_with(a, keys, &mut Scratch::new())
    }

    /// Like [`Evaluator::relinearise`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::relinearise`].
    pub fn relinearise_with(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let operands = self.relinearisation(a, keys, Shape::relinearise)?;
        let Relinearisation { shape, key, components: [c0, c1, c2] } = operands;
        let addends = Addends::Both([c0, c1]);
        let switched = key_switch::switch_onto(&self.params, shape.level, c2, key, &addends, scratch);
        Ok(self.result(a, shape, switched))
    }

    /// Relinearises and drops the last prime by one division: fewer transforms than [`Evaluator::relinearise`] and
    /// [`Evaluator::drop_modulus`], the same message, other residues and no more noise.
    ///
    /// # Errors
    /// As [`Evaluator::relinearise`] and [`Evaluator::drop_modulus`].
    pub fn relinearise_and_drop_with(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let operands = self.relinearisation(a, keys, Shape::relinearise_and_drop)?;
        let Relinearisation { shape, key, components: [c0, c1, c2] } = operands;
        self.counters.count(Operation::DropModulus);
        let switched = key_switch::switch_and_drop(&self.params, a.level(), c2, key, [c0, c1], scratch);
        Ok(self.result(a, shape, switched))
    }

    /// Like [`Evaluator::relinearise`], in place.
    ///
    /// # Errors
    /// As [`Evaluator::relinearise`].
    pub fn relinearise_assign(
        &self,
        a: &mut Ciphertext<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        let relinearised = self.relinearise_with(a, keys, scratch)?;
        self.recycle(core::mem::replace(a, relinearised), scratch);
        Ok(())
    }
}
