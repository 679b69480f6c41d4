//! Public keys and evaluation keys, made from a secret key.

use alloc::vec::Vec;

use sotto_ring::{Eval, GaloisMap, Modulus, Poly, SecretRng, Seed, SmallPoly};
use sotto_rlwe::{Automorphism, EvalError, EvaluationKeys, KeySwitchKey, PublicKey, Scheme, SeededKey};
use zeroize::Zeroizing;

use crate::secret::SecretKey;

impl<S: Scheme> SecretKey<S> {
    /// Makes a public key with a fresh seed and error.
    pub fn public_key(&self, rng: &mut impl SecretRng) -> PublicKey<S> {
        let seed = Seed::random(rng);
        let error = SmallPoly::centred_binomial(self.params().degree(), rng);
        self.public_key_with(seed, &error)
    }

    /// Makes a public key with given randomness, for known answers.
    pub fn public_key_with(&self, seed: Seed, error: &SmallPoly) -> PublicKey<S> {
        let params = self.params();
        PublicKey::from_parts(params, self.id(), self.zero_encryption(seed, 0, error), seed)
    }

    /// Makes evaluation keys: for products if `relinearisation`, and for rotations by each of `steps` (0: the
    /// row swap).
    ///
    /// # Errors
    /// [`EvalError::NoSpecialPrime`] if the parameters cannot switch keys, [`EvalError::Step`] for a
    /// rotation that they do not have.
    pub fn evaluation_keys(
        &self,
        relinearisation: bool,
        steps: &[i32],
        rng: &mut impl SecretRng,
    ) -> Result<EvaluationKeys<S>, EvalError> {
        let mut keys = EvaluationKeys::empty(self.params(), self.id());
        if relinearisation {
            keys.relinearisation = Some(self.relinearisation_key(rng)?);
        }
        for step in steps {
            let (map, key) = self.galois_key(*step, rng)?;
            keys.galois.insert(map, key);
        }
        Ok(keys)
    }

    /// Makes the relinearisation key, which switches from s² to s.
    ///
    /// # Errors
    /// [`EvalError::NoSpecialPrime`] if the parameters cannot switch keys.
    pub fn relinearisation_key(&self, rng: &mut impl SecretRng) -> Result<KeySwitchKey, EvalError> {
        let secret = self.expose_secret_eval();
        self.key_switch_key(&Zeroizing::new(secret.product(secret)), rng)
    }

    /// Makes the key of an automorphism, and returns it with the permutation.
    ///
    /// # Errors
    /// [`EvalError::Step`] if the parameters have no such rotation, [`EvalError::NoSpecialPrime`] if
    /// they cannot switch keys.
    pub fn galois_key(
        &self,
        automorphism: impl Into<Automorphism>,
        rng: &mut impl SecretRng,
    ) -> Result<(GaloisMap, KeySwitchKey), EvalError> {
        let map = self.galois_map(automorphism.into())?;
        let target = Zeroizing::new(map.apply(self.expose_secret_eval()));
        let key = self.key_switch_key(&target, rng)?;
        Ok((map, key))
    }

    /// Makes the transfer key, which switches ciphertexts from the key `from` to this key.
    ///
    /// Its holder can switch every ciphertext under `from`; a holder of this secret key too can compute the
    /// secret of `from`.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`] if the keys' parameters differ, [`EvalError::NoSpecialPrime`] if they
    /// cannot switch keys.
    pub fn transfer_key(&self, from: &Self, rng: &mut impl SecretRng) -> Result<KeySwitchKey, EvalError> {
        if from.params() != self.params() {
            return Err(EvalError::ParameterMismatch);
        }
        self.key_switch_key(from.expose_secret_eval(), rng)
    }

    fn galois_map(&self, automorphism: Automorphism) -> Result<GaloisMap, EvalError> {
        let degree = self.params().degree();
        let none = EvalError::Step { step: automorphism.step(), row: degree / 2 };
        automorphism.element(degree).and_then(|g| GaloisMap::new(degree, g)).ok_or(none)
    }

    /// Makes a key that switches from the secret `target` (s') to s.
    ///
    /// # Errors
    /// [`EvalError::NoSpecialPrime`] if the parameters cannot switch keys.
    pub fn key_switch_key(
        &self,
        target: &Poly<Eval>,
        rng: &mut impl SecretRng,
    ) -> Result<KeySwitchKey, EvalError> {
        let seed = Seed::random(rng);
        let degree = self.params().degree();
        let errors: Vec<SmallPoly> =
            (0..self.params().digit_count()).map(|_| SmallPoly::centred_binomial(degree, rng)).collect();
        self.key_switch_key_with(target, seed, &errors)
    }

    /// Makes a key that switches from `target` (s') to s with given randomness, one error a digit, for known
    /// answers.
    ///
    /// # Errors
    /// [`EvalError::NoSpecialPrime`] if the parameters cannot switch keys.
    pub fn key_switch_key_with(
        &self,
        target: &Poly<Eval>,
        seed: Seed,
        errors: &[SmallPoly],
    ) -> Result<KeySwitchKey, EvalError> {
        let params = self.params();
        if !params.can_switch_keys() {
            return Err(EvalError::NoSpecialPrime);
        }
        let special = params.spec().special.len();
        let gadget = |q: &Modulus| params.ring().product_modulo(0..special, q);
        let kernels = params.ring().kernels();
        let mut message = Zeroizing::new(vec![0; params.degree()]);
        let mut bodies = Vec::with_capacity(params.digit_count());
        for ((digit, limbs), error) in params.digits(params.top_level()).enumerate().zip(errors) {
            let mut body = self.zero_encryption(seed, digit as u8, error);
            for i in limbs {
                let q = params.modulus(i);
                message.copy_from_slice(target.limb(i));
                (kernels.scale)(q, &mut message, q.factor(gadget(q)));
                (kernels.add)(q, body.limb_mut(i), &message);
            }
            bodies.push(body);
        }
        Ok(KeySwitchKey::travelling(params, SeededKey { bodies, seed }))
    }
}
