//! Paillier's secret key: the primes p and q.

use crypto_bigint::{BoxedUint, ConcatenatingMul, Gcd, Resize};
use crypto_primes::{Flavor, is_prime};
use sotto_kernels::Target;
use sotto_partial::PartialError;
use sotto_partial::paillier::{PublicKey, Randomness, security_bits};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use super::primes::{Primes, draw, half_length, subgroup};
use crate::device::DeviceSecret;

/// The kind of masks that a new key uses.
///
/// Example: [`SecretKey`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Masking {
    /// Masks with exponents of |n|/2 bits ([`Randomness::HalfLength`]).
    #[default]
    HalfLength,
    /// Masks with exponents of 448 or 512 bits, in a subgroup whose order has that many bits
    /// ([`Randomness::Subgroup`]).
    Subgroup,
    /// Masks with exponents as long as n ([`Randomness::Textbook`]).
    Textbook,
}

/// The factors of n = p·q. No Debug, Clone or PartialEq; wiped on drop.
///
/// ```
/// use sotto_keys::partial::paillier::{Masking, SecretKey};
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let secret = SecretKey::generate(2048, Masking::HalfLength, &mut rng)?;
/// let public = secret.public_key()?;
/// let temperature = public.encrypt(&public.signed(-7), &mut rng)?;
/// assert_eq!(public.write(&temperature).len(), 512);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct SecretKey {
    p: Zeroizing<BoxedUint>,
    q: Zeroizing<BoxedUint>,
    /// The public modulus.
    n: BoxedUint,
    randomness: Randomness,
}

impl SecretKey {
    /// Generates a key of 2048, 3072 or 4096 bits.
    ///
    /// # Errors
    /// [`PartialError::KeyLength`] for another length, [`PartialError::Subgroup`] for subgroup masks at 4096 bits.
    pub fn generate(bits: u32, masking: Masking, rng: &mut impl SecretRng) -> Result<Self, PartialError> {
        security_bits(bits).ok_or(PartialError::KeyLength { bits })?;
        Self::insecure_generate(bits, masking, rng)
    }

    /// Derives the key of a device; the result is always the same: the first primes and the first h that its
    /// stream gives.
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate).
    pub fn derive(device: &DeviceSecret, bits: u32, masking: Masking) -> Result<Self, PartialError> {
        let name = match masking {
            Masking::HalfLength => "half-length",
            Masking::Subgroup => "subgroup",
            Masking::Textbook => "textbook",
        };
        Self::generate(bits, masking, &mut device.partial_key_stream("paillier", bits, name))
    }

    /// Generates a key of at least 256 bits, a multiple of 128: for tests.
    ///
    /// # Errors
    /// [`PartialError::KeyLength`] for another length, [`PartialError::Subgroup`] for one without subgroup
    /// masks.
    pub fn insecure_generate(
        bits: u32,
        masking: Masking,
        rng: &mut impl SecretRng,
    ) -> Result<Self, PartialError> {
        if bits < 256 || !bits.is_multiple_of(128) {
            return Err(PartialError::KeyLength { bits });
        }
        let Primes { p, q, order } = match masking {
            Masking::Subgroup => subgroup(bits, rng)?,
            Masking::HalfLength | Masking::Textbook => half_length(bits, rng),
        };
        let n = p.concatenating_mul(&*q);
        let randomness = match masking {
            Masking::Textbook => Randomness::Textbook,
            Masking::HalfLength => Randomness::HalfLength { h: minus_power(&n, &BoxedUint::from(2u8), rng)? },
            Masking::Subgroup => {
                let twice = Zeroizing::new(order.concatenating_add(&*order));
                Randomness::Subgroup { h: minus_power(&n, &twice, rng)? }
            }
        };
        Ok(Self { p, q, n, randomness })
    }

    /// Makes a key of foreign primes, each half as long as n: a long n with one short factor would be weak.
    /// Its public key uses textbook masks.
    ///
    /// # Errors
    /// [`PartialError::KeyLength`] for an n that is not offered, [`PartialError::Primes`] for primes of other
    /// lengths, [`PartialError::Modulus`] if they are not two distinct primes that fit the scheme.
    pub fn from_primes(p: BoxedUint, q: BoxedUint) -> Result<Self, PartialError> {
        let (p, q) = (Zeroizing::new(p), Zeroizing::new(q));
        let bits = p.concatenating_mul(&*q).bits();
        security_bits(bits).ok_or(PartialError::KeyLength { bits })?;
        if [&p, &q].iter().any(|prime| prime.bits() != bits / 2) {
            return Err(PartialError::Primes);
        }
        Self::of_primes(&p, &q)
    }

    /// Makes a key of its stored [`primes`](Self::expose_secret_primes) and [`randomness`](Self::randomness).
    /// The kind of masks is chosen when a key is generated and cannot be derived from the primes.
    ///
    /// # Errors
    /// Those of [`from_primes`](Self::from_primes); [`PartialError::OutOfRange`] if h is not below n.
    pub fn from_parts(p: BoxedUint, q: BoxedUint, randomness: Randomness) -> Result<Self, PartialError> {
        let key = Self::from_primes(p, q)?;
        if let Randomness::HalfLength { h } | Randomness::Subgroup { h } = &randomness
            && h.cmp_vartime(&key.n).is_ge()
        {
            return Err(PartialError::OutOfRange);
        }
        Ok(Self { randomness, ..key })
    }

    /// Returns the kind of masks, with its generator h.
    pub fn randomness(&self) -> &Randomness {
        &self.randomness
    }

    /// Like [`from_primes`](Self::from_primes) for primes of any length: for tests.
    ///
    /// # Errors
    /// [`PartialError::Modulus`] if they are not two distinct primes that fit the scheme.
    pub fn insecure_from_primes(p: BoxedUint, q: BoxedUint) -> Result<Self, PartialError> {
        Self::of_primes(&Zeroizing::new(p), &Zeroizing::new(q))
    }

    fn of_primes(p: &BoxedUint, q: &BoxedUint) -> Result<Self, PartialError> {
        let [p, q] = [p, q].map(|x| {
            let bits = x.bits().next_multiple_of(64);
            Zeroizing::new(x.resize_unchecked(bits))
        });
        let n = p.concatenating_mul(&*q);
        let odd_primes =
            [&p, &q].iter().all(|prime| prime.bit_vartime(0) && is_prime(Flavor::Any, &***prime));
        // The scheme needs gcd(n, (p − 1)(q − 1)) = 1: it fails if one prime divides the other less one.
        let below = |x: &BoxedUint| Zeroizing::new(x.wrapping_sub(BoxedUint::one()));
        let totient = Zeroizing::new(below(&p).concatenating_mul(&*below(&q)));
        if !odd_primes || p.cmp_vartime(&*q).is_eq() || !bool::from(totient.gcd(&n).is_one()) {
            return Err(PartialError::Modulus);
        }
        Ok(Self { p, q, n, randomness: Randomness::Textbook })
    }

    /// Returns the public key.
    ///
    /// # Errors
    /// [`PartialError`] if the public key refuses n or h.
    pub fn public_key(&self) -> Result<PublicKey, PartialError> {
        PublicKey::new(&self.n, self.randomness.clone())
    }

    /// Returns the public key for an n of any length, on a given kernel target: for tests.
    ///
    /// # Errors
    /// [`PartialError`] if the public key refuses n or h.
    pub fn insecure_public_key(&self, target: &Target) -> Result<PublicKey, PartialError> {
        PublicKey::insecure_any_length(target, &self.n, self.randomness.clone())
    }

    /// Returns n.
    pub fn modulus(&self) -> &BoxedUint {
        &self.n
    }

    /// Returns the primes. Anybody who has them reads everything under this key.
    pub fn expose_secret_primes(&self) -> (&BoxedUint, &BoxedUint) {
        (&self.p, &self.q)
    }
}

/// Computes −y^exponent modulo n for a random y. The exponent may be secret.
fn minus_power(
    n: &BoxedUint,
    exponent: &BoxedUint,
    rng: &mut impl SecretRng,
) -> Result<BoxedUint, PartialError> {
    use crypto_bigint::NonZero;
    use sotto_kernels::Montgomery;
    use sotto_partial::number::{from_words, words};
    let modulus = Option::<NonZero<_>>::from(n.to_nz()).ok_or(PartialError::Modulus)?;
    let context = Montgomery::new(&words(n)).map_err(|_| PartialError::Modulus)?;
    // 128 bits more than n, so that the remainder is within 2^-128 of uniform.
    let y = Zeroizing::new(draw(n.bits() + 128, rng).rem(&modulus));
    let power = context.power(&context.enter(&words(&y)), &words(exponent), exponent.bits_precision());
    Ok(n.wrapping_sub(from_words(&context.leave(&power))))
}
