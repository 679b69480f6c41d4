//! Encryption with a secret key on a device of little memory: one limb and half of its table at a time.

use sotto_ring::{Embedding, LeanTransform, Modulus, SecretRng, Seed, SmallPoly, Wiped};
use sotto_rlwe::{EncodeError, KeyId, LeanInjection, ParameterSpec, SlotValues};
use zeroize::Zeroizing;

use crate::device::DeviceSecret;
use crate::secret::accepted_secret;

/// Why nothing is encrypted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StreamingError {
    /// The specification's degree or one of its primes has no transform.
    #[error(
        "the specification has a prime or a degree without a transform: check it where parameters are made"
    )]
    Specification,
    /// The values cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// The secret key of a device for one specification, one byte a coefficient, and encryption with it.
///
/// The bytes are those of [`SecretKey::encrypt`](crate::SecretKey::encrypt) with the same randomness. The specification is taken
/// as it is: whether it is secure and makes sense is found out where its [`Params`](sotto_rlwe::Params) were made. At n = 4096
/// everything together stays below 256 KiB of heap.
pub struct StreamingEncryptor {
    spec: ParameterSpec,
    id: KeyId,
    secret: Zeroizing<Vec<i8>>,
    largest: f64,
}

impl StreamingEncryptor {
    /// The key of a device. `largest` is the magnitude that is declared of CKKS values; the others ignore it.
    ///
    /// # Errors
    /// [`StreamingError::Specification`] where the degree is not a power of two from 4 to 2^17.
    pub fn derive(device: &DeviceSecret, spec: &ParameterSpec, largest: f64) -> Result<Self, StreamingError> {
        let id = spec.id();
        let embedding = Embedding::new(spec.degree).ok_or(StreamingError::Specification)?;
        let secret = accepted_secret(&embedding, &mut device.key_stream(&id));
        // −1, 0 or 1.
        let secret = Zeroizing::new(secret.coefficients().iter().map(|c| *c as i8).collect());
        sotto_ring::release();
        Ok(Self { spec: spec.clone(), id: device.key_id(&id), secret, largest })
    }

    /// The key's public name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The specification.
    pub fn spec(&self) -> &ParameterSpec {
        &self.spec
    }

    /// Encrypts at the top level under a fresh seed ([`Seed::random`]; never use one twice), and hands over the body limb after
    /// limb, from q_0 on, in Eval form.
    ///
    /// # Errors
    /// [`StreamingError`] where the values cannot be encoded, before any limb is handed over, or a prime has no transform.
    pub fn encrypt(
        &self,
        values: SlotValues<'_>,
        seed: Seed,
        rng: &mut impl SecretRng,
        mut limb: impl FnMut(&Modulus, &[u64]),
    ) -> Result<(), StreamingError> {
        let degree = self.spec.degree;
        let mut injection = LeanInjection::new(&self.spec, values, self.largest)?;
        injection.add_error(&SmallPoly::centred_binomial(degree, rng));
        // What encoding took is not kept for another time, as it is elsewhere.
        sotto_ring::release();
        let special = self.spec.special.len();
        let (mut body, mut secret) = (Wiped::zeros(degree), Wiped::zeros(degree));
        for (i, prime) in self.spec.data.iter().enumerate() {
            let q = Modulus::new(*prime).map_err(|_| StreamingError::Specification)?;
            let transform = LeanTransform::forward(q, degree).ok_or(StreamingError::Specification)?;
            for (x, s) in secret.iter_mut().zip(self.secret.iter()) {
                *x = q.from_signed(i64::from(*s));
            }
            transform.run(&mut secret);
            injection.write_limb(&q, &mut body).ok_or(StreamingError::Specification)?;
            transform.run(&mut body);
            drop(transform);
            seed.limb(0, special + i, &q).subtract_product(&mut body, &secret);
            limb(&q, &body);
        }
        drop((body, secret, injection));
        sotto_ring::release();
        Ok(())
    }
}
