//! Encrypted vectors.

mod arithmetic;
mod body;
mod circuits;
mod comparisons;
mod crossed;
mod dot;
mod histogram;
mod moments;
mod offset;
mod operators;
mod public;
mod schedule;
mod select;
mod shrink;
mod slotwise;
mod sums;
mod tables;
mod weighted;
mod work;

use core::fmt;
use std::sync::Arc;

use sotto_ring::Seed;
use sotto_rlwe::{Ciphertext, EvalError, Seeded, Shape};
use sotto_wire::{AnyCiphertext, MOST_PARTS, VectorHeader, write_vector};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;

pub(crate) use body::{Body, claimed_errors, fresh_errors, slot_errors};
pub use histogram::{Histogram, HistogramPlan};
pub(crate) use work::decodes;

use offset::Offset;
use work::{Operation, run};

/// An encrypted vector of a known length. Operators on references and owned vectors work slot by slot and return a
/// [`Result`]; a vector of length 1, like a sum, goes with vectors of every length. Levels, scales,
/// relinearisation and padding are managed.
///
/// Public real numbers of any finite size are added beside the slots, at no level and without a loss of accuracy; products
/// of such vectors are multiplied out where the slots do not hold the numbers. Values that follow from public numbers alone
/// (`x * 0 + 5`) decrypt to these numbers.
///
/// ```
/// use sotto::{Ckks, Context};
///
/// let context = Context::<Ckks>::for_depth(2)?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// let x = secret.encrypt(&[1.0, 2.0, 3.0])?;
/// let y = secret.encrypt(&[0.5, 0.5, 0.5])?;
/// let centred = (&x - &x.mean()?)?;
/// let z = ((2.0 * &centred)? + (&y * &[1.0, 0.0, -1.0])?)?;
/// let found = secret.decrypt(&z)?;
/// for (value, exact) in found.values().iter().zip([-1.5, 0.0, 1.5]) {
///     assert!((value - exact).abs() <= found.bound());
/// }
/// # Ok::<(), sotto::Error>(())
/// ```
#[derive(Clone)]
pub struct Encrypted<S: Arithmetic> {
    pub(crate) context: Context<S>,
    pub(crate) facts: Facts,
    pub(crate) body: Body<S>,
    /// The seeds of the masks of fresh ciphertexts, one each: bytes hold them in place of the masks.
    seeds: Option<Arc<[Seed]>>,
}

/// The public facts of a vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) len: usize,
    /// All slots of the padding hold zero.
    pub(crate) zero_padded: bool,
    /// A value is its slot times the unit, plus the offset. 0: the offset alone.
    pub(crate) unit: f64,
    /// A bound on the absolute values of slots times the unit.
    pub(crate) encrypted: f64,
    /// A bound on the absolute values.
    pub(crate) magnitude: f64,
    /// The range of whole numbers, if it is known better than the bound.
    pub(crate) range: Option<(i64, i64)>,
    /// Public numbers beside the slots; of whole numbers only where the unit is 0.
    pub(crate) offset: Offset,
}

impl Facts {
    pub(crate) fn fresh<S: Arithmetic>(context: &Context<S>, len: usize) -> Result<Self> {
        let most = MOST_PARTS * context.slots();
        if !(1..=most).contains(&len) {
            return Err(Error::Count { found: len, most });
        }
        let magnitude = context.values_within();
        Ok(Self {
            len,
            zero_padded: true,
            unit: context.unit(),
            encrypted: magnitude,
            magnitude,
            range: context.0.range,
            offset: Offset::default(),
        })
    }

    /// Declares another bound: of whole numbers at most the context's, because the plain modulus follows from that.
    pub(crate) fn within<S: Arithmetic>(mut self, bound: f64) -> Result<Self> {
        if !bound.is_normal() || bound < 0.0 {
            return Err(Error::Bound(bound));
        }
        let bound = if S::EXACT { bound.min(self.magnitude) } else { bound };
        if !S::EXACT {
            // Every fresh slot is within the share of its unit that the context's bound takes.
            let share = self.slots_within();
            self.unit = bound.log2().ceil().exp2();
            while self.unit * share < bound {
                self.unit *= 2.0;
            }
        }
        let range = self.range;
        Ok(Self { range, ..self.within_slots(bound)? })
    }

    pub(crate) fn header(&self) -> VectorHeader {
        let Self { len, zero_padded, unit, encrypted, magnitude, .. } = *self;
        let offset = self.offset.header(encrypted);
        VectorHeader { len: len as u64, zero_padded, unit, magnitude, offset }
    }

    pub(crate) fn of_header(header: &VectorHeader) -> Result<Self> {
        let VectorHeader { len, zero_padded, unit, magnitude, .. } = *header;
        let len = usize::try_from(len).map_err(|_| Error::Count { found: usize::MAX, most: 1 << 28 })?;
        let (offset, encrypted) = Offset::of_header(&header.offset);
        let encrypted = encrypted.unwrap_or(magnitude);
        Ok(Self { len, zero_padded, unit, encrypted, magnitude, range: None, offset })
    }

    /// Returns the first and the last whole number that a value may be.
    pub(crate) fn limits(&self) -> (i64, i64) {
        // Larger bounds are refused where a table is made.
        let most = self.magnitude.min(1e15) as i64;
        let (first, last) = self.range.unwrap_or((-most, most));
        (first.max(-most), last.min(most))
    }
}

impl<S: Arithmetic> Encrypted<S> {
    pub(crate) fn new(context: &Context<S>, facts: Facts, body: Body<S>) -> Self {
        Self { context: context.clone(), facts, body, seeds: None }
    }

    /// A fresh encryption, whose masks expand from these seeds.
    pub(crate) fn fresh(context: &Context<S>, facts: Facts, body: Body<S>, seeds: Arc<[Seed]>) -> Self {
        Self { context: context.clone(), facts, body, seeds: Some(seeds) }
    }

    /// Returns the number of values.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.facts.len
    }

    /// Returns the context that it was encrypted in.
    pub fn context(&self) -> &Context<S> {
        &self.context
    }

    /// Returns a bound on the absolute value of every value, from the declared bound and the computation. It is public.
    pub fn magnitude(&self) -> f64 {
        self.facts.magnitude
    }

    /// Replaces the bound on the absolute values by a smaller one that the caller knows: decryption refuses values beyond
    /// it.
    #[must_use]
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        let facts = &mut self.facts;
        facts.magnitude = facts.magnitude.min(magnitude);
        facts.encrypted = facts.encrypted.min(magnitude + facts.offset.largest());
        self
    }

    /// Declares the bound of an input of a dry run, which stands for a vector of
    /// [`Secret::encrypt_within`](crate::Secret::encrypt_within).
    ///
    /// # Errors
    /// [`Error::Bound`] for a bound that is not a positive number.
    pub fn as_input_within(&self, bound: f64) -> Result<Self> {
        let facts = Facts::fresh(&self.context, self.len())?.within::<S>(bound)?;
        match self.body {
            Body::Dry { .. } => Ok(Self { facts, ..self.clone() }),
            Body::Real { .. } => Err(Error::Mixed),
        }
    }

    /// Returns the ciphertexts of a vector that was computed in this process.
    pub(crate) fn computed_here(&self) -> Result<&[Ciphertext<S>]> {
        match &self.body {
            Body::Dry { .. } => Err(Error::DryRun),
            Body::Real { claimed: true, .. } => Err(Error::Claimed),
            Body::Real { parts, .. } => Ok(parts),
        }
    }

    /// Returns the shapes of the parts.
    pub(crate) fn shapes(&self) -> Vec<Shape<S>> {
        self.body.shapes()
    }

    /// Returns a bound on the error of every slot of each part.
    pub(crate) fn slot_errors(&self) -> Vec<f64> {
        slot_errors(&self.context, self.facts.len, &self.shapes(), self.body.errors())
    }

    /// Returns the result of an operation on vectors of this context, with these facts.
    fn computed(facts: Facts, operands: &[&Self], work: &impl Operation<S>) -> Result<Self> {
        Ok(Self::new(&operands[0].context, facts, run(operands, work)?))
    }

    /// Returns the number of levels left. In CKKS and BGV a product takes one.
    pub fn levels_left(&self) -> usize {
        self.shapes().iter().map(|shape| shape.level).min().unwrap_or(0)
    }

    /// A bound on the error of every value, before rounding, by the shapes alone.
    pub(crate) fn largest_error(&self) -> f64 {
        let params = self.context.params();
        let slot = self.shapes().iter().map(|shape| shape.slot_error(params)).fold(0.0, f64::max);
        slot * self.facts.unit.abs() + self.facts.offset.error()
    }

    /// Returns the ciphertexts, for the layers below; none in a dry run.
    pub fn ciphertexts(&self) -> &[Ciphertext<S>] {
        match &self.body {
            Body::Real { parts, .. } => parts,
            Body::Dry { .. } => &[],
        }
    }

    /// Writes the vector: one frame, docs/concepts/wire.md. Ciphertexts of the secret key that nobody computed on take half
    /// the bytes: a seed stands for each mask.
    ///
    /// # Errors
    /// [`Error::DryRun`] in a dry run; [`Error::Circuit`] if the mask cancelled, as in x − x: everybody could read that.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let Body::Real { parts, .. } = &self.body else { return Err(Error::DryRun) };
        if parts.iter().any(Ciphertext::is_transparent) {
            return Err(EvalError::Transparent.into());
        }
        let frames: Vec<_> = match &self.seeds {
            Some(seeds) => {
                parts.iter().zip(&**seeds).map(|(part, seed)| seeded(part, *seed).write()).collect()
            }
            None => parts.iter().map(|part| AnyCiphertext::Expanded(part.clone()).write()).collect(),
        };
        Ok(write_vector(&self.facts.header(), &frames)?)
    }
}

/// Returns a fresh ciphertext in the form that travels.
fn seeded<S: Arithmetic>(part: &Ciphertext<S>, seed: Seed) -> AnyCiphertext<S> {
    AnyCiphertext::Seeded(Seeded {
        params: part.params().clone(),
        key: part.key(),
        shape: *part.shape(),
        body: part.components()[0].clone(),
        seed,
    })
}

impl<S: Arithmetic> fmt::Debug for Encrypted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self.body, Body::Dry { .. }) { "dry run of " } else { "" };
        write!(f, "Encrypted({kind}{} values; {})", self.facts.len, self.context)
    }
}
