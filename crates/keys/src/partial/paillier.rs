//! Paillier's secret key: the primes.

use crypto_bigint::{BoxedUint, ConcatenatingMul, Gcd, Resize};
use crypto_primes::{Flavor, is_prime};
use sotto_kernels::Kernels;
use sotto_partial::PartialError;
use sotto_partial::paillier::{PublicKey, Randomness, security_bits};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use super::primes::{Primes, draw, half_length, subgroup};
use crate::device::DeviceSecret;

/// Which masks a new key is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Masking {
    /// Exponents of |n|/2 bits ([`Randomness::HalfLength`]).
    #[default]
    HalfLength,
    /// Exponents of 448 or 512 bits in a subgroup of that order ([`Randomness::Subgroup`]).
    Subgroup,
    /// Full exponents ([`Randomness::Textbook`]).
    Textbook,
}

/// n = p·q. No Debug, Clone or PartialEq; wiped on drop.
pub struct SecretKey {
    p: Zeroizing<BoxedUint>,
    q: Zeroizing<BoxedUint>,
    /// Public.
    n: BoxedUint,
    randomness: Randomness,
}

impl SecretKey {
    /// A new key of 2048, 3072 or 4096 bits.
    pub fn generate(bits: u32, masking: Masking, rng: &mut impl SecretRng) -> Result<Self, PartialError> {
        security_bits(bits).ok_or(PartialError::KeyLength { bits })?;
        Self::insecure_generate(bits, masking, rng)
    }

    /// The key of a device, always the same one: primes and h are the first that its stream gives.
    pub fn derive(device: &DeviceSecret, bits: u32, masking: Masking) -> Result<Self, PartialError> {
        let name = match masking {
            Masking::HalfLength => "half-length",
            Masking::Subgroup => "subgroup",
            Masking::Textbook => "textbook",
        };
        Self::generate(bits, masking, &mut device.partial_key_stream("paillier", bits, name))
    }

    /// A new key of any length that is a multiple of 128: for tests.
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

    /// A key from elsewhere, by its primes, which have half of n's bits each: the length of n says nothing about how hard it is
    /// to find a short one. Its public key has textbook masks.
    pub fn from_primes(p: BoxedUint, q: BoxedUint) -> Result<Self, PartialError> {
        let (p, q) = (Zeroizing::new(p), Zeroizing::new(q));
        let bits = p.concatenating_mul(&*q).bits();
        security_bits(bits).ok_or(PartialError::KeyLength { bits })?;
        if [&p, &q].iter().any(|prime| prime.bits() != bits / 2) {
            return Err(PartialError::Primes);
        }
        Self::of_primes(&p, &q)
    }

    /// A key as [`expose_secret_primes`](Self::expose_secret_primes) and [`randomness`](Self::randomness) gave it: how masks are
    /// drawn was settled when the key was made, and cannot be seen from the primes.
    pub fn from_parts(p: BoxedUint, q: BoxedUint, randomness: Randomness) -> Result<Self, PartialError> {
        let key = Self::from_primes(p, q)?;
        if let Randomness::HalfLength { h } | Randomness::Subgroup { h } = &randomness
            && h.cmp_vartime(&key.n).is_ge()
        {
            return Err(PartialError::OutOfRange);
        }
        Ok(Self { randomness, ..key })
    }

    /// How masks are drawn.
    pub fn randomness(&self) -> &Randomness {
        &self.randomness
    }

    /// The same at any length: for tests.
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

    /// The public key.
    pub fn public_key(&self) -> Result<PublicKey, PartialError> {
        PublicKey::new(&self.n, self.randomness.clone())
    }

    /// The public key at any length, on a given target: for tests.
    pub fn insecure_public_key(&self, kernels: &Kernels) -> Result<PublicKey, PartialError> {
        PublicKey::insecure_any_length(kernels, &self.n, self.randomness.clone())
    }

    /// n.
    pub fn modulus(&self) -> &BoxedUint {
        &self.n
    }

    /// The primes: whoever has them reads everything under this key.
    pub fn expose_secret_primes(&self) -> (&BoxedUint, &BoxedUint) {
        (&self.p, &self.q)
    }
}

/// −y^exponent modulo n for a random y; the exponent may be secret.
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
    // 128 bits more than n, so that the remainder is uniform to 2^-128.
    let y = Zeroizing::new(draw(n.bits() + 128, rng).rem(&modulus));
    let power = context.power(&context.enter(&words(&y)), &words(exponent), exponent.bits_precision());
    Ok(n.wrapping_sub(from_words(&context.leave(&power))))
}
