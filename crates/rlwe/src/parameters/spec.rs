//! The numbers that define a parameter set, and its identity.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{MOST_SOURCES, RingError};

use super::identity::{ParameterId, SchemeId};
use crate::error::ParameterError;

/// AES-128 in counter mode, the only seed expansion of wire version 1 (ADR 0001).
pub const XOF_AES128_CTR: u8 = 1;
const WIRE_VERSION: u16 = 1;

/// The numbers that define a parameter set, unchecked; [`super::Params`] checks them.
///
/// ```
/// use sotto_rlwe::{Bgv, DefaultChain, ParameterError, ParameterSpec, Params, SchemeId};
///
/// let spec = DefaultChain::spec(SchemeId::Bgv, 4096, 65_537)?;
/// assert_eq!(Params::<Bgv>::new(spec.clone())?.id(), spec.id());
/// // A third prime of 35 bits would exceed the limit of the security table.
/// let longer = ParameterSpec { data: [&spec.data[..], &[34_359_214_081]].concat(), ..spec };
/// assert!(matches!(Params::<Bgv>::new(longer), Err(ParameterError::Insecure { degree: 4096, .. })));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpec {
    /// The scheme that the chain is for.
    pub scheme: SchemeId,
    /// The degree n.
    pub degree: usize,
    /// Special primes, largest first. Without them keys are switched only where there are several digits, with more noise.
    pub special: Vec<u64>,
    /// Data primes q_0 … q_L; the last is dropped first.
    pub data: Vec<u64>,
    /// Data primes a digit of key switching.
    pub digit_primes: usize,
    /// BFV, BGV: the plain modulus t. CKKS: log2 of the scale Δ.
    pub plain: u64,
}

impl ParameterSpec {
    /// Returns the identity: BLAKE3 of scheme, n, primes, digits, t or log2 Δ, seed expansion and wire version.
    pub fn id(&self) -> ParameterId {
        let mut hasher = blake3::Hasher::new_derive_key("sotto parameters v1");
        hasher.update(&[self.scheme as u8]);
        hasher.update(&(self.degree as u32).to_le_bytes());
        for primes in [&self.special, &self.data] {
            hasher.update(&(primes.len() as u32).to_le_bytes());
            for prime in primes {
                hasher.update(&prime.to_le_bytes());
            }
        }
        hasher.update(&(self.digit_primes as u32).to_le_bytes());
        hasher.update(&self.plain.to_le_bytes());
        hasher.update(&[XOF_AES128_CTR]);
        hasher.update(&WIRE_VERSION.to_le_bytes());
        ParameterId(*hasher.finalize().as_bytes())
    }

    /// Returns log2 of the data modulus.
    pub fn data_bits(&self) -> f64 {
        self.data.iter().map(|q| (*q as f64).log2()).sum()
    }

    /// Returns log2 of the whole modulus, special primes included.
    pub fn modulus_bits(&self) -> f64 {
        self.data_bits() + self.special.iter().map(|q| (*q as f64).log2()).sum::<f64>()
    }

    /// Returns the bit length of the whole modulus as an integer: the least b with modulus < 2^b.
    pub fn modulus_bit_length(&self) -> u32 {
        let mut product: Vec<u64> = vec![1];
        for prime in self.special.iter().chain(&self.data) {
            let mut carry = 0;
            for word in &mut product {
                let wide = u128::from(*word) * u128::from(*prime) + u128::from(carry);
                *word = wide as u64;
                carry = (wide >> 64) as u64;
            }
            product.push(carry);
        }
        let highest = product.iter().rposition(|word| *word != 0);
        highest.map_or(0, |i| 64 * i as u32 + 64 - product[i].leading_zeros())
    }

    /// Refuses numbers that are invalid in every scheme: a degree, a count of primes or a digit out of range, and
    /// special primes too small for the digits.
    pub(super) fn check_chain(&self) -> Result<(), ParameterError> {
        if !self.degree.is_power_of_two() || !(4..=1 << 17).contains(&self.degree) {
            return Err(RingError::Degree(self.degree).into());
        }
        let (special, data) = (self.special.len(), self.data.len());
        if self.scheme.is_exact() && data > MOST_SOURCES {
            return Err(ParameterError::Chain("BFV and BGV take at most 32 data primes: take larger ones"));
        }
        if data == 0 || data > 64 || special > 16 {
            return Err(ParameterError::Chain(
                "a chain has 1 to 64 data primes and at most 16 special primes",
            ));
        }
        if self.digit_primes == 0 || self.digit_primes > 16 {
            return Err(ParameterError::Chain("a digit has 1 to 16 primes"));
        }
        if self.special.iter().chain(&self.data).any(|q| *q >> 61 != 0 || *q < 3) {
            return Err(ParameterError::Chain("primes must be at least 3 and below 2^61"));
        }
        if special > 0 {
            let product: f64 = self.special.iter().map(|q| (*q as f64).log2()).sum();
            let digit = |d: &[u64]| d.iter().map(|q| (*q as f64).log2()).sum::<f64>();
            let largest = self.data.chunks(self.digit_primes).map(digit).fold(0.0, f64::max);
            if product + 0.1 < largest {
                return Err(ParameterError::Chain(
                    "the special primes' product must not be smaller than the largest digit",
                ));
            }
        }
        Ok(())
    }
}
