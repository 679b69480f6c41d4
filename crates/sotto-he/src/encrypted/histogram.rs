//! Histograms: encrypted power sums, counted by the owner after decryption.

use core::cell::RefCell;
use core::fmt;

use sotto_circuits::{Counted, Machine, PowerSums};

use super::work::{Operands, Operation, Outcome, run};
use super::{Encrypted, Facts};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::scheme::{Arithmetic, Exact};
use crate::secret::Secret;

/// Packs the power sums of groups of ciphertexts.
struct Sums<'a> {
    sums: &'a PowerSums,
    /// Ciphertexts whose counts fit the plain modulus together.
    group: usize,
    factors: RefCell<Vec<Vec<i64>>>,
}

impl<S: Arithmetic<Value = i64>> Operation<S> for Sums<'_> {
    fn run<M: Machine<Value = i64>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let mut factors = Vec::new();
        let mut packed = Vec::new();
        for group in operands[0].chunks(self.group) {
            let sums = self.sums.evaluate(machine, &group.iter().collect::<Vec<_>>())?;
            factors.push(sums.factors);
            packed.push(sums.vector);
        }
        self.factors.replace(factors);
        Ok(packed)
    }
}

/// The facts by which the owner counts.
#[derive(Clone, PartialEq)]
struct HistogramShape {
    sums: PowerSums,
    edges: Vec<i64>,
    /// Values of each group, and the factors of its power sums.
    groups: Vec<(u64, Vec<i64>)>,
    copies: u64,
}

/// Encrypted counts of a vector's values by bins: one ciphertext for each 65,536 values or fewer, whatever the bins.
/// [`Secret::decrypt_histogram`] counts.
///
/// Example: [`Encrypted::histogram`]
#[derive(Clone)]
pub struct Histogram<S: Arithmetic> {
    packed: Encrypted<S>,
    reading: HistogramShape,
}

impl<S: Arithmetic> fmt::Debug for Histogram<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Histogram({} bins; {})", self.reading.edges.len() - 1, self.packed.context)
    }
}

impl<S: Arithmetic> Histogram<S> {
    /// Writes the histogram, for [`Secret::decrypt_histogram_answer`].
    ///
    /// # Errors
    /// As [`Encrypted::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.packed.to_bytes()
    }

    /// Returns the edges of the bins.
    pub fn edges(&self) -> &[i64] {
        &self.reading.edges
    }
}

/// The plan of a histogram: [`Context::plan_histogram`].
///
/// Example: [`Context::plan_histogram`]
pub struct HistogramPlan<S: Arithmetic> {
    plan: Plan<S>,
    reading: HistogramShape,
}

impl<S: Arithmetic> fmt::Debug for HistogramPlan<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HistogramPlan({} bins; {})", self.reading.edges.len() - 1, self.plan.context())
    }
}

impl<S: Arithmetic> HistogramPlan<S> {
    /// Returns the plan of the computation: keys, work, bytes.
    pub fn plan(&self) -> &Plan<S> {
        &self.plan
    }
}

impl<S: Exact> Encrypted<S> {
    /// Counts the values by bins: bin i holds the values from `edges[i]` on and below `edges[i + 1]`, the last bin its upper
    /// edge too; other values are not counted. The cost depends on the range of the values alone, not on the edges.
    ///
    /// # Errors
    /// [`Error::Edges`] unless edges ascend; [`Error::Circuit`] for a range of more than 256 steps; [`Error::NoKeys`],
    /// [`Error::Depth`].
    ///
    /// ```
    /// use sotto::{Bgv, Context};
    ///
    /// let context = Context::<Bgv>::for_comparisons(0..=15)?;
    /// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[3, 12, 8, 9, 15, 0])?;
    /// let histogram = x.histogram(&[0, 8, 12, 15])?;
    /// assert_eq!(secret.decrypt_histogram(&histogram)?, [2, 2, 2]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn histogram(&self, edges: &[i64]) -> Result<Histogram<S>> {
        if edges.len() < 2 || !edges.is_sorted_by(|a, b| a < b) {
            return Err(Error::Edges);
        }
        let (slots, len) = (self.context.slots(), self.len());
        let full = len == slots * self.context.parts(len);
        let source =
            if full || self.facts.zero_padded { self.clone() } else { self.multiply_plain(&vec![1; len])? };
        let source = source.with_offset_in_slots()?;
        let sums = PowerSums::new(self.range())?;
        let modulus = self.context.params().plain_modulus();
        let group = usize::try_from((modulus - 1) / slots as u64).unwrap_or(usize::MAX).max(1);
        let work = Sums { sums: &sums, group, factors: RefCell::default() };
        let body = run(&[&source], &work)?;
        let factors = work.factors.into_inner();
        let copies = self.context.period(len).map_or(1, |period| slots / period) as u64;
        let of_group = |place: usize| (len - place * group * slots).min(group * slots) as u64;
        let groups: Vec<_> = factors.into_iter().enumerate().map(|(i, f)| (of_group(i), f)).collect();
        let magnitude = ((modulus - 1) / 2) as f64;
        let facts = Facts { len: groups.len() * slots, zero_padded: false, unit: 1.0, ..self.facts.clone() }
            .within_slots(magnitude)?;
        let packed = Self::new(&self.context, facts, body).for_answer()?;
        Ok(Histogram { packed, reading: HistogramShape { sums, edges: edges.to_vec(), groups, copies } })
    }
}

impl<S: Arithmetic<Value = i64>> Context<S> {
    /// Runs a computation that ends in a histogram dry, as [`Context::plan`].
    ///
    /// # Errors
    /// As [`Context::plan`].
    ///
    /// ```
    /// use sotto::{Bfv, Context, Public};
    ///
    /// let context = Context::<Bfv>::for_comparisons(0..=15)?;
    /// let plan = context.plan_histogram(&[5], |x| x[0].histogram(&[0, 8, 16]))?;
    /// let (secret, public) = context.keys_for(plan.plan(), &mut sotto::secure_rng()?)?;
    /// let (keys, data) = (public.to_bytes(), secret.encrypt_to_bytes(&[3, 12, 8, 9, 15])?);
    /// // The cloud.
    /// let answer = Public::<Bfv>::from_bytes(&keys)?.read(&data)?.histogram(&[0, 8, 16])?.to_bytes()?;
    /// // The owner.
    /// assert_eq!(secret.decrypt_histogram_answer(&answer, &plan)?, [1, 4]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn plan_histogram(
        &self,
        lengths: &[usize],
        computation: impl FnOnce(&[Encrypted<S>]) -> Result<Histogram<S>>,
    ) -> Result<HistogramPlan<S>> {
        let mut reading = None;
        let plan = self.plan(lengths, |inputs| {
            let histogram = computation(inputs)?;
            reading = Some(histogram.reading);
            Ok(histogram.packed)
        })?;
        Ok(HistogramPlan { plan, reading: reading.ok_or(Error::DryRun)? })
    }
}

impl<S: Arithmetic<Value = i64>> Secret<S> {
    /// Decrypts a histogram that was computed in this process: the count of each bin.
    ///
    /// # Errors
    /// [`Error::Claimed`] for one of a vector that came as bytes; [`Error::Circuit`] if no counts have the decrypted power
    /// sums; otherwise as [`Secret::decrypt`]. The example is that of [`Encrypted::histogram`].
    pub fn decrypt_histogram(&self, histogram: &Histogram<S>) -> Result<Vec<u64>> {
        self.counts(&histogram.reading, histogram.packed.computed_here()?)
    }

    /// Decrypts a histogram that came as bytes, after comparing its claims with the plan.
    ///
    /// # Errors
    /// As [`Secret::decrypt_answer`] and [`Secret::decrypt_histogram`]. The example is that of [`Context::plan_histogram`].
    pub fn decrypt_histogram_answer(&self, bytes: &[u8], plan: &HistogramPlan<S>) -> Result<Vec<u64>> {
        self.counts(&plan.reading, &self.planned(bytes, &plan.plan)?)
    }

    fn counts(&self, reading: &HistogramShape, parts: &[sotto_rlwe::Ciphertext<S>]) -> Result<Vec<u64>> {
        let modulus = self.context().params().plain_modulus();
        let mut bins = vec![0; reading.edges.len() - 1];
        let (first, _) = reading.sums.range().into_inner();
        for (polynomial, (total, factors)) in self.polynomials(parts)?.iter().zip(&reading.groups) {
            let facts = Counted { modulus, total: *total, copies: reading.copies, factors };
            let counts = reading.sums.counts(polynomial.coefficients(), &facts)?;
            for (value, count) in (first..).zip(counts) {
                if let Some(bin) = bin(&reading.edges, value) {
                    bins[bin] += count;
                }
            }
        }
        Ok(bins)
    }
}

/// Returns the bin of a value: [e0, e1), [e1, e2), …, [e_k-1, e_k].
fn bin(edges: &[i64], value: i64) -> Option<usize> {
    let last = edges.len() - 1;
    if value == edges[last] {
        return Some(last - 1);
    }
    let after = edges.partition_point(|edge| *edge <= value);
    (1..=last).contains(&after).then(|| after - 1)
}
