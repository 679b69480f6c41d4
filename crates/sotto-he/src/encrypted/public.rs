//! Vectors whose values are public: x·0, a mask of zeros, and sums of them with public numbers. Nobody computes such values
//! on ciphertexts: the vector keeps the ciphertexts of its operand, its unit is 0, and its values are its offset.

use std::borrow::Cow;

use super::offset::Offset;
use super::work::{Operands, Operation, Outcome};
use super::{Body, Encrypted, Facts};
use crate::answer::ROUNDING;
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;
use sotto_circuits::Machine;
use sotto_rlwe::Params;

/// Whole numbers of public vectors are exact in f64 up to this.
const MOST_WHOLE: f64 = (1_u64 << 53) as f64;

/// Encryptions of zero, made from other ciphertexts.
struct Emptied<'a, S: Arithmetic> {
    params: &'a Params<S>,
    within: f64,
}

impl<S: Arithmetic> Operation<S> for Emptied<'_, S> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        operands[0].iter().map(|part| S::emptied(self.params, machine, part, self.within)).collect()
    }
}

impl Facts {
    /// True if every value is public: the offset.
    pub(crate) fn is_public(&self) -> bool {
        self.unit == 0.0
    }

    /// A bound on the absolute values of the slots.
    pub(crate) fn slots_within(&self) -> f64 {
        self.encrypted / self.unit.abs()
    }

    /// A bound on the error of decrypted values beyond that of their slots: that of arithmetic in f64.
    pub(crate) fn rounding<S: Arithmetic>(&self) -> f64 {
        match S::EXACT || self.is_public() {
            true => self.offset.error(),
            false => {
                self.offset.error() + ROUNDING * self.magnitude.max(self.encrypted + self.offset.largest())
            }
        }
    }

    /// The facts of the same values in slots alone.
    fn with_offset_encrypted(&self) -> Self {
        Self { encrypted: self.magnitude, offset: Offset::default(), ..self.clone() }
    }

    /// The facts without the offset.
    pub(super) fn without_offset(&self) -> Self {
        let none = self.offset.is_none();
        let magnitude = if none { self.magnitude } else { self.encrypted };
        let range = self.range.filter(|_| none);
        Self { magnitude, range, offset: Offset::default(), ..self.clone() }
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// The vector of `len` zeros, with as many ciphertexts as any other of this length.
    pub(super) fn zeros(&self, len: usize) -> Self {
        let facts = Facts {
            len,
            zero_padded: true,
            unit: 0.0,
            encrypted: 0.0,
            magnitude: 0.0,
            range: Some((0, 0)),
            offset: Offset::default(),
        };
        Self::new(&self.context, facts, self.repeated(self.context.parts(len)))
    }

    /// A vector of these public values.
    pub(super) fn public(&self, len: usize, offset: Offset) -> Result<Self> {
        let magnitude = offset.largest();
        if !magnitude.is_finite() {
            return Err(Error::Value { index: 0, within: f64::MAX });
        }
        if S::EXACT && magnitude > MOST_WHOLE {
            return Err(Error::PublicWhole { magnitude });
        }
        let range = S::EXACT.then(|| {
            let values = (0..len).map(|index| offset.at(index) as i64);
            values.fold((i64::MAX, i64::MIN), |(first, last), value| (first.min(value), last.max(value)))
        });
        let mut public = self.zeros(len);
        public.facts = Facts { magnitude, range, offset, ..public.facts };
        Ok(public)
    }

    fn repeated(&self, count: usize) -> Body<S> {
        fn cycled<T: Clone>(parts: &[T], count: usize) -> Vec<T> {
            parts.iter().cycle().take(count).cloned().collect()
        }
        match &self.body {
            Body::Dry { parts, errors, tally } => {
                let (parts, errors) = (cycled(parts, count), cycled(errors, count));
                Body::Dry { parts, errors, tally: tally.clone() }
            }
            Body::Real { parts, errors, keys, claimed } => {
                let (parts, errors) = (cycled(parts, count), cycled(errors, count));
                Body::Real { parts, errors, keys: keys.clone(), claimed: *claimed }
            }
        }
    }

    /// The vector, or a single value repeated `len` times: every slot of its ciphertext holds it.
    fn spread(&self, len: usize) -> Self {
        if self.facts.len == len {
            return self.clone();
        }
        let facts = Facts { len, zero_padded: false, ..self.facts.clone() };
        Self::new(&self.context, facts, self.repeated(self.context.parts(len)))
    }

    /// The encrypted part alone.
    pub(super) fn without_offset(&self) -> Cow<'_, Self> {
        if self.facts.offset.is_none() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { facts: self.facts.without_offset(), ..self.clone() })
    }

    /// Adds public numbers for `len` values, beside the slots where the scheme allows that.
    pub(super) fn plus_offset(&self, offset: &Offset, len: usize) -> Result<Self> {
        if self.facts.is_public() {
            return self.public(len, self.facts.offset.plus(offset));
        }
        let mut result = self.spread(len);
        if S::EXACT {
            if offset.is_zero() {
                return Ok(result);
            }
            return result.add_to_slots(&offset.values::<S>(len), offset.largest());
        }
        if !offset.is_none() {
            result.facts.magnitude += offset.largest();
            result.facts.offset = result.facts.offset.plus(offset);
            result.facts = result.facts.finite()?;
        }
        Ok(result)
    }

    /// The sum or difference with a public vector, which takes no work; None if neither vector is one.
    pub(super) fn beside_public(&self, other: &Self, subtract: bool) -> Result<Option<Self>> {
        let len = self.joined(other)?.len;
        let signed = |offset: &Offset| match subtract {
            true => Offset::default().minus(offset),
            false => offset.clone(),
        };
        Ok(match (self.facts.is_public(), other.facts.is_public()) {
            (false, false) => None,
            (_, true) => Some(self.plus_offset(&signed(&other.facts.offset), len)?),
            (true, false) if subtract => Some(other.negated()?.plus_offset(&self.facts.offset, len)?),
            (true, false) => Some(other.plus_offset(&self.facts.offset, len)?),
        })
    }

    /// The product with a public vector; None if neither vector is one.
    pub(super) fn times_public(&self, other: &Self) -> Result<Option<Self>> {
        let len = self.joined(other)?.len;
        Ok(match (self.facts.is_public(), other.facts.is_public()) {
            (false, false) => None,
            (_, true) => Some(self.times_offset(&other.facts.offset, len)?),
            (true, false) => Some(other.times_offset(&self.facts.offset, len)?),
        })
    }

    /// The product with public numbers for `len` values.
    pub(super) fn times_offset(&self, offset: &Offset, len: usize) -> Result<Self> {
        let mut product = match offset.shared() {
            Some(number) => self.scaled(S::number(number))?.spread(len),
            None => self.multiply_plain(&offset.values::<S>(len))?,
        };
        if offset.error() > 0.0 {
            product.facts.offset.add_error(offset.error() * self.facts.magnitude);
        }
        Ok(product)
    }

    /// The same values in slots alone, for functions of slots. A public vector becomes an encrypted one.
    ///
    /// # Errors
    /// [`Error::Constant`] for numbers that the slots do not hold.
    pub(super) fn with_offset_in_slots(&self) -> Result<Cow<'_, Self>> {
        let facts = &self.facts;
        if facts.is_public() {
            return Ok(Cow::Owned(self.emptied()?));
        }
        if facts.offset.is_none() {
            return Ok(Cow::Borrowed(self));
        }
        let facts = facts.with_offset_encrypted().finite()?;
        let offset = &self.facts.offset;
        let slots = S::divided(&offset.values::<S>(facts.len), facts.unit);
        let error = offset.error() / facts.unit.abs();
        let mut work = self.shift(&slots);
        work.error = (error > 0.0).then(|| (facts.slots_within(), error));
        Ok(Cow::Owned(Self::computed(facts, &[self], &work)?))
    }

    /// An encryption of the values of a public vector.
    fn emptied(&self) -> Result<Self> {
        let Facts { len, magnitude, .. } = self.facts;
        let unit = if S::EXACT || magnitude == 0.0 { 1.0 } else { magnitude.log2().ceil().exp2() };
        let params = self.context.params();
        // The messages of the operand are not known here; a shape bounds them.
        let within = self.shapes().iter().map(|shape| S::slot_bound(params, shape)).fold(0.0, f64::max);
        let facts = Facts { unit, ..self.facts.without_offset() }.finite()?;
        let zero = Self::computed(facts, &[self], &Emptied { params, within })?;
        if self.facts.offset.is_zero() {
            return Ok(zero);
        }
        zero.add_to_slots(&self.facts.offset.values::<S>(len), magnitude)
    }
}
