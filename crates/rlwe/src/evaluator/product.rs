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
        let mut relinearised = a.clone();
        self.relinearise_assign(&mut relinearised, keys, &mut Scratch::new())?;
        Ok(relinearised)
    }

    /// Back to two components, in place.
    pub fn relinearise_assign(
        &self,
        a: &mut Ciphertext<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        self.belongs(a)?;
        self.keys_fit(a, keys)?;
        let shape = a.shape().relinearise(&self.params)?;
        let missing = || EvalError::MissingKey("relinearisation key".into());
        let key: &KeySwitchKey = keys.relinearisation.as_ref().ok_or_else(missing)?;
        self.counters.count(Operation::Relinearise);
        let last = a.pop_component(shape);
        let addends = Addends::Both([&a.components()[0], &a.components()[1]]);
        let switched = key_switch::switch_onto(&self.params, shape.level, &last, key, &addends, scratch);
        scratch.give(last);
        for (component, k) in a.components_mut().iter_mut().zip(switched) {
            scratch.give(core::mem::replace(component, k));
        }
        Ok(())
    }
}
