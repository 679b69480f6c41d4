//! Checked parameters with everything precomputed.

use core::ops::Range;
use std::sync::Arc;

use sotto_ring::{Conversion, Division, Embedding, GaloisMap, Modulus, Ring};

use super::chain::DefaultChain;
use super::identity::{ParameterId, SchemeId};
use super::security::largest_modulus_bits;
use super::spec::ParameterSpec;
use crate::error::{EvalError, ParameterError};
use crate::noise::Norms;
use crate::scheme::Scheme;

/// Whether parameters reach 128-bit security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// At least 128 bits by the 2024 table.
    Bits128,
    /// Asked for under a name that says so: for tests and teaching only.
    Insecure,
}

/// Parameters of scheme `S`. Cheap to clone.
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

/// What key switching and dropping need at one level.
#[derive(Debug)]
pub(crate) struct LevelTables {
    pub(crate) digits: Vec<DigitTables>,
    /// Divides by the special primes; None without them.
    pub(crate) special: Option<Division>,
    /// Drops this level's last prime; None at level 0.
    pub(crate) last: Option<Division>,
}

#[derive(Debug)]
pub(crate) struct DigitTables {
    /// The digit's limbs.
    pub(crate) own: Range<usize>,
    /// The other limbs of special primes and level, in order.
    pub(crate) others: Vec<usize>,
    /// From the digit's limbs to the others.
    pub(crate) conversion: Conversion,
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
    /// Parameters of at least 128-bit security; anything else is refused.
    pub fn new(spec: ParameterSpec) -> Result<Self, ParameterError> {
        let degree = spec.degree;
        let limit = largest_modulus_bits(degree).ok_or(ParameterError::NoSecurityRow(degree))?;
        let bits = spec.modulus_bits();
        if bits > f64::from(limit) {
            return Err(ParameterError::Insecure { degree, bits, limit });
        }
        Self::build(spec, Security::Bits128)
    }

    /// The default chain of a degree with plain modulus t (CKKS ignores t).
    pub fn default_chain(degree: usize, plain_modulus: u64) -> Result<Self, ParameterError> {
        Self::new(DefaultChain::spec(S::ID, degree, plain_modulus)?)
    }

    /// Parameters without any promise of security, for tests and teaching.
    pub fn insecure(spec: ParameterSpec) -> Result<Self, ParameterError> {
        Self::build(spec, Security::Insecure)
    }

    fn build(spec: ParameterSpec, security: Security) -> Result<Self, ParameterError> {
        if spec.scheme != S::ID {
            return Err(ParameterError::Scheme { expected: S::ID, found: spec.scheme });
        }
        check_chain(&spec)?;
        S::check(&spec)?;
        let mut primes = spec.special.clone();
        primes.extend_from_slice(&spec.data);
        primes.extend(S::auxiliary_primes(&spec, &primes));
        let ring = Ring::new(spec.degree, &primes)?;
        let embedding = Embedding::new(spec.degree)
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
        let norms = Norms::new(spec.degree);
        Ok(Self(Arc::new(Inner { id: spec.id(), spec, security, ring, levels, norms, embedding, tables })))
    }

    /// The numbers that define the parameters.
    pub fn spec(&self) -> &ParameterSpec {
        &self.0.spec
    }

    /// The identity.
    pub fn id(&self) -> ParameterId {
        self.0.id
    }

    /// Whether they reach 128 bits.
    pub fn security(&self) -> Security {
        self.0.security
    }

    /// The ring: special primes, data primes, then the scheme's auxiliary primes.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.0.ring
    }

    /// n.
    pub fn degree(&self) -> usize {
        self.0.spec.degree
    }

    /// The highest level; fresh ciphertexts are there.
    pub fn top_level(&self) -> usize {
        self.0.spec.data.len() - 1
    }

    /// The limbs of a level: q_0 … q_l.
    pub fn limbs(&self, level: usize) -> Range<usize> {
        let special = self.0.spec.special.len();
        special..special + level + 1
    }

    /// The limbs of a level and the special primes.
    pub fn extended_limbs(&self, level: usize) -> Range<usize> {
        0..self.0.spec.special.len() + level + 1
    }

    /// The limbs of keys: special and data primes.
    pub fn key_limbs(&self) -> Range<usize> {
        self.extended_limbs(self.top_level())
    }

    /// The level whose limbs are these, if there is one.
    pub fn level_of(&self, limbs: Range<usize>) -> Option<usize> {
        let level = limbs.len().checked_sub(1)?;
        (level <= self.top_level() && self.limbs(level) == limbs).then_some(level)
    }

    /// The last prime of a level.
    pub fn data_prime(&self, level: usize) -> u64 {
        self.0.spec.data[level]
    }

    /// log2 of a level's modulus.
    pub fn data_bits(&self, level: usize) -> f64 {
        self.0.ring.product_bits(self.limbs(level))
    }

    /// log2 of the product of the special primes.
    pub fn special_bits(&self) -> f64 {
        self.0.ring.product_bits(0..self.0.spec.special.len())
    }

    /// Whether there are special primes, without which nothing can be relinearised or rotated.
    pub fn can_switch_keys(&self) -> bool {
        !self.0.spec.special.is_empty()
    }

    /// The limbs of each digit at a level.
    pub fn digits(&self, level: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.levels[level].digits.iter().map(|d| d.own.clone())
    }

    /// Digits of a key.
    pub fn digit_count(&self) -> usize {
        self.0.spec.data.len().div_ceil(self.0.spec.digit_primes)
    }

    /// BFV, BGV: t. CKKS: log2 Δ, which nothing should ask for.
    pub fn plain_modulus(&self) -> u64 {
        self.0.spec.plain
    }

    /// Norms of the random polynomials.
    pub fn norms(&self) -> &Norms {
        &self.0.norms
    }

    /// The canonical embedding.
    pub fn embedding(&self) -> &Embedding {
        &self.0.embedding
    }

    pub(crate) fn tables(&self) -> &S::Tables {
        &self.0.tables
    }

    pub(crate) fn level(&self, level: usize) -> &LevelTables {
        &self.0.levels[level]
    }

    /// The Galois element of a rotation by `step`, or of the row swap for step 0; None for a step that does not exist.
    pub fn galois_element(&self, step: i32) -> Option<usize> {
        let degree = self.degree();
        if step == 0 {
            Some(GaloisMap::swap_element(degree))
        } else {
            GaloisMap::rotation_element(degree, step)
        }
    }

    /// Refuses what needs special primes where there are none.
    pub(crate) fn require_special_primes(&self) -> Result<(), EvalError> {
        if self.can_switch_keys() { Ok(()) } else { Err(EvalError::NoSpecialPrime) }
    }

    /// The modulus of a limb.
    pub fn modulus(&self, limb: usize) -> &Modulus {
        self.0.ring.modulus(limb)
    }

    /// The scheme.
    pub fn scheme(&self) -> SchemeId {
        S::ID
    }
}

fn check_chain(spec: &ParameterSpec) -> Result<(), ParameterError> {
    if !spec.degree.is_power_of_two() || !(4..=1 << 17).contains(&spec.degree) {
        return Err(sotto_ring::RingError::Degree(spec.degree).into());
    }
    let (special, data) = (spec.special.len(), spec.data.len());
    if spec.scheme != SchemeId::Ckks && data > sotto_ring::MOST_SOURCES {
        return Err(ParameterError::Chain("BFV and BGV take at most 32 data primes: take larger ones"));
    }
    if data == 0 || data > 64 || special > 16 {
        return Err(ParameterError::Chain("a chain has 1 to 64 data primes and at most 16 special primes"));
    }
    if spec.digit_primes == 0 || spec.digit_primes > 16 {
        return Err(ParameterError::Chain("a digit has 1 to 16 primes"));
    }
    if spec.special.iter().chain(&spec.data).any(|q| *q >> 61 != 0) {
        return Err(ParameterError::Chain("primes must be below 2^61"));
    }
    if special > 0 {
        let product: f64 = spec.special.iter().map(|q| (*q as f64).log2()).sum();
        let digit = |d: &[u64]| d.iter().map(|q| (*q as f64).log2()).sum::<f64>();
        let largest = spec.data.chunks(spec.digit_primes).map(digit).fold(0.0, f64::max);
        if product + 0.1 < largest {
            return Err(ParameterError::Chain(
                "the special primes' product must not be smaller than the largest digit",
            ));
        }
    }
    Ok(())
}

impl LevelTables {
    fn new(spec: &ParameterSpec, ring: &Ring, level: usize, rounding: sotto_ring::Rounding) -> Option<Self> {
        let special = spec.special.len();
        let limbs = special..special + level + 1;
        let digits = if special == 0 { Vec::new() } else { DigitTables::all(spec, ring, limbs.clone()) };
        let special_division =
            if special == 0 { None } else { Some(Division::new(ring, 0..special, limbs.clone(), rounding)?) };
        let last = if level == 0 {
            None
        } else {
            Some(Division::new(ring, limbs.end - 1..limbs.end, limbs.start..limbs.end - 1, rounding)?)
        };
        Some(Self { digits, special: special_division, last })
    }
}

impl DigitTables {
    fn all(spec: &ParameterSpec, ring: &Ring, limbs: Range<usize>) -> Vec<Self> {
        limbs
            .clone()
            .step_by(spec.digit_primes)
            .map(|start| {
                let own = start..(start + spec.digit_primes).min(limbs.end);
                let others: Vec<usize> = (0..limbs.end).filter(|i| !own.contains(i)).collect();
                let targets: Vec<Modulus> = others.iter().map(|i| *ring.modulus(*i)).collect();
                let conversion = Conversion::new(&ring.moduli(own.clone()), &targets);
                Self { own, others, conversion }
            })
            .collect()
    }
}
