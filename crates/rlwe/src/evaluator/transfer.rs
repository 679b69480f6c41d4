//! Key switching from one secret key to another.

use sotto_ring::Scratch;

use super::guards::components;
use super::{Evaluator, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::key_switch::{self, Addends};
use crate::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// Returns the same message under the secret key of `keys`, which must hold a switching key from the ciphertext's
    /// key. A ciphertext that is already under that key is copied.
    ///
    /// # Errors
    /// [`EvalError::MissingKey`] without that switching key; [`EvalError::ParameterMismatch`],
    /// [`EvalError::NoSpecialPrime`], [`EvalError::Components`] unless there are two; [`EvalError::Noise`] if the noise
    /// bound passes the decryption limit.
    pub fn switch_key(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.switch_key_with(a, keys, &mut Scratch::new())
    }

    /// Like [`Evaluator::switch_key`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::switch_key`].
    pub fn switch_key_with(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        if keys.params != self.params {
            return Err(EvalError::ParameterMismatch);
        }
        if a.key() == keys.key {
            return Ok(self.copy_with(a, scratch));
        }
        let shape = a.shape().switch_key(&self.params)?;
        let missing = || EvalError::missing_transfer_key(a.key(), keys.key);
        let key = keys.transfers.get(&a.key()).ok_or_else(missing)?;
        let [c0, c1] = components(a)?;
        self.counters.count(Operation::SwitchKey);
        let addend = Addends::First(c0);
        let switched = key_switch::switch_onto(&self.params, shape.level, c1, key, &addend, scratch);
        Ok(Ciphertext::from_parts(&self.params, keys.key, shape, switched))
    }
}
