//! Rotations, the row swap, and the conjugation.

use alloc::vec::Vec;

use sotto_ring::{Eval, Poly, Scratch};

use super::Evaluator;
use super::guards::Rotation;
use crate::automorphism::Automorphism;
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::key_switch::{self, Addends};
use crate::scheme::Scheme;

/// A ciphertext whose mask is decomposed once, for many rotations (Halevi and Shoup, ePrint 2018/244, section 5).
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::{Scratch, secure_rng};
/// # use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// # let plaintext = Bfv::encode_slots(&params, &[215, 198, 187], params.top_level())?;
/// # let readings = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// # let keys = owner.evaluation_keys(&[1, 2]);
/// let (evaluator, mut scratch) = (Evaluator::new(&params), Scratch::new());
/// // One decomposition serves both rotations.
/// let hoisted = evaluator.hoist(&readings, &mut scratch)?;
/// let one = evaluator.rotate_hoisted(&hoisted, 1, &keys, &mut scratch)?;
/// let two = evaluator.rotate_hoisted(&hoisted, 2, &keys, &mut scratch)?;
/// hoisted.recycle(&mut scratch);
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&one))?[0], 198);
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&two))?[0], 187);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Hoisted<'a, S: Scheme> {
    ciphertext: &'a Ciphertext<S>,
    digits: Vec<Poly<Eval>>,
}

impl<S: Scheme> core::fmt::Debug for Hoisted<'_, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Hoisted").field("ciphertext", self.ciphertext).finish_non_exhaustive()
    }
}

impl<S: Scheme> Hoisted<'_, S> {
    /// Returns its buffers to the pool.
    pub fn recycle(self, scratch: &mut Scratch) {
        self.digits.into_iter().for_each(|digit| scratch.give(digit));
    }
}

impl<S: Scheme> Evaluator<S> {
    /// Rotates each row left by `step` (right if negative).
    ///
    /// # Errors
    /// [`EvalError::Step`] if no such rotation exists; [`EvalError::MissingKey`] without its Galois key;
    /// [`EvalError::NoSpecialPrime`], [`EvalError::Components`], [`EvalError::ParameterMismatch`],
    /// [`EvalError::KeyMismatch`] and [`EvalError::Noise`] if ciphertext and keys do not allow it.
    pub fn rotate(
        &self,
        a: &Ciphertext<S>,
        step: i32,
        keys: &EvaluationKeys<S>,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.rotate_with(a, step, keys, &mut Scratch::new())
    }

    /// Like [`Evaluator::rotate`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn rotate_with(
        &self,
        a: &Ciphertext<S>,
        step: i32,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.automorphism(a, Automorphism::Rotation(step), keys, scratch)
    }

    /// Swaps the two rows (BFV, BGV); conjugates (CKKS).
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn swap_rows(&self, a: &Ciphertext<S>, keys: &EvaluationKeys<S>) -> Result<Ciphertext<S>, EvalError> {
        self.swap_rows_with(a, keys, &mut Scratch::new())
    }

    /// Like [`Evaluator::swap_rows`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn swap_rows_with(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.automorphism(a, Automorphism::SwapRows, keys, scratch)
    }

    /// Decomposes a ciphertext of two components for rotations. A rotation of the result has the same values as
    /// [`Evaluator::rotate`] within the same bound, but not always the same bits, as the rounding comes before the
    /// automorphism.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], [`EvalError::NoSpecialPrime`] and [`EvalError::Components`].
    pub fn hoist<'a>(
        &self,
        a: &'a Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<Hoisted<'a, S>, EvalError> {
        let [_, mask] = self.decomposable(a)?;
        let digits = key_switch::decompose(&self.params, a.level(), mask, scratch);
        Ok(Hoisted { ciphertext: a, digits })
    }

    /// Applies an automorphism to a decomposed ciphertext.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn rotate_hoisted(
        &self,
        a: &Hoisted<'_, S>,
        automorphism: impl Into<Automorphism>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let Rotation { shape, map, key, components: [c0, _] } =
            self.rotation(a.ciphertext, automorphism.into(), keys)?;
        let map = map.map();
        let switched =
            key_switch::switch_hoisted(&self.params, shape.level, &a.digits, map, key, c0, scratch);
        Ok(self.result(a.ciphertext, shape, switched))
    }

    fn automorphism(
        &self,
        a: &Ciphertext<S>,
        automorphism: Automorphism,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let Rotation { shape, map, key, components: [c0, c1] } = self.rotation(a, automorphism, keys)?;
        let mut moved = scratch.poly(self.params.ring(), self.params.limbs(shape.level));
        map.apply_into(c1, &mut moved);
        let addends = Addends::Moved(c0, map.map());
        let switched = key_switch::switch_onto(&self.params, shape.level, &moved, key, &addends, scratch);
        scratch.give(moved);
        Ok(self.result(a, shape, switched))
    }
}
