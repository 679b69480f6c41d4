//! Encryption with a secret key on a device with little memory: one limb and half of its table at a time.

use alloc::vec::Vec;

use sotto_ring::{Embedding, LeanTransform, Modulus, SecretRng, Seed, SmallPoly, Wiped};
use sotto_rlwe::{EncodeError, KeyId, LeanInjection, ParameterSpec, SlotValues};
use zeroize::Zeroizing;

use crate::device::DeviceSecret;
use crate::secret::accepted_secret;

/// The reason why a device cannot encrypt.
///
/// ```
/// use sotto_keys::{DeviceSecret, StreamingEncryptor, StreamingError};
/// use sotto_rlwe::{DefaultChain, SchemeId};
///
/// let mut spec = DefaultChain::spec(SchemeId::Bfv, 4096, 65537)?;
/// spec.degree = 3000; // not a power of two
/// let refused = StreamingEncryptor::derive(&DeviceSecret::from_bytes(&[7; 32]), &spec, 1.0);
/// assert_eq!(refused.err(), Some(StreamingError::Specification));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
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

/// A device's secret key for one specification, one byte a coefficient, and encryption with it.
///
/// Its bytes equal those of [`SecretKey::encrypt`](crate::SecretKey::encrypt) with the same randomness.
/// Security and consistency of the specification are not checked here but where its
/// [`Params`](sotto_rlwe::Params) are made. Uses less than 256 KiB of heap at n = 4096.
///
/// ```
/// use sotto_keys::{DeviceSecret, StreamingEncryptor};
/// use sotto_ring::Seed;
/// use sotto_rlwe::{DefaultChain, SchemeId, SlotValues};
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let spec = DefaultChain::spec(SchemeId::Bfv, 4096, 65537)?;
/// let boiler = StreamingEncryptor::derive(&DeviceSecret::generate(&mut rng), &spec, 1.0)?;
/// let (temperatures, seed) = (SlotValues::Integers(&[71, 72, 70]), Seed::random(&mut rng));
/// let mut sent = 0; // residues, one limb at a time
/// boiler.encrypt(temperatures, seed, &mut rng, |_, limb| sent += limb.len())?;
/// assert_eq!(sent, 2 * 4096);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct StreamingEncryptor {
    spec: ParameterSpec,
    id: KeyId,
    secret: Zeroizing<Vec<i8>>,
    largest: f64,
}

impl StreamingEncryptor {
    /// Derives a device's key. `largest` is the declared largest magnitude of CKKS values; BFV and BGV ignore
    /// it.
    ///
    /// # Errors
    /// [`StreamingError::Specification`] if the degree is not a power of two from 4 to 2^17.
    pub fn derive(device: &DeviceSecret, spec: &ParameterSpec, largest: f64) -> Result<Self, StreamingError> {
        let id = spec.id();
        let embedding = Embedding::new(spec.degree).ok_or(StreamingError::Specification)?;
        let secret = accepted_secret(&embedding, &mut device.key_stream(&id));
        // Coefficients are −1, 0 or 1, so the cast is exact.
        let secret = Zeroizing::new(secret.coefficients().iter().map(|c| *c as i8).collect());
        sotto_ring::release();
        Ok(Self { spec: spec.clone(), id: device.key_id(&id), secret, largest })
    }

    /// Returns the key's public name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Returns the specification.
    pub fn spec(&self) -> &ParameterSpec {
        &self.spec
    }

    /// Encrypts at the top level under a fresh seed ([`Seed::random`]; never use a seed twice). Passes the
    /// body to `limb` one limb at a time, from q_0 on, in Eval form.
    ///
    /// # Errors
    /// [`StreamingError`] if the values cannot be encoded (then no limb has been passed) or a prime has no
    /// transform.
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
        // Frees the buffers that encoding used: pooling them would exceed the device's memory.
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
