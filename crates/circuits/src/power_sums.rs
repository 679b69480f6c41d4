//! Histograms from encrypted power sums.
//!
//! S_k = Σ x^k over all slots, for every k below the number of steps, determines how often each step occurs: the count of
//! a step is Σ_k l_k·S_k, where l is the polynomial that is 1 at this step and 0 at the others. The owner computes that
//! after decryption, so the edges of bins cost nothing.
//!
//! The constant coefficient of a plaintext polynomial is 1/n times the sum of its slots. Constant coefficients of k
//! ciphertexts are packed into one with k − 1 automorphisms (Chen, Dai, Kim and Song, "Efficient Homomorphic Conversion
//! Between (Ring) LWE Ciphertexts", ACNS 2021, section 4), on few primes and without a rotation for any sum: if σ fixes
//! a subfield and σ(w) = −w for a power w of X, then (a + w·b) + σ(a − w·b) = (a + σ(a)) + w·(b + σ(b)).

use core::ops::RangeInclusive;

use sotto_ring::Modulus;

use crate::error::CircuitError;
use crate::machine::{Machine, require_keys};
use crate::table::Table;

/// Counts how often each whole number of a range occurs in all slots of one or more vectors: encrypted power sums in one
/// ciphertext, and the counts from them after decryption.
///
/// ```
/// use sotto_circuits::{Outline, PowerSums};
/// use sotto_rlwe::{Bgv, Origin, Params, Shape};
///
/// let params = Params::<Bgv>::default_chain(16384, 65_537)?;
/// let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0)?;
/// // 16 steps: 14 products, 15 automorphisms, 4 Galois keys.
/// let sums = PowerSums::new(0..=15)?;
/// let mut outline = Outline::new(&params);
/// let packed = sums.evaluate(&mut outline, &[&fresh])?.vector;
/// assert!(packed.room(&params) >= 0.0);
/// assert_eq!((outline.tally().products, outline.tally().rotations), (14, 15));
/// assert_eq!(outline.tally().steps, sums.rotations().into_iter().collect());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerSums {
    first: i64,
    steps: usize,
}

/// The result of [`PowerSums::evaluate`].
///
/// Example: [`PowerSums`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSums<V> {
    /// The packed polynomial.
    pub vector: V,
    /// The factor of each power sum modulo t. It follows from the levels of the computation alone: a dry run has the same.
    pub factors: Vec<i64>,
}

/// The public facts by which counts follow from power sums.
///
/// Example: [`PowerSums::counts`]
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The plain modulus t.
    pub modulus: u64,
    /// The number of values. Slots of padding hold 0 and are not among them.
    pub total: u64,
    /// How often each value stands in the slots: a power of two.
    pub copies: u64,
    /// [`PackedSums::factors`].
    pub factors: &'a [i64],
}

/// The first automorphism, X → X^9, fixes the fourth part of the coefficients that the packing leaves alone.
const FIRST_STAGE: usize = 3;
/// Bits by which the noise bound grows at most in a stage of the packing, and bits that are left for the answer.
const BITS_A_STAGE: f64 = 2.0;
const LEAST_ROOM: f64 = 6.0;

impl PowerSums {
    /// Makes the power sums of values of a range.
    ///
    /// # Errors
    /// [`CircuitError::TableRange`] for an empty range or one of more than 256 steps.
    pub fn new(range: RangeInclusive<i64>) -> Result<Self, CircuitError> {
        let most = Table::MOST_STEPS.div_ceil(2);
        let steps = range.end().abs_diff(*range.start()).saturating_add(1);
        if range.is_empty() || steps > most as u64 {
            let steps = if range.is_empty() { 0 } else { usize::try_from(steps).unwrap_or(usize::MAX) };
            return Err(CircuitError::TableRange { steps, most });
        }
        Ok(Self { first: *range.start(), steps: steps as usize })
    }

    /// Returns the values that the sums are over.
    pub fn range(&self) -> RangeInclusive<i64> {
        self.first..=self.first + (self.steps as i64 - 1)
    }

    /// Returns the stages of the packing: ⌈log2 steps⌉.
    fn stages(&self) -> usize {
        crate::powers::depth(self.steps)
    }

    /// Returns the rotations whose Galois keys are needed.
    pub fn rotations(&self) -> Vec<i32> {
        (0..self.stages()).map(|stage| 2 << stage).collect()
    }

    /// Returns the place of S_k among the coefficients of the packed polynomial.
    fn place(&self, power: usize, degree: usize) -> usize {
        (0..self.stages()).filter(|bit| power >> bit & 1 == 1).map(|bit| degree >> self.stage(bit)).sum()
    }

    /// Returns the stage that joins exponents which differ in this bit. X^(n/2^stage) changes its sign there.
    fn stage(&self, bit: usize) -> usize {
        FIRST_STAGE + self.stages() - 1 - bit
    }

    /// Returns one vector whose coefficients hold the power sums of all slots of the vectors: [`PowerSums::counts`] reads
    /// them. Slots of 0 add nothing. Cost: steps − 2 products for each vector, of depth ⌈log2(steps − 1)⌉, and steps − 1
    /// automorphisms on few primes.
    ///
    /// # Errors
    /// [`CircuitError::Constant`] for a range of one step; [`CircuitError::MissingKeys`] for [`PowerSums::rotations`];
    /// [`CircuitError::NoCoefficients`] on a machine in the clear; the errors of products.
    pub fn evaluate<M: Machine<Value = i64>>(
        &self,
        machine: &mut M,
        vectors: &[&M::Vector],
    ) -> Result<PackedSums<M::Vector>, CircuitError> {
        let degree = machine.degree().ok_or(CircuitError::NoCoefficients)?;
        let first = vectors.first().ok_or(CircuitError::Empty("a histogram"))?;
        if self.steps < 2 {
            return Err(CircuitError::Constant);
        }
        require_keys(machine, &self.rotations())?;
        let level = machine.level_with_room(first, BITS_A_STAGE * self.stages() as f64 + LEAST_ROOM);
        let mut bases = vec![vectors.iter().map(|vector| machine.copy(vector)).collect::<Vec<_>>()];
        while 1 << bases.len() < self.steps {
            let squares = products(machine, &bases[bases.len() - 1], None)?;
            bases.push(squares);
        }
        let factors = vec![1; self.steps];
        let mut packing = Packing { sums: self, machine, degree, level, bases, factors };
        let packed = packing.packed(0, 0, None)?;
        packing.bases.into_iter().flatten().for_each(|vector| packing.machine.recycle(vector));
        let vector = packed.ok_or(CircuitError::Constant)?;
        Ok(PackedSums { vector, factors: packing.factors })
    }

    /// Returns how often each step of the range occurs, the first step first, from the coefficients of the decrypted
    /// polynomial.
    ///
    /// # Errors
    /// [`CircuitError::Counts`] for t values or more; [`CircuitError::PowerSums`] if no counts of `total` values have these
    /// sums; [`CircuitError::TableModulus`] unless t is a prime above the number of steps.
    ///
    /// ```
    /// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs")); }
    /// # use owner::Owner;
    /// use sotto_circuits::{Counted, Encrypted, PowerSums};
    /// use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
    ///
    /// let params = Params::<Bfv>::default_chain(8192, 65_537)?;
    /// let sums = PowerSums::new(-1..=2)?;
    /// # let owner = Owner::new(&params, 1);
    /// # let mut values = vec![-1; 8192];
    /// # values[..3].copy_from_slice(&[2, 2, 1]);
    /// # let plaintext = Bfv::encode_slots(&params, &values, params.top_level())?;
    /// # let readings = owner.encrypt(&plaintext, sotto_ring::Seed([1; 24]))?.expand();
    /// # let keys = owner.evaluation_keys(&sums.rotations());
    /// // `readings` encrypts 2, 2, 1 and 8,189 times −1.
    /// let evaluator = Evaluator::new(&params);
    /// let packed = sums.evaluate(&mut Encrypted::new(&evaluator, &keys), &[&readings])?;
    /// // The owner decrypts the polynomial.
    /// let polynomial = owner.decrypt(&packed.vector);
    /// let facts = Counted { modulus: 65_537, total: 8192, copies: 1, factors: &packed.factors };
    /// assert_eq!(sums.counts(polynomial.coefficients(), &facts)?, [8189, 0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn counts(&self, coefficients: &[i64], facts: &Counted<'_>) -> Result<Vec<u64>, CircuitError> {
        let Counted { modulus, total, copies, factors } = *facts;
        let (steps, degree) = (self.steps, coefficients.len());
        let refused = CircuitError::TableModulus { modulus, steps };
        let t = Modulus::new(modulus).map_err(|_| refused.clone())?;
        if total >= modulus {
            return Err(CircuitError::Counts { total, modulus });
        }
        let inverse = |x: u64| t.invert_vartime(t.reduce(x)).ok_or_else(|| refused.clone());
        // A coefficient holds 2^stages/n times a sum of n slots, each value of them `copies` times.
        let scale = t.multiply(t.reduce(degree as u64), inverse((1 << self.stages()) * copies)?);
        let mut sums = Vec::with_capacity(steps);
        for (k, factor) in (0..steps).zip(factors) {
            let coefficient = t.from_signed(coefficients[self.place(k, degree)]);
            let factor = inverse(t.from_signed(*factor))?;
            sums.push(t.multiply(coefficient, t.multiply(scale, factor)));
        }
        if sums.len() < steps || steps == 0 {
            return Err(CircuitError::PowerSums { total, steps });
        }
        sums[0] = total;
        let points: Vec<u64> = self.range().map(|x| t.from_signed(x)).collect();
        let counts = points.iter().map(|x| count(&t, &points, *x, &sums)).collect::<Option<Vec<u64>>>();
        let counts = counts.ok_or(refused)?;
        // Honest counts are below t and add up to the total, not only modulo t.
        let sum = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        if sum == total { Ok(counts) } else { Err(CircuitError::PowerSums { total, steps }) }
    }
}

/// Returns Σ_k l_k·S_k with the polynomial l that is 1 at x and 0 at the other points; None if two points are equal.
fn count(t: &Modulus, points: &[u64], x: u64, sums: &[u64]) -> Option<u64> {
    // The product of X − y over all other points, from the highest coefficient down, and its value at x.
    let mut coefficients = vec![0; points.len()];
    coefficients[0] = 1;
    let mut value = 1;
    for (degree, y) in points.iter().filter(|y| **y != x).enumerate() {
        for power in (0..=degree + 1).rev() {
            let lower = if power == 0 { 0 } else { coefficients[power - 1] };
            coefficients[power] = t.subtract(lower, t.multiply(*y, coefficients[power]));
        }
        value = t.multiply(value, t.subtract(x, *y));
    }
    let weighted = coefficients.iter().zip(sums).fold(0, |sum, (c, s)| t.add(sum, t.multiply(*c, *s)));
    Some(t.multiply(weighted, t.invert_vartime(value)?))
}

/// Returns a·b for each vector of two lists, or squares.
fn products<M: Machine>(
    machine: &mut M,
    a: &[M::Vector],
    b: Option<&[M::Vector]>,
) -> Result<Vec<M::Vector>, CircuitError> {
    let mut all = Vec::with_capacity(a.len());
    for (i, left) in a.iter().enumerate() {
        let right = b.map_or(left, |b| &b[i]);
        let level = machine.thrifty_level(left, right)?;
        let low = machine.lower(left, level)?;
        let product = match b {
            None => machine.sum_of_products_to_multiply(&[(&low, &low)])?,
            Some(_) => {
                let other = machine.lower(right, level)?;
                let product = machine.sum_of_products_to_multiply(&[(&low, &other)])?;
                machine.recycle(other);
                product
            }
        };
        machine.recycle(low);
        all.push(product);
    }
    Ok(all)
}

/// The recursion over the bits of exponents, lowest first. It holds one power for each bit, and x^(2^i).
struct Packing<'a, M: Machine> {
    sums: &'a PowerSums,
    machine: &'a mut M,
    degree: usize,
    level: usize,
    /// x^(2^i), of every vector.
    bases: Vec<Vec<M::Vector>>,
    factors: Vec<i64>,
}

impl<M: Machine<Value = i64>> Packing<'_, M> {
    /// Packs the sums of all exponents whose lowest `bit` bits are those of `power`; None if there is none but 0, whose sum
    /// is public. `values` is x^power of every vector, None for 0.
    fn packed(
        &mut self,
        bit: usize,
        power: usize,
        values: Option<&[M::Vector]>,
    ) -> Result<Option<M::Vector>, CircuitError> {
        if bit == self.sums.stages() {
            return values.map(|values| self.total(power, values)).transpose();
        }
        let low = self.packed(bit + 1, power, values)?;
        let further = power + (1 << bit);
        if further >= self.sums.steps {
            // Its partner is missing: the stage is the sum with the automorphism alone.
            return low.map(|low| self.joined(bit, Some(low), None)).transpose();
        }
        let own;
        let next = match values {
            None => &self.bases[bit],
            Some(values) => {
                own = products(self.machine, &self.bases[bit], Some(values))?;
                &own
            }
        };
        let next: Vec<M::Vector> = next.iter().map(|vector| self.machine.copy(vector)).collect();
        let high = self.packed(bit + 1, further, Some(&next))?;
        next.into_iter().for_each(|vector| self.machine.recycle(vector));
        Ok(Some(self.joined(bit, low, high)?))
    }

    /// Returns the sum of all vectors at the level of the packing, and notes its factor.
    fn total(&mut self, power: usize, values: &[M::Vector]) -> Result<M::Vector, CircuitError> {
        let mut total: Option<M::Vector> = None;
        for value in values {
            let term = self.machine.lower(value, self.level)?;
            total = Some(match total {
                None => term,
                Some(sum) => {
                    let both = self.machine.add(&sum, &term)?;
                    self.machine.recycle(sum);
                    self.machine.recycle(term);
                    both
                }
            });
        }
        let mut total = total.ok_or(CircuitError::Empty("a histogram"))?;
        self.factors[power] = self.machine.replace_factor(&mut total, 1);
        Ok(total)
    }

    /// Returns (low + w·high) + σ(low − w·high).
    fn joined(
        &mut self,
        bit: usize,
        low: Option<M::Vector>,
        high: Option<M::Vector>,
    ) -> Result<M::Vector, CircuitError> {
        let machine = &mut *self.machine;
        let stage = self.sums.stage(bit);
        let moved = match &high {
            Some(high) => Some(machine.multiply_monomial(high, self.degree >> stage)?),
            None => None,
        };
        let (sum, difference) = match (&low, &moved) {
            (Some(low), Some(moved)) => (machine.add(low, moved)?, machine.subtract(low, moved)?),
            (Some(low), None) => (machine.copy(low), machine.copy(low)),
            (None, Some(moved)) => (machine.copy(moved), machine.negate(moved)?),
            (None, None) => return Err(CircuitError::Empty("a histogram")),
        };
        let turned = machine.rotate(&difference, 1 << (stage - 2))?;
        let joined = machine.add(&sum, &turned)?;
        [low, high, moved, Some(sum), Some(difference), Some(turned)]
            .into_iter()
            .flatten()
            .for_each(|vector| machine.recycle(vector));
        Ok(joined)
    }
}
