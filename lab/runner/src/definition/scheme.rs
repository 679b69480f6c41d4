//! The schemes that definitions name.

use serde::Deserialize;

/// A scheme that definitions name, or what stands beside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Integers modulo t.
    Bfv,
    /// Integers modulo t.
    Bgv,
    /// Real numbers, approximate.
    Ckks,
    /// Sums of integers; n is the length of its modulus in bits.
    Paillier,
    /// A conventional cipher; n is the number of readings.
    #[serde(rename = "aes-256-gcm")]
    Aes256Gcm,
    /// A conventional cipher; n is the number of readings.
    #[serde(rename = "chacha20-poly1305")]
    ChaCha20Poly1305,
    /// No cipher at all; n is the number of values.
    Clear,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Bfv,
        Self::Bgv,
        Self::Ckks,
        Self::Paillier,
        Self::Aes256Gcm,
        Self::ChaCha20Poly1305,
        Self::Clear,
    ];

    /// Its name as the protocol has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
            Self::Ckks => "ckks",
            Self::Paillier => "paillier",
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
            Self::Clear => "clear",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Whether it computes on polynomials: then n is the degree of the ring.
    pub fn has_ring(self) -> bool {
        matches!(self, Self::Bfv | Self::Bgv | Self::Ckks)
    }

    /// Bits of security that are stated for what has no ring. Paillier: NIST SP 800-57, table 2, for factoring.
    pub fn conventional_security(self, size: usize) -> Option<u32> {
        match self {
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => Some(256),
            Self::Paillier if size >= 15360 => Some(256),
            Self::Paillier if size >= 7680 => Some(192),
            Self::Paillier if size >= 3072 => Some(128),
            _ => None,
        }
    }
}
