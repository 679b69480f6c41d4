//! The schemes in definitions.

use serde::Deserialize;

/// A scheme in definitions, or a baseline beside the schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Integers modulo t.
    Bfv,
    /// Integers modulo t.
    Bgv,
    /// Real numbers, approximate.
    Ckks,
    /// Sums of integers; n is the length of the modulus in bits.
    Paillier,
    /// Products of integers modulo a prime; n is the prime's length in bits.
    #[serde(rename = "elgamal")]
    ElGamal,
    /// Sums of small integers on a curve; n is the length of the field's prime in bits.
    #[serde(rename = "elgamal-ristretto")]
    ElGamalRistretto,
    /// Sums and one product without a ring; n is the dimension.
    Lwe,
    /// Sums and products with a re-encryption agent that converts to ElGamal; n is the length of both keys in bits.
    #[serde(rename = "paillier+elgamal")]
    PaillierElGamal,
    /// Sums and products with a re-encryption agent that sees only blinded numbers; n is the length of the modulus in
    /// bits.
    #[serde(rename = "paillier-blinded")]
    PaillierBlinded,
    /// Sums of windows: one ciphertext for all readings of a window; n is the length of the modulus in bits.
    #[serde(rename = "paillier-packed")]
    PaillierPacked,
    /// Sums of windows: pads of a stream cipher, and tags; n is the number of readings in a window.
    Sums,
    /// A conventional cipher; n is the number of readings.
    #[serde(rename = "aes-256-gcm")]
    Aes256Gcm,
    /// A conventional cipher; n is the number of readings.
    #[serde(rename = "chacha20-poly1305")]
    ChaCha20Poly1305,
    /// No encryption; n is the number of values.
    Clear,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Bfv,
        Self::Bgv,
        Self::Ckks,
        Self::Paillier,
        Self::ElGamal,
        Self::ElGamalRistretto,
        Self::Lwe,
        Self::PaillierElGamal,
        Self::PaillierBlinded,
        Self::PaillierPacked,
        Self::Sums,
        Self::Aes256Gcm,
        Self::ChaCha20Poly1305,
        Self::Clear,
    ];

    /// Returns the name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
            Self::Ckks => "ckks",
            Self::Paillier => "paillier",
            Self::ElGamal => "elgamal",
            Self::ElGamalRistretto => "elgamal-ristretto",
            Self::Lwe => "lwe",
            Self::PaillierElGamal => "paillier+elgamal",
            Self::PaillierBlinded => "paillier-blinded",
            Self::PaillierPacked => "paillier-packed",
            Self::Sums => "sums",
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
            Self::Clear => "clear",
        }
    }

    /// Returns None for an unknown name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Returns true if the scheme computes on polynomials: then n is the degree of the ring.
    pub fn has_ring(self) -> bool {
        matches!(self, Self::Bfv | Self::Bgv | Self::Ckks)
    }

    /// Returns true if n is the length of a key.
    pub fn has_key_bits(self) -> bool {
        matches!(self, Self::Paillier | Self::PaillierPacked | Self::ElGamal) || self.has_agent()
    }

    /// Returns true if a re-encryption agent does the operations that the scheme lacks.
    pub fn has_agent(self) -> bool {
        matches!(self, Self::PaillierElGamal | Self::PaillierBlinded)
    }

    /// Returns the number of values in a ciphertext.
    pub fn slots(self, n: usize) -> usize {
        match self {
            Self::Paillier | Self::ElGamal | Self::ElGamalRistretto | Self::Lwe => 1,
            Self::PaillierElGamal | Self::PaillierBlinded => 1,
            Self::Ckks => n / 2,
            _ => n,
        }
    }

    /// Returns the bits of security stated for schemes without a ring. Paillier and ElGamal: NIST SP 800-57, table 2.
    /// LWE: the 128-bit line of the guidelines of 2024, which is drawn for rings (docs/concepts/partial.md). Sums: the
    /// keys of ChaCha20; a false sum is accepted with 2^-60 a try (docs/concepts/authentication.md).
    pub fn conventional_security(self, size: usize) -> Option<u32> {
        match self {
            Self::Aes256Gcm | Self::ChaCha20Poly1305 | Self::Sums => Some(256),
            _ if self.has_key_bits() && size >= 15360 => Some(256),
            _ if self.has_key_bits() && size >= 7680 => Some(192),
            _ if self.has_key_bits() && size >= 3072 => Some(128),
            Self::ElGamalRistretto | Self::Lwe => Some(128),
            _ => None,
        }
    }
}
