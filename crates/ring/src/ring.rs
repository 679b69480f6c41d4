//! The ring: a degree and the ordered list of its primes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_kernels::{InvalidModulus, Kernels, Modulus, NttTable, Target};

/// A degree n and an ordered list of primes with their transforms. Polynomials hold a range of its limbs.
///
/// ```
/// use sotto_ring::{Ring, RingError};
///
/// let ring = Ring::new(8, &[17, 97])?;
/// assert_eq!((ring.degree(), ring.limb_count()), (8, 2));
/// assert_eq!(ring.modulus(1).value(), 97);
/// // 19 is not 1 modulo 16: it has no transform.
/// assert_eq!(Ring::new(8, &[19]).err(), Some(RingError::NoTransform { modulus: 19, degree: 8 }));
/// # Ok::<(), RingError>(())
/// ```
#[derive(Debug)]
pub struct Ring {
    degree: usize,
    tables: Vec<NttTable>,
    target: Target,
}

/// The reason why a ring cannot be made.
///
/// Example: [`Ring`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// The degree is not a power of two from 4 to 131072.
    #[error("the ring degree must be a power of two from 4 to 131072, not {0}")]
    Degree(usize),
    /// A modulus is out of range.
    #[error(transparent)]
    Modulus(#[from] InvalidModulus),
    /// A modulus is not a prime that is 1 modulo 2n, so it has no transform.
    #[error("{modulus} is not a prime p with p mod {} = 1", 2 * degree)]
    NoTransform {
        /// The value refused.
        modulus: u64,
        /// The ring's degree.
        degree: usize,
    },
    /// A prime occurs twice.
    #[error("the prime {0} occurs twice")]
    Repeated(u64),
}

impl Ring {
    /// Makes a ring on the fastest target of this machine.
    ///
    /// # Errors
    /// [`RingError`] if the degree is out of range, or a modulus is out of range, without a transform or repeated.
    pub fn new(degree: usize, primes: &[u64]) -> Result<Arc<Self>, RingError> {
        Self::with_target(degree, primes, Target::best())
    }

    /// Like [`Ring::new`], on a given target, so that tests can compare them.
    ///
    /// # Errors
    /// As in [`Ring::new`].
    pub fn with_target(degree: usize, primes: &[u64], target: &Target) -> Result<Arc<Self>, RingError> {
        if !degree.is_power_of_two() || !(4..=1 << 17).contains(&degree) {
            return Err(RingError::Degree(degree));
        }
        let mut tables = Vec::with_capacity(primes.len());
        for (i, prime) in primes.iter().enumerate() {
            let modulus = Modulus::new(*prime)?;
            if primes[..i].contains(prime) {
                return Err(RingError::Repeated(*prime));
            }
            let no_transform = RingError::NoTransform { modulus: *prime, degree };
            if !crate::primes::is_prime(*prime) {
                return Err(no_transform);
            }
            tables.push(NttTable::new(modulus, degree).ok_or(no_transform)?);
        }
        Ok(Arc::new(Self { degree, tables, target: *target }))
    }

    /// Returns the degree n.
    #[inline]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Returns the number of primes.
    pub fn limb_count(&self) -> usize {
        self.tables.len()
    }

    /// Returns 0 up to the number of primes.
    pub fn all_limbs(&self) -> Range<usize> {
        0..self.tables.len()
    }

    /// Returns the prime of a limb.
    #[inline]
    pub fn modulus(&self, limb: usize) -> &Modulus {
        self.tables[limb].modulus()
    }

    /// Returns the primes of a range of limbs.
    pub fn moduli(&self, limbs: Range<usize>) -> Vec<Modulus> {
        self.tables[limbs].iter().map(|t| *t.modulus()).collect()
    }

    /// Returns the transform of a limb.
    #[inline]
    pub fn table(&self, limb: usize) -> &NttTable {
        &self.tables[limb]
    }

    /// Returns the kernels that this ring's polynomials run on.
    #[inline]
    pub fn kernels(&self) -> &Kernels {
        &self.target.kernels
    }

    /// Returns the target that was chosen when the ring was made.
    #[inline]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns log2 of the product of a range of limbs.
    pub fn product_bits(&self, limbs: Range<usize>) -> f64 {
        self.tables[limbs].iter().map(|t| (t.modulus().value() as f64).log2()).sum()
    }

    /// Returns the product of these primes modulo m.
    pub fn product_modulo(&self, limbs: Range<usize>, m: &Modulus) -> u64 {
        self.tables[limbs]
            .iter()
            .fold(m.reduce(1), |product, t| m.multiply(product, m.reduce(t.modulus().value())))
    }
}
