//! The secret key of one scheme and parameter set.

use sotto_ring::{Embedding, Eval, Poly, SecretRng, Seed, SmallPoly, Wiped};
use sotto_rlwe::{EvalError, Injection, KeyId, Norms, Origin, Params, Plaintext, Scheme, Seeded, Shape};
use zeroize::Zeroizing;

use crate::device::DeviceSecret;

/// A uniform ternary secret s whose canonical norm is within the published limit ([`Norms::secret_limit`]).
///
/// ```
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Ckks, Params, Scheme};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
/// let load = Ckks::encode_slots(&params, &[0.25, 0.5], params.top_level())?;
/// let ciphertext = secret.encrypt(&load, &mut rng)?.expand();
/// let public = secret.public_key(&mut rng);
/// assert_eq!([ciphertext.key(), public.key()], [secret.id(); 2]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct SecretKey<S: Scheme> {
    params: Params<S>,
    id: KeyId,
    /// s over special and data primes.
    eval: Zeroizing<Poly<Eval>>,
}

impl<S: Scheme> SecretKey<S> {
    /// Derives a device's key for these parameters; the result is always the same. Draws again while the norm
    /// exceeds the limit, about once in a hundred keys.
    pub fn derive(device: &DeviceSecret, params: &Params<S>) -> Self {
        let secret = accepted_secret(params.embedding(), &mut device.key_stream(&params.id()));
        Self::from_secret(params, device.key_id(&params.id()), &secret)
    }

    /// Makes a key of given ternary coefficients, for known answers. The noise bounds hold only if its
    /// canonical norm is at most [`Norms::secret_limit`], which is not checked here.
    pub fn from_secret(params: &Params<S>, id: KeyId, secret: &SmallPoly) -> Self {
        let eval = Zeroizing::new(secret.to_eval(params.ring(), params.key_limbs()));
        Self { params: params.clone(), id, eval }
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the key's public name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Returns s in Eval form over special and data primes. Secret.
    pub fn expose_secret_eval(&self) -> &Poly<Eval> {
        &self.eval
    }

    /// Encrypts at the top level. The ciphertext carries a seed in place of its mask.
    ///
    /// # Errors
    /// [`EvalError`] if the plaintext's values exceed its declared magnitude.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext<S>,
        rng: &mut impl SecretRng,
    ) -> Result<Seeded<S>, EvalError> {
        self.encrypt_under(plaintext, Seed::random(rng), rng)
    }

    /// Encrypts at the top level under the mask of `seed`, which both sides know. Never use a seed twice
    /// under one key: two ciphertexts under one mask reveal the difference of their messages.
    ///
    /// # Errors
    /// [`EvalError`] if the plaintext's values exceed its declared magnitude.
    pub fn encrypt_under(
        &self,
        plaintext: &Plaintext<S>,
        seed: Seed,
        rng: &mut impl SecretRng,
    ) -> Result<Seeded<S>, EvalError> {
        let error = SmallPoly::centred_binomial(self.params.degree(), rng);
        self.encrypt_with(plaintext, seed, &error)
    }

    /// Encrypts with given randomness, for known answers. Never use a seed twice.
    ///
    /// # Errors
    /// [`EvalError`] if the plaintext's values exceed its declared magnitude.
    pub fn encrypt_with(
        &self,
        plaintext: &Plaintext<S>,
        seed: Seed,
        error: &SmallPoly,
    ) -> Result<Seeded<S>, EvalError> {
        let params = &self.params;
        let level = params.top_level();
        let shape = Shape::of_encryption(params, Origin::SecretKey, plaintext)?;
        let injection = Injection::of_encryption(params, plaintext, level, shape.scaling, error);
        let mut body = Poly::unfilled(params.ring(), params.limbs(level));
        for i in params.limbs(level) {
            self.encrypt_limb(&injection, &seed, 0, i, body.limb_mut(i));
        }
        Ok(Seeded { params: params.clone(), key: self.id, shape, body, seed })
    }

    /// Computes −a·s + f·e over all key limbs.
    pub(crate) fn zero_encryption(&self, seed: Seed, domain: u8, error: &SmallPoly) -> Poly<Eval> {
        let ring = self.params.ring();
        let injection = Injection::of_error(&self.params, error);
        let mut body = Poly::unfilled(ring, self.params.key_limbs());
        for i in self.params.key_limbs() {
            self.encrypt_limb(&injection, &seed, domain, i, body.limb_mut(i));
        }
        body
    }

    /// Writes the injected polynomial less a·s, modulo one prime.
    fn encrypt_limb(&self, injection: &Injection, seed: &Seed, domain: u8, limb: usize, out: &mut [u64]) {
        let ring = self.params.ring();
        injection.write_limb(&self.params, limb, out);
        (ring.kernels().ntt_forward)(ring.table(limb), out);
        seed.limb(domain, limb, ring.modulus(limb)).subtract_product(out, self.eval.limb(limb));
    }
}

/// Draws secrets from a stream and returns the first whose norm is within the limit.
pub(crate) fn accepted_secret(embedding: &Embedding, stream: &mut impl SecretRng) -> SmallPoly {
    let degree = embedding.degree();
    loop {
        let secret = SmallPoly::ternary(degree, stream);
        if canonical_norm(embedding, secret.coefficients()) <= Norms::secret_limit(degree) {
            return secret;
        }
    }
}

/// Returns the largest |s(ζ)| over the roots ζ of X^n + 1.
pub(crate) fn canonical_norm(embedding: &Embedding, coefficients: &[i64]) -> f64 {
    let mut values = Wiped::zeros(coefficients.len());
    values.iter_mut().zip(coefficients).for_each(|(x, c)| *x = *c as f64);
    embedding.largest_slot_of(&mut values)
}
