//! The default chains: for each degree, primes within 128 bits of security by the 2024 guidelines.

use super::chain_bits::ChainBits;
use super::identity::SchemeId;
use super::spec::ParameterSpec;
use crate::error::ParameterError;

/// The fixed chain of every degree.
///
/// ```
/// use sotto_rlwe::{ChainBits, DefaultChain, SchemeId, SecurityTarget};
///
/// let chain: &ChainBits = &DefaultChain::all(SchemeId::Bfv)[2];
/// assert_eq!((chain.degree, chain.data_bits(), chain.special_bits()), (4096, 70, 36));
/// assert!(chain.modulus_bits() <= SecurityTarget::default().limit(4096)?);
/// // The same chain with its primes.
/// let spec = DefaultChain::spec(SchemeId::Bfv, 4096, 65_537)?;
/// assert_eq!((spec.data.len(), spec.special.len()), (2, 1));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultChain {}

const INTEGER: [ChainBits; 7] = [
    ChainBits { degree: 1024, special: (0, 0), first: 26, others: (0, 0) },
    ChainBits { degree: 2048, special: (0, 0), first: 50, others: (0, 0) },
    ChainBits { degree: 4096, special: (36, 1), first: 35, others: (35, 1) },
    ChainBits { degree: 8192, special: (46, 1), first: 42, others: (42, 3) },
    ChainBits { degree: 16384, special: (43, 2), first: 43, others: (43, 7) },
    ChainBits { degree: 32768, special: (43, 4), first: 43, others: (43, 15) },
    ChainBits { degree: 65536, special: (48, 4), first: 48, others: (48, 31) },
];

const REAL: [ChainBits; 5] = [
    ChainBits { degree: 4096, special: (38, 1), first: 38, others: (30, 1) },
    ChainBits { degree: 8192, special: (50, 1), first: 50, others: (38, 3) },
    ChainBits { degree: 16384, special: (50, 2), first: 50, others: (40, 7) },
    ChainBits { degree: 32768, special: (50, 4), first: 50, others: (40, 15) },
    ChainBits { degree: 65536, special: (50, 5), first: 50, others: (40, 36) },
];

impl DefaultChain {
    /// Returns the chains of a scheme, smallest degree first.
    pub fn all(scheme: SchemeId) -> &'static [ChainBits] {
        if scheme.is_exact() { &INTEGER } else { &REAL }
    }

    /// Returns the specification of a scheme's default chain. `plain_modulus` is t; CKKS ignores it, as the chain sets
    /// the scale.
    ///
    /// # Errors
    /// [`ParameterError::NoDefaultChain`] if the degree has none.
    pub fn spec(
        scheme: SchemeId,
        degree: usize,
        plain_modulus: u64,
    ) -> Result<ParameterSpec, ParameterError> {
        let chain = Self::all(scheme).iter().find(|c| c.degree == degree);
        let defined = if scheme.is_exact() {
            "1024, 2048, 4096, 8192, 16384, 32768 and 65536"
        } else {
            "4096, 8192, 16384, 32768 and 65536"
        };
        let chain = chain.ok_or(ParameterError::NoDefaultChain { scheme, degree, defined })?;
        let (special, data) = chain.primes(scheme);
        let plain = if scheme.is_exact() { plain_modulus } else { u64::from(chain.others.0) };
        Ok(ParameterSpec { scheme, degree, digit_primes: special.len().max(1), special, data, plain })
    }
}
