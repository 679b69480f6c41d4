//! Public keys and encryption with them.

use sotto_ring::{Coeff, Eval, Poly, SecretRng, Seed, SmallPoly};

use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::noise::Origin;
use crate::parameters::{KeyId, Params};
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// A public key (−a·s + f·e, a) over special and data primes; the mask of a key of ours is a seed.
#[derive(Clone, Debug)]
pub struct PublicKey<S: Scheme> {
    params: Params<S>,
    key: KeyId,
    body: Poly<Eval>,
    /// None in a key that another library made.
    seed: Option<Seed>,
    mask: Poly<Eval>,
}

impl<S: Scheme> PublicKey<S> {
    /// From its parts; the body holds the key limbs.
    pub fn from_parts(params: &Params<S>, key: KeyId, body: Poly<Eval>, seed: Seed) -> Self {
        let mask = seed.expand(0, params.ring(), params.key_limbs());
        Self { seed: Some(seed), ..Self::from_pair(params, key, body, mask) }
    }

    /// A key whose mask no seed of ours gives; body and mask hold the key limbs.
    pub fn from_pair(params: &Params<S>, key: KeyId, body: Poly<Eval>, mask: Poly<Eval>) -> Self {
        let whole = |p: &Poly<Eval>| p.limbs() == params.key_limbs();
        assert!(whole(&body) && whole(&mask), "a public key holds every key limb");
        Self { params: params.clone(), key, body, seed: None, mask }
    }

    /// The parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// The key that decrypts.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The body.
    pub fn body(&self) -> &Poly<Eval> {
        &self.body
    }

    /// The mask.
    pub fn mask(&self) -> &Poly<Eval> {
        &self.mask
    }

    /// The seed of the mask, if it has one.
    pub fn seed(&self) -> Option<&Seed> {
        self.seed.as_ref()
    }

    /// Encrypts at the top level: (b·u + f·e0 + message, a·u + f·e1).
    pub fn encrypt(
        &self,
        plaintext: &Plaintext<S>,
        rng: &mut impl SecretRng,
    ) -> Result<Ciphertext<S>, EvalError> {
        let degree = self.params.degree();
        let u = SmallPoly::ternary(degree, rng);
        let e0 = SmallPoly::centred_binomial(degree, rng);
        let e1 = SmallPoly::centred_binomial(degree, rng);
        self.encrypt_with(plaintext, &u, &e0, &e1)
    }

    /// Encryption with given randomness, for known answers. Never use a randomness twice.
    pub fn encrypt_with(
        &self,
        plaintext: &Plaintext<S>,
        u: &SmallPoly,
        e0: &SmallPoly,
        e1: &SmallPoly,
    ) -> Result<Ciphertext<S>, EvalError> {
        let params = &self.params;
        let level = params.top_level();
        let shape = Shape::of_encryption(params, Origin::PublicKey, plaintext)?;
        let (ring, limbs) = (params.ring(), params.limbs(level));
        let u = zeroize::Zeroizing::new(u.to_eval(ring, limbs.clone()));
        let factor = S::error_factor(params) as i64;
        let component = |key: &Poly<Eval>, error: &SmallPoly, message: Option<Poly<Coeff>>| {
            let mut c = error.to_coeff(ring, limbs.clone());
            if factor != 1 {
                c.scale_signed(factor);
            }
            // Error and message go through one transform.
            if let Some(message) = message {
                c.add_assign(&zeroize::Zeroizing::new(message));
            }
            let mut c = c.into_eval();
            c.add_product(&u, key);
            c
        };
        let message = S::inject(params, plaintext, level, shape.scaling);
        let c0 = component(&self.body, e0, Some(message));
        let c1 = component(&self.mask, e1, None);
        Ok(Ciphertext::from_parts(params, self.key, shape, [c0, c1]))
    }
}
