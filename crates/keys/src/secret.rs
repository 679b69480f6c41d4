//! The secret key of one scheme and parameter set.

use sotto_ring::{Coeff, Eval, Poly, SecretRng, Seed, SmallPoly};
use sotto_rlwe::{EvalError, KeyId, Norms, Origin, Params, Plaintext, Scheme, Seeded, Shape};
use zeroize::Zeroizing;

use crate::device::DeviceSecret;

/// A uniform ternary secret s whose canonical norm is within the published limit ([`Norms::secret_limit`]).
pub struct SecretKey<S: Scheme> {
    params: Params<S>,
    id: KeyId,
    /// s over special and data primes.
    eval: Zeroizing<Poly<Eval>>,
}

impl<S: Scheme> SecretKey<S> {
    /// The key of a device for these parameters; always the same one. Draws again, about once in a hundred keys, while the
    /// norm passes the limit.
    pub fn derive(device: &DeviceSecret, params: &Params<S>) -> Self {
        let mut stream = device.key_stream(&params.id());
        loop {
            let secret = SmallPoly::ternary(params.degree(), &mut stream);
            if canonical_norm(params, &secret) <= Norms::secret_limit(params.degree()) {
                return Self::from_secret(params, device.key_id(&params.id()), &secret);
            }
        }
    }

    /// A key with given ternary coefficients, for known answers. The noise bounds hold only if its canonical norm is within
    /// [`Norms::secret_limit`], which is not checked here.
    pub fn from_secret(params: &Params<S>, id: KeyId, secret: &SmallPoly) -> Self {
        let eval = Zeroizing::new(secret.to_eval(params.ring(), params.key_limbs()));
        Self { params: params.clone(), id, eval }
    }

    /// The parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// The key's public name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// s in Eval form over special and data primes. Secret.
    pub fn expose_secret_eval(&self) -> &Poly<Eval> {
        &self.eval
    }

    /// Encrypts at the top level; the mask stays a seed.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext<S>,
        rng: &mut impl SecretRng,
    ) -> Result<Seeded<S>, EvalError> {
        let seed = Seed::random(rng);
        let error = SmallPoly::centred_binomial(self.params.degree(), rng);
        self.encrypt_with(plaintext, seed, &error)
    }

    /// Encryption with given randomness, for known answers. Never use a seed twice.
    pub fn encrypt_with(
        &self,
        plaintext: &Plaintext<S>,
        seed: Seed,
        error: &SmallPoly,
    ) -> Result<Seeded<S>, EvalError> {
        let params = &self.params;
        let level = params.top_level();
        let shape = Shape::of_encryption(params, Origin::SecretKey, plaintext)?;
        let message = Zeroizing::new(S::inject(params, plaintext, level, shape.scaling));
        let body = self.encryption(seed, 0, params.limbs(level), error, Some(&message));
        Ok(Seeded { params: params.clone(), key: self.id, shape, body, seed })
    }

    /// −a·s + f·e + message over a range of limbs.
    pub(crate) fn encryption(
        &self,
        seed: Seed,
        domain: u8,
        limbs: core::ops::Range<usize>,
        error: &SmallPoly,
        message: Option<&Poly<Coeff>>,
    ) -> Poly<Eval> {
        let ring = self.params.ring();
        // Mask and product together give the secret away: the product is wiped.
        let mut masked = Zeroizing::new(seed.expand(domain, ring, limbs.clone()));
        masked.multiply_assign(&self.eval);
        let mut body = error.to_coeff(ring, limbs);
        let factor = S::error_factor(&self.params);
        if factor != 1 {
            body.scale_signed(factor as i64);
        }
        // Error and message go through one transform.
        if let Some(message) = message {
            body.add_assign(message);
        }
        let mut body = body.into_eval();
        body.subtract_assign(&masked);
        body
    }
}

fn canonical_norm<S: Scheme>(params: &Params<S>, secret: &SmallPoly) -> f64 {
    let coefficients: Zeroizing<Vec<f64>> =
        Zeroizing::new(secret.coefficients().iter().map(|c| *c as f64).collect());
    params.embedding().largest_slot(&coefficients)
}
