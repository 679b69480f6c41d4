//! Checked parameters with everything precomputed.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use sotto_ring::{Embedding, Modulus, Ring};

use super::default_chain::DefaultChain;
use super::identity::{ParameterId, SchemeId};
use super::level_tables::LevelTables;
use super::security::SecurityTarget;
use super::spec::ParameterSpec;
use crate::automorphism::Automorphism;
use crate::error::{EvalError, ParameterError};
use crate::noise::Norms;
use crate::scheme::Scheme;

/// The security check that parameters have passed.
///
/// Example: [`Params`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// They are within a cell of a published table.
    Checked(SecurityTarget),
    /// Not checked, on explicit request: for tests and teaching only.
    Insecure,
}

/// Parameters of scheme `S`. Cheap to clone.
///
/// ```
/// use sotto_rlwe::{Bfv, Params, Security, SecurityTarget};
///
/// // Integers modulo 65537 at n = 4096: two rows of 2048 slots.
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// assert_eq!((params.degree(), params.top_level()), (4096, 1));
/// assert!(params.can_switch_keys());
/// assert_eq!(params.security(), Security::Checked(SecurityTarget::default()));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
pub struct Params<S: Scheme>(Arc<Inner<S>>);

struct Inner<S: Scheme> {
    spec: ParameterSpec,
    id: ParameterId,
    security: Security,
    ring: Arc<Ring>,
    levels: Vec<LevelTables>,
    norms: Norms,
    embedding: Embedding,
    tables: S::Tables,
}

impl<S: Scheme> Clone for Params<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Scheme> core::fmt::Debug for Params<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Params").field("spec", &self.0.spec).field("id", &self.0.id).finish()
    }
}

impl<S: Scheme> PartialEq for Params<S> {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl<S: Scheme> Params<S> {
    /// Makes parameters of at least 128-bit security by the 2024 guidelines.
    ///
    /// # Errors
    /// [`ParameterError`] if the specification is invalid, or its modulus exceeds the limit of the security table.
    pub fn new(spec: ParameterSpec) -> Result<Self, ParameterError> {
        Self::with_security(spec, SecurityTarget::default())
    }

    /// Makes parameters that reach a security level by a named profile. The identity does not depend on the profile.
    ///
    /// # Errors
    /// As [`Params::new`]; [`ParameterError::NoSecurityCell`] if the profile has no limit for the degree.
    pub fn with_security(spec: ParameterSpec, target: SecurityTarget) -> Result<Self, ParameterError> {
        Self::build(spec, Security::Checked(target))
    }

    /// Makes the default chain of a degree with plain modulus t (CKKS ignores t).
    ///
    /// # Errors
    /// [`ParameterError::NoDefaultChain`], and as [`Params::new`].
    pub fn default_chain(degree: usize, plain_modulus: u64) -> Result<Self, ParameterError> {
        Self::new(DefaultChain::spec(S::ID, degree, plain_modulus)?)
    }

    /// Makes parameters without a promise of security, for tests and teaching.
    ///
    /// # Errors
    /// [`ParameterError`] if the specification is invalid.
    pub fn insecure(spec: ParameterSpec) -> Result<Self, ParameterError> {
        Self::build(spec, Security::Insecure)
    }

    fn build(spec: ParameterSpec, security: Security) -> Result<Self, ParameterError> {
        if spec.scheme != S::ID {
            return Err(ParameterError::Scheme { expected: S::ID, found: spec.scheme });
        }
        spec.check_chain()?;
        if let Security::Checked(target) = security {
            target.check(&spec)?;
        }
        S::check(&spec)?;
        let mut primes = spec.special.clone();
        primes.extend_from_slice(&spec.data);
        primes.extend(S::auxiliary_primes(&spec, &primes));
        let ring = Ring::new(spec.degree, &primes)?;
        let embedding = Embedding::on(spec.degree, ring.target().embedding)
            .ok_or(ParameterError::Ring(sotto_ring::RingError::Degree(spec.degree)))?;
        let tables = S::tables(&spec, &ring)?;
        let rounding = S::rounding(&spec)?;
        let levels = (0..spec.data.len())
            .map(|level| LevelTables::new(&spec, &ring, level, rounding))
            .collect::<Option<_>>()
            .ok_or(ParameterError::PlainModulus {
                value: spec.plain,
                reason: "shares a factor with a prime",
            })?;
        let norms = match security {
            Security::Checked(target) if target.profile.allows_imported_secrets() => {
                Norms::of_any_secret(spec.degree)
            }
            _ => Norms::new(spec.degree),
        };
        Ok(Self(Arc::new(Inner { id: spec.id(), spec, security, ring, levels, norms, embedding, tables })))
    }

    /// Returns the numbers that define the parameters.
    pub fn spec(&self) -> &ParameterSpec {
        &self.0.spec
    }

    /// Returns the identity.
    pub fn id(&self) -> ParameterId {
        self.0.id
    }

    /// Returns the security check that they have passed.
    pub fn security(&self) -> Security {
        self.0.security
    }

    /// Returns the ring: special primes, data primes, then the scheme's auxiliary primes.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.0.ring
    }

    /// Returns the degree n.
    pub fn degree(&self) -> usize {
        self.0.spec.degree
    }

    /// Returns the highest level, that of fresh ciphertexts.
    pub fn top_level(&self) -> usize {
        self.0.spec.data.len() - 1
    }

    /// Returns the limbs of a level: q_0 … q_l.
    pub fn limbs(&self, level: usize) -> Range<usize> {
        let special = self.0.spec.special.len();
        special..special + level + 1
    }

    /// Returns the limbs of a level and the special primes.
    pub fn extended_limbs(&self, level: usize) -> Range<usize> {
        0..self.0.spec.special.len() + level + 1
    }

    /// Returns the limbs of keys: special and data primes.
    pub fn key_limbs(&self) -> Range<usize> {
        self.extended_limbs(self.top_level())
    }

    /// Returns the last prime of a level.
    pub fn data_prime(&self, level: usize) -> u64 {
        self.0.spec.data[level]
    }

    /// Returns log2 of a level's modulus.
    pub fn data_bits(&self, level: usize) -> f64 {
        self.0.ring.product_bits(self.limbs(level))
    }

    /// Returns log2 of the product of the special primes.
    pub fn special_bits(&self) -> f64 {
        self.0.ring.product_bits(0..self.0.spec.special.len())
    }

    /// Returns true if a product of the top level can be relinearised and rotated: there are special primes, or several
    /// digits.
    pub fn can_switch_keys(&self) -> bool {
        self.can_switch_keys_at(self.top_level())
    }

    /// Returns true if keys can be switched at a level. One digit as long as the level's modulus, without special primes
    /// that divide its noise, leaves nothing of the message.
    fn can_switch_keys_at(&self, level: usize) -> bool {
        !self.0.spec.special.is_empty() || level >= self.0.spec.digit_primes
    }

    /// Returns the limbs of each digit at a level.
    pub fn digits(&self, level: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.levels[level].digits.iter().map(|d| d.own.clone())
    }

    /// Returns the number of digits of a key.
    pub fn digit_count(&self) -> usize {
        self.0.spec.data.len().div_ceil(self.0.spec.digit_primes)
    }

    /// Returns t (BFV, BGV) or log2 Δ (CKKS, where it has no use outside this crate).
    pub fn plain_modulus(&self) -> u64 {
        self.0.spec.plain
    }

    /// Returns the norms of the random polynomials.
    pub fn norms(&self) -> &Norms {
        &self.0.norms
    }

    /// Returns the canonical embedding.
    pub fn embedding(&self) -> &Embedding {
        &self.0.embedding
    }

    pub(crate) fn tables(&self) -> &S::Tables {
        &self.0.tables
    }

    pub(crate) fn level(&self, level: usize) -> &LevelTables {
        &self.0.levels[level]
    }

    /// Returns the Galois element of an automorphism. Returns None if no such rotation exists.
    pub fn galois_element(&self, automorphism: impl Into<Automorphism>) -> Option<usize> {
        automorphism.into().element(self.degree())
    }

    /// Returns the steps of all rotations by a power of two, both ways, and the row swap (0). Their keys suffice to
    /// compose every rotation.
    pub fn power_of_two_steps(&self) -> Vec<i32> {
        let half_row = (self.degree() / 4) as i32;
        let powers = core::iter::successors(Some(1), |step| Some(2 * step)).take_while(|s| *s <= half_row);
        // Left by half a row equals right by half a row.
        let both = |step: i32| [step, -step].into_iter().take(if step == half_row { 1 } else { 2 });
        core::iter::once(0).chain(powers.flat_map(both)).collect()
    }

    /// Refuses a level at which keys cannot be switched.
    pub(crate) fn require_key_switching(&self, level: usize) -> Result<(), EvalError> {
        if self.can_switch_keys_at(level) { Ok(()) } else { Err(EvalError::NoSpecialPrime) }
    }

    /// Returns one prime: special primes come first, then data primes.
    pub fn modulus(&self, limb: usize) -> &Modulus {
        self.0.ring.modulus(limb)
    }

    /// Returns the scheme's constant, `S::ID`.
    pub fn scheme(&self) -> SchemeId {
        S::ID
    }
}
