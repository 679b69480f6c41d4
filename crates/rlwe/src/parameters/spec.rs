//! The numbers that define a parameter set, and its identity.

use super::identity::{ParameterId, SchemeId};

/// AES-128 in counter mode, the only seed expansion of wire version 1 (ADR 0001).
pub const XOF_AES128_CTR: u8 = 1;
const WIRE_VERSION: u16 = 1;

/// What defines a parameter set. Not checked: [`super::Params`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpec {
    /// The scheme.
    pub scheme: SchemeId,
    /// n.
    pub degree: usize,
    /// Special primes, largest first; empty where the parameters allow no key switching.
    pub special: Vec<u64>,
    /// Data primes q_0 … q_L; the last is dropped first.
    pub data: Vec<u64>,
    /// Data primes a digit of key switching.
    pub digit_primes: usize,
    /// BFV, BGV: the plain modulus t. CKKS: log2 of the scale Δ.
    pub plain: u64,
}

impl ParameterSpec {
    /// BLAKE3 over scheme, n, primes, digits, t or log2 Δ, seed expansion and wire version.
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

    /// log2 of the data modulus.
    pub fn data_bits(&self) -> f64 {
        self.data.iter().map(|q| (*q as f64).log2()).sum()
    }

    /// log2 of the whole modulus, special primes included.
    pub fn modulus_bits(&self) -> f64 {
        self.data_bits() + self.special.iter().map(|q| (*q as f64).log2()).sum::<f64>()
    }
}
