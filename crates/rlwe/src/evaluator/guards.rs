//! The conditions of operations, checked before anything is computed. A guard returns what the operation needs.

use sotto_ring::{Eval, GaloisMap, Poly};

use super::{Evaluator, Operation};
use crate::automorphism::Automorphism;
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::{EvaluationKeys, KeySwitchKey};
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// The operands of a relinearisation.
pub(super) struct Relinearisation<'o, S: Scheme> {
    /// The shape of the result.
    pub(super) shape: Shape<S>,
    pub(super) key: &'o KeySwitchKey,
    pub(super) components: [&'o Poly<Eval>; 3],
}

/// The operands of a rotation.
pub(super) struct Rotation<'o, S: Scheme> {
    /// The shape of the result.
    pub(super) shape: Shape<S>,
    pub(super) map: &'o GaloisMap,
    pub(super) key: &'o KeySwitchKey,
    pub(super) components: [&'o Poly<Eval>; 2],
}

impl<S: Scheme> Evaluator<S> {
    /// Refuses a ciphertext of other parameters.
    pub(super) fn belongs(&self, a: &Ciphertext<S>) -> Result<(), EvalError> {
        if *a.params() == self.params { Ok(()) } else { Err(EvalError::ParameterMismatch) }
    }

    /// Refuses a plaintext that was encoded or prepared for other parameters.
    pub(super) fn prepared(&self, params: Option<&Params<S>>) -> Result<(), EvalError> {
        if params == Some(&self.params) { Ok(()) } else { Err(EvalError::ParameterMismatch) }
    }

    /// Refuses ciphertexts of other parameters, or under two keys.
    pub(super) fn pair(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<(), EvalError> {
        self.belongs(a)?;
        self.belongs(b)?;
        if a.key() != b.key() {
            return Err(EvalError::KeyMismatch { left: a.key(), right: b.key() });
        }
        Ok(())
    }

    /// Returns the shape of the result by a rule, and counts the operation.
    pub(crate) fn follow(
        &self,
        a: &Ciphertext<S>,
        operation: Operation,
        rule: impl FnOnce(&Shape<S>, &Params<S>) -> Result<Shape<S>, EvalError>,
    ) -> Result<Shape<S>, EvalError> {
        self.belongs(a)?;
        let shape = rule(a.shape(), &self.params)?;
        self.counters.count(operation);
        Ok(shape)
    }

    /// Returns the components of a ciphertext that is decomposed for rotations.
    pub(super) fn decomposable<'o>(&self, a: &'o Ciphertext<S>) -> Result<[&'o Poly<Eval>; 2], EvalError> {
        self.belongs(a)?;
        self.params.require_key_switching(a.level())?;
        components(a)
    }

    /// Returns the operands of a relinearisation whose result has the shape of the rule, and counts it.
    pub(super) fn relinearisation<'o>(
        &self,
        a: &'o Ciphertext<S>,
        keys: &'o EvaluationKeys<S>,
        rule: impl FnOnce(&Shape<S>, &Params<S>) -> Result<Shape<S>, EvalError>,
    ) -> Result<Relinearisation<'o, S>, EvalError> {
        self.belongs(a)?;
        self.keys_fit(a, keys)?;
        let shape = rule(a.shape(), &self.params)?;
        let missing = || EvalError::MissingKey("relinearisation key".into());
        let key = keys.relinearisation.as_ref().ok_or_else(missing)?;
        let components = components(a)?;
        self.counters.count(Operation::Relinearise);
        Ok(Relinearisation { shape, key, components })
    }

    /// Returns the operands of an automorphism, and counts it.
    pub(super) fn rotation<'o>(
        &self,
        a: &'o Ciphertext<S>,
        automorphism: Automorphism,
        keys: &'o EvaluationKeys<S>,
    ) -> Result<Rotation<'o, S>, EvalError> {
        self.belongs(a)?;
        self.keys_fit(a, keys)?;
        let shape = a.shape().rotate(&self.params, automorphism)?;
        let (map, key) = self.galois_key(automorphism, keys)?;
        let components = components(a)?;
        self.counters.count(counted(automorphism));
        Ok(Rotation { shape, map, key, components })
    }

    /// Returns the Galois key of an automorphism.
    pub(super) fn galois_key<'k>(
        &self,
        automorphism: Automorphism,
        keys: &'k EvaluationKeys<S>,
    ) -> Result<&'k (GaloisMap, KeySwitchKey), EvalError> {
        let missing = || EvalError::missing_galois_key(automorphism);
        let element = self.params.galois_element(automorphism).ok_or_else(missing)?;
        keys.galois.key(element).ok_or_else(missing)
    }

    /// Refuses evaluation keys of other parameters, or of another secret key than the ciphertext's.
    fn keys_fit(&self, a: &Ciphertext<S>, keys: &EvaluationKeys<S>) -> Result<(), EvalError> {
        if keys.params != self.params {
            return Err(EvalError::ParameterMismatch);
        }
        if keys.key != a.key() {
            return Err(EvalError::KeyMismatch { left: a.key(), right: keys.key });
        }
        Ok(())
    }
}

/// Returns the components, if there are this many.
pub(super) fn components<S: Scheme, const COUNT: usize>(
    a: &Ciphertext<S>,
) -> Result<[&Poly<Eval>; COUNT], EvalError> {
    match <&[Poly<Eval>; COUNT]>::try_from(a.components()) {
        Ok(components) => Ok(components.each_ref()),
        Err(_) => Err(EvalError::Components { components: a.components().len() }),
    }
}

pub(super) fn counted(automorphism: Automorphism) -> Operation {
    match automorphism {
        Automorphism::Rotation(_) => Operation::Rotate,
        Automorphism::SwapRows => Operation::SwapRows,
    }
}
