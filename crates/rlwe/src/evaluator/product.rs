//! Products of ciphertexts.

use sotto_ring::Scratch;

use super::{Evaluator, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::{EvaluationKeys, KeySwitchKey};
use crate::key_switch::{self, Addends};
use crate::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// a · b, three components.
    pub fn multiply(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.multiply_with(a, b, &mut Scratch::new())
    }

    /// a · b, three components, in buffers of the caller's.
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

    /// a², three components; cheaper than a product of two.
    pub fn square(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.multiply(a, a)
    }

    /// Back to two components.
    pub fn relinearise(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.relinearise_with(a, keys, &mut Scratch::new())
    }

    /// Back to two components, in buffers of the caller's.
    pub fn relinearise_with(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        self.keys_fit(a, keys)?;
        let shape = a.shape().relinearise(&self.params)?;
        let missing = || EvalError::MissingKey("relinearisation key".into());
        let key: &KeySwitchKey = keys.relinearisation.as_ref().ok_or_else(missing)?;
        let [c0, c1, c2] = a.components() else {
            return Err(EvalError::Components { components: a.components().len() });
        };
        self.counters.count(Operation::Relinearise);
        let addends = Addends::Both([c0, c1]);
        let switched = key_switch::switch_onto(&self.params, shape.level, c2, key, &addends, scratch);
        Ok(self.result(a, shape, switched))
    }

    /// Back to two components, in place.
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
