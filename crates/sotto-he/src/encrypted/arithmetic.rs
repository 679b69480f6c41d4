//! Sums, differences and products, value by value.

use sotto_rlwe::small_integer;

use super::crossed::Kind;
use super::offset::Offset;
use super::slotwise::{Combined, Product, Scaled, Shifted, Weighted};
use super::work::{check, decodes, run};
use super::{Encrypted, Facts};
use crate::error::{Error, Result};
use crate::scheme::{Arithmetic, Real};

impl<S: Arithmetic> Encrypted<S> {
    /// a + b, or a − b.
    pub(crate) fn combined(&self, other: &Self, subtract: bool) -> Result<Self> {
        if let Some(sum) = self.beside_public(other, subtract)? {
            return Ok(sum);
        }
        let (a, b) = (&self.facts, &other.facts);
        let joined = self.joined(other)?;
        let padded = a.zero_padded && b.zero_padded && a.len == b.len;
        let (encrypted, magnitude) = (a.encrypted + b.encrypted, a.magnitude + b.magnitude);
        let offset = if subtract { a.offset.minus(&b.offset) } else { a.offset.plus(&b.offset) };
        let joined = Facts { zero_padded: padded, encrypted, magnitude, offset, ..joined };
        let sign = if subtract { -1.0 } else { 1.0 };
        // Slots of b in the unit of a, or the reverse. Whole ratios cost no level, others one of the vector that has it.
        let ratio = sign * b.unit / a.unit;
        let candidates = [
            (small_integer(ratio).is_some() && ratio != 0.0).then_some((1.0, ratio, a.unit)),
            small_integer(1.0 / ratio).is_some().then_some((1.0 / ratio, 1.0, sign * b.unit)),
            (ratio.abs() <= 1.0).then_some((1.0, ratio, a.unit)),
            (ratio.abs() > 0.0).then_some((1.0 / ratio, 1.0, sign * b.unit)),
            (ratio.abs() > 1.0).then_some((1.0, ratio, a.unit)),
        ];
        // Slots that together outgrow the bits that decryption decodes shrink first.
        let within = encrypted.max(a.unit.abs()).log2().ceil().exp2();
        let shrunk = (a.unit / within, sign * b.unit / within, within);
        let shrunk = (!S::EXACT).then_some(shrunk).into_iter();
        let mut refusal = None;
        for (left, right, unit) in candidates.into_iter().flatten().chain(shrunk) {
            let work = Combined { left: S::number(left), right: S::number(right) };
            match check(&[self, other], &work) {
                Ok(()) => {
                    let facts = Facts { unit, ..joined }.finite()?;
                    let facts = Facts { range: combined_range(a, b, subtract), ..facts };
                    let body = run(&[self, other], &work)?;
                    return Ok(Self::new(&self.context, facts, body));
                }
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or(Error::Mixed))
    }

    /// a · b.
    pub(crate) fn product(&self, other: &Self) -> Result<Self> {
        match self.times_public(other)? {
            Some(product) => Ok(product),
            None => self.crossed(other, Kind::Slots),
        }
    }

    /// a · b of vectors without an offset. Slots that would outgrow the bits that decryption decodes are shrunk first, by the
    /// bits that lack, which takes a level; of a square both factors.
    pub(super) fn slots_product(&self, other: &Self) -> Result<Self> {
        let slots = self.facts.slots_within();
        if S::EXACT || slots <= 1.0 {
            return self.multiplied(other);
        }
        let refusal = match self.multiplied_dry(other) {
            Err(error) if error.is_room() => error,
            _ => return self.multiplied(other),
        };
        let square = core::ptr::eq(self, other);
        let dry = self.outlined();
        let shrinks = |bits: &u32| {
            let left = dry.shrunk_by(*bits)?;
            let product =
                if square { left.multiplied_dry(&left) } else { left.multiplied_dry(&other.outlined()) };
            Ok::<_, Error>(product?.leaves_room())
        };
        let most = slots.log2().ceil() as u32;
        let bits = (1..=most).find(|bits| shrinks(bits).unwrap_or(false)).unwrap_or(most);
        let left = self.shrunk_by(bits).map_err(|_| refusal)?;
        if square { left.multiplied(&left) } else { left.multiplied(other) }
    }

    /// The product without computing; refused if decryption could not decode it.
    pub(super) fn multiplied_dry(&self, other: &Self) -> Result<Self> {
        let product = self.outlined().multiplied(&other.outlined())?;
        product.shapes().iter().try_for_each(|shape| decodes(self.context.params(), shape))?;
        Ok(product)
    }

    /// The same values, in slots within ±1.
    pub(super) fn shrunk(&self, slots: f64) -> Result<Self> {
        self.shrunk_by(slots.log2().ceil().max(0.0) as u32)
    }

    /// The same values, in slots that are smaller by a power of two.
    fn shrunk_by(&self, bits: u32) -> Result<Self> {
        let factor = (-f64::from(bits)).exp2();
        let facts = Facts { unit: self.facts.unit / factor, ..self.facts.clone() }.finite()?;
        Self::computed(facts, &[self], &Scaled(S::number(factor)))
    }

    pub(super) fn multiplied(&self, other: &Self) -> Result<Self> {
        let facts = self.product_facts(other)?;
        Self::computed(facts, &[self, other], &Product)
    }

    /// The facts of a · b without offsets. A repeated value fills the padding too, so it clears no padding of the other.
    pub(super) fn product_facts(&self, other: &Self) -> Result<Facts> {
        let (a, b) = (&self.facts, &other.facts);
        let joined = self.joined(other)?;
        let clears = |facts: &Facts| facts.zero_padded && facts.len == joined.len;
        let zero_padded = clears(a) || clears(b);
        Facts { zero_padded, unit: a.unit * b.unit, ..joined }.within_slots(a.encrypted * b.encrypted)
    }

    /// −a: the unit changes its sign, whole numbers are negated.
    pub(crate) fn negated(&self) -> Result<Self> {
        self.scaled(S::number(-1.0))
    }

    /// a · a public value.
    pub(crate) fn scaled(&self, value: S::Value) -> Result<Self> {
        let real = Into::<Real>::into(value).0;
        if !real.is_finite() {
            return Err(Error::Value { index: 0, within: f64::MAX });
        }
        if real == 0.0 {
            return Ok(self.zeros(self.facts.len));
        }
        let facts = &self.facts;
        let offset = facts.offset.times(&Offset::every(real));
        if facts.is_public() {
            return self.public(facts.len, offset);
        }
        let (encrypted, magnitude) = (facts.encrypted * real.abs(), facts.magnitude * real.abs());
        let facts = Facts { encrypted, magnitude, offset, ..facts.clone() };
        if !S::EXACT {
            let facts = Facts { unit: facts.unit * real, ..facts }.finite()?;
            return Ok(Self { facts, ..self.clone() });
        }
        let body = run(&[self], &Scaled(value))?;
        Ok(Self::new(&self.context, facts.finite()?, body))
    }

    /// Adds to the bound on public numbers the rounding of a factor that they were multiplied by, as of a reciprocal. None
    /// without such numbers: bounds on encrypted values have room for it.
    #[doc(hidden)]
    pub fn with_rounded_factor(&self) -> Option<Self> {
        let error = self.facts.offset.largest() * f64::EPSILON;
        (error > 0.0).then(|| {
            let mut result = self.clone();
            result.facts.offset.add_error(error);
            result
        })
    }

    /// a + a public value.
    pub(crate) fn shifted(&self, value: S::Value) -> Result<Self> {
        if S::EXACT && !self.facts.is_public() {
            return self.add_plain(&vec![value; self.facts.len]);
        }
        let real = Into::<Real>::into(value).0;
        if !real.is_finite() {
            return Err(Error::Value { index: 0, within: f64::MAX });
        }
        self.plus_offset(&Offset::every(real), self.facts.len)
    }

    /// a + a public vector: real numbers beside the slots, whole numbers in them.
    pub(crate) fn add_plain(&self, values: &[S::Value]) -> Result<Self> {
        let (facts, largest) = self.joined_with_plain(values)?;
        if S::EXACT && !self.facts.is_public() {
            return self.add_to_slots(values, largest);
        }
        self.plus_offset(&Offset::each::<S>(values), facts.len)
    }

    /// a + public values, in slots.
    pub(super) fn add_to_slots(&self, values: &[S::Value], largest: f64) -> Result<Self> {
        let (facts, _) = self.joined_with_plain(values)?;
        let work = self.shift(&S::divided(values, self.facts.unit));
        let facts = facts.within_slots(self.facts.encrypted + largest)?;
        Self::computed(facts, &[self], &work)
    }

    /// The operation that adds public slots.
    pub(super) fn shift(&self, slots: &[S::Value]) -> Shifted<S::Value> {
        match slots {
            [value] => Shifted::every(*value),
            _ => Shifted::slots(self.by_part(slots)),
        }
    }

    /// a · a public vector.
    pub(crate) fn multiply_plain(&self, values: &[S::Value]) -> Result<Self> {
        self.multiply_plain_within(values, 1.0)
    }

    /// Like [`Encrypted::multiply_plain`], with slots of real numbers that are smaller by `shrink`.
    pub(super) fn multiply_plain_within(&self, values: &[S::Value], shrink: f64) -> Result<Self> {
        let (facts, largest) = self.joined_with_plain(values)?;
        if largest == 0.0 {
            return Ok(self.zeros(facts.len));
        }
        if let [value] = values {
            return self.scaled(*value);
        }
        let offset = if self.facts.offset.is_none() {
            Offset::default()
        } else {
            self.facts.offset.times(&Offset::each::<S>(values))
        };
        if self.facts.is_public() {
            return self.public(facts.len, offset);
        }
        // A power of two: sums with vectors of other such units need no level.
        let weight = if S::EXACT { 1.0 } else { largest.log2().ceil().exp2() * shrink };
        let facts = Facts {
            zero_padded: true,
            unit: self.facts.unit * weight,
            encrypted: self.facts.encrypted * largest,
            magnitude: self.facts.magnitude * largest,
            offset,
            ..facts
        };
        let slots = self.by_part(&S::divided(values, weight));
        let work = Weighted { slots, params: self.context.params(), within: self.facts.slots_within() };
        Self::computed(facts.finite()?, &[self], &work)
    }

    fn by_part(&self, slots: &[S::Value]) -> Vec<Vec<S::Value>> {
        slots.chunks(self.context.slots()).map(|part| self.context.filled(part, slots.len())).collect()
    }

    /// Length and layout of the result with another vector; no offset.
    pub(super) fn joined(&self, other: &Self) -> Result<Facts> {
        let (a, b) = (&self.facts, &other.facts);
        if self.context != other.context {
            return Err(Error::Mixed);
        }
        match (a.len, b.len) {
            (1, _) => Ok(b.without_offset()),
            (_, 1) => Ok(a.without_offset()),
            (left, right) if left == right => Ok(a.without_offset()),
            (left, right) => Err(Error::Length { left, right }),
        }
    }

    /// Length and layout of the result with a public vector, without the offset, and its largest absolute value.
    fn joined_with_plain(&self, values: &[S::Value]) -> Result<(Facts, f64)> {
        let real = |value: &S::Value| Into::<Real>::into(*value).0;
        if let Some(index) = values.iter().position(|value| !real(value).is_finite()) {
            return Err(Error::Value { index, within: f64::MAX });
        }
        let largest = values.iter().map(|value| real(value).abs()).fold(0.0, f64::max);
        let facts = self.facts.without_offset();
        if facts.len == 1 && values.len() > 1 {
            let fresh = Facts::fresh(&self.context, values.len())?;
            return Ok((Facts { len: fresh.len, zero_padded: false, ..facts }, largest));
        }
        if values.len() != facts.len {
            return Err(Error::Length { left: facts.len, right: values.len() });
        }
        Ok((facts, largest))
    }
}

/// Returns the range of a ± b; None without one of both.
fn combined_range(a: &Facts, b: &Facts, subtract: bool) -> Option<(i64, i64)> {
    let ((a0, a1), (b0, b1)) = (a.range?, b.range?);
    let (b0, b1) = if subtract { (b1.checked_neg()?, b0.checked_neg()?) } else { (b0, b1) };
    Some((a0.checked_add(b0)?, a1.checked_add(b1)?))
}

impl Facts {
    /// Refuses bounds beyond f64. The range follows from the bound until a tighter one is set.
    pub(super) fn finite(mut self) -> Result<Self> {
        let whole = self.encrypted + self.offset.largest();
        self.magnitude = self.magnitude.min(whole);
        if self.offset.is_zero() {
            self.encrypted = self.encrypted.min(self.magnitude);
        }
        if self.unit.is_normal() && whole.is_finite() {
            return Ok(Self { range: None, ..self });
        }
        Err(Error::Value { index: 0, within: f64::MAX })
    }

    /// The facts of slots whose values, with the unit, are within ±`encrypted`, and no offset.
    pub(super) fn within_slots(self, encrypted: f64) -> Result<Self> {
        Self { encrypted, magnitude: encrypted, offset: Offset::default(), ..self }.finite()
    }
}
