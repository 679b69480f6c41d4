//! Sums, differences and products, slot by slot.

use sotto_circuits::Machine;
use sotto_rlwe::small_integer;

use super::shrink::SPARE_BITS;
use super::work::{Operands, Operation, Outcome, check, decodes, run};
use super::{Encrypted, Facts};
use crate::error::{Error, Result};
use crate::scheme::{Arithmetic, Real};

/// a · `left` + b · `right`, of which a factor of 1 costs nothing.
struct Combined<V> {
    left: V,
    right: V,
}

impl<S: Arithmetic> Operation<S> for Combined<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let one = S::number(1.0);
        let minus_one = S::number(-1.0);
        pairs(operands)
            .map(|(a, b)| match (self.left == one, self.right == one) {
                (true, true) => machine.add(a, b),
                (true, false) if self.right == minus_one => machine.subtract(a, b),
                (true, false) => {
                    let b = machine.multiply_constant(b, self.right)?;
                    let sum = machine.add(a, &b)?;
                    machine.recycle(b);
                    Ok(sum)
                }
                (false, true) => {
                    let a = machine.multiply_constant(a, self.left)?;
                    let sum = machine.add(&a, b)?;
                    machine.recycle(a);
                    Ok(sum)
                }
                (false, false) => machine.weighted_sum(&[(a, self.left), (b, self.right)]),
            })
            .collect()
    }
}

struct Product;

impl<S: Arithmetic> Operation<S> for Product {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        pairs(operands).map(|(a, b)| machine.multiply(a, b)).collect()
    }
}

/// Parts that belong together; the one part of a repeated value goes with every part of the other.
pub(super) fn pairs<'a, V>(operands: &[&'a [V]]) -> impl Iterator<Item = (&'a V, &'a V)> {
    let (a, b) = (operands[0], operands[operands.len() - 1]);
    let count = a.len().max(b.len());
    (0..count).map(move |part| (&a[part.min(a.len() - 1)], &b[part.min(b.len() - 1)]))
}

/// Multiplies slots by a public value.
pub(super) struct Scaled<V>(pub(super) V);

impl<S: Arithmetic> Operation<S> for Scaled<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        operands[0].iter().map(|part| machine.multiply_constant(part, self.0)).collect()
    }
}

/// Adds public slots, by part; or one value to every slot.
enum Shifted<V> {
    Every(V),
    Slots(Vec<Vec<V>>),
}

impl<S: Arithmetic> Operation<S> for Shifted<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let parts = operands[0];
        match self {
            Self::Every(value) => parts.iter().map(|part| machine.add_constant(part, *value)).collect(),
            Self::Slots(slots) => {
                let part = |index: usize| &parts[index.min(parts.len() - 1)];
                slots.iter().enumerate().map(|(i, slots)| machine.add_vector(part(i), slots)).collect()
            }
        }
    }
}

/// Multiplies by public slots, by part.
struct Weighted<V>(Vec<Vec<V>>);

impl<S: Arithmetic> Operation<S> for Weighted<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let parts = operands[0];
        let part = |index: usize| &parts[index.min(parts.len() - 1)];
        self.0.iter().enumerate().map(|(i, slots)| machine.multiply_vector(part(i), slots)).collect()
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// a + b, or a − b.
    pub(crate) fn combined(&self, other: &Self, subtract: bool) -> Result<Self> {
        if let Some(sum) = self.beside_zero(other, subtract)? {
            return Ok(sum);
        }
        let (a, b) = (&self.facts, &other.facts);
        let facts = self.joined(other)?;
        let padded = a.zero_padded && b.zero_padded && a.len == b.len;
        let magnitude = a.magnitude + b.magnitude;
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
        let within = magnitude.max(a.unit.abs()).log2().ceil().exp2();
        let shrunk = (a.unit / within, sign * b.unit / within, within);
        let shrunk = (!S::EXACT).then_some(shrunk).into_iter();
        let mut refusal = None;
        for (left, right, unit) in candidates.into_iter().flatten().chain(shrunk) {
            let work = Combined { left: S::number(left), right: S::number(right) };
            match check(&[self, other], &work) {
                Ok(()) => {
                    let facts = Facts { zero_padded: padded, unit, magnitude, ..facts }.finite()?;
                    let facts = Facts { range: combined_range(a, b, subtract), ..facts };
                    let body = run(&[self, other], &work)?;
                    return Ok(Self::new(&self.context, facts, body));
                }
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or(Error::Mixed))
    }

    /// a · b. Slots that would outgrow the bits that decryption decodes are shrunk first, by the bits that lack, which takes a
    /// level; of a square both factors.
    pub(crate) fn product(&self, other: &Self) -> Result<Self> {
        if let Some(zeros) = self.times_zero(other)? {
            return Ok(zeros);
        }
        let slots = self.facts.magnitude / self.facts.unit.abs();
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
            let params = self.context.params();
            // A sum with such a product has room too.
            Ok::<_, Error>(product?.shapes().iter().all(|shape| shape.room(params) >= SPARE_BITS))
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
        let facts = Facts { unit: self.facts.unit / factor, ..self.facts }.finite()?;
        Self::computed(facts, &[self], &Scaled(S::number(factor)))
    }

    pub(super) fn multiplied(&self, other: &Self) -> Result<Self> {
        let facts = self.product_facts(other)?;
        Self::computed(facts, &[self, other], &Product)
    }

    /// The facts of a · b. A repeated value fills the padding too, so it clears no padding of the other.
    pub(super) fn product_facts(&self, other: &Self) -> Result<Facts> {
        let (a, b) = (&self.facts, &other.facts);
        let joined = self.joined(other)?;
        let clears = |facts: &Facts| facts.zero_padded && facts.len == joined.len;
        let facts = Facts {
            zero_padded: clears(a) || clears(b),
            unit: a.unit * b.unit,
            magnitude: a.magnitude * b.magnitude,
            ..joined
        };
        facts.finite()
    }

    /// −a: the unit changes its sign, whole numbers are negated.
    pub(crate) fn negated(&self) -> Result<Self> {
        self.scaled(S::number(-1.0))
    }

    /// a · a public value.
    pub(crate) fn scaled(&self, value: S::Value) -> Result<Self> {
        let real = Into::<Real>::into(value).0;
        if real == 0.0 || (self.facts.is_zero() && real.is_finite()) {
            return Ok(self.zeros(self.facts.len));
        }
        let magnitude = self.facts.magnitude * real.abs();
        if !S::EXACT {
            let facts = Facts { unit: self.facts.unit * real, magnitude, ..self.facts }.finite()?;
            return Ok(Self { facts, ..self.clone() });
        }
        let facts = Facts { magnitude, ..self.facts }.finite()?;
        let body = run(&[self], &Scaled(value))?;
        Ok(Self::new(&self.context, facts, body))
    }

    /// a + a public value.
    pub(crate) fn shifted(&self, value: S::Value) -> Result<Self> {
        self.add_plain(&vec![value; self.facts.len])
    }

    /// a + a public vector.
    pub(crate) fn add_plain(&self, values: &[S::Value]) -> Result<Self> {
        let (facts, largest) = self.joined_with_plain(values)?;
        if self.facts.is_zero() {
            return if largest == 0.0 { Ok(self.zeros(facts.len)) } else { Err(Error::Zero) };
        }
        let slots = S::divided(values, self.facts.unit);
        let work = match slots.as_slice() {
            [value] => Shifted::Every(*value),
            _ => Shifted::Slots(self.by_part(&slots)),
        };
        let facts = Facts { magnitude: self.facts.magnitude + largest, ..facts }.finite()?;
        Self::computed(facts, &[self], &work)
    }

    /// a · a public vector.
    pub(crate) fn multiply_plain(&self, values: &[S::Value]) -> Result<Self> {
        self.multiply_plain_within(values, 1.0)
    }

    /// Like [`Encrypted::multiply_plain`], with slots of real numbers that are smaller by `shrink`.
    pub(super) fn multiply_plain_within(&self, values: &[S::Value], shrink: f64) -> Result<Self> {
        let (facts, largest) = self.joined_with_plain(values)?;
        if largest == 0.0 || self.facts.is_zero() {
            return Ok(self.zeros(facts.len));
        }
        if let [value] = values {
            return self.scaled(*value);
        }
        // A power of two: sums with vectors of other such units need no level.
        let weight = if S::EXACT { 1.0 } else { largest.log2().ceil().exp2() * shrink };
        let slots = S::divided(values, weight);
        let facts = Facts {
            zero_padded: true,
            unit: self.facts.unit * weight,
            magnitude: self.facts.magnitude * largest,
            ..facts
        };
        let body = run(&[self], &Weighted(self.by_part(&slots)))?;
        Ok(Self::new(&self.context, facts.finite()?, body))
    }

    fn by_part(&self, slots: &[S::Value]) -> Vec<Vec<S::Value>> {
        slots.chunks(self.context.slots()).map(|part| self.context.filled(part, slots.len())).collect()
    }

    /// Length and layout of the result with another vector.
    pub(super) fn joined(&self, other: &Self) -> Result<Facts> {
        let (a, b) = (self.facts, other.facts);
        if self.context != other.context {
            return Err(Error::Mixed);
        }
        match (a.len, b.len) {
            (1, _) => Ok(b),
            (_, 1) => Ok(a),
            (left, right) if left == right => Ok(a),
            (left, right) => Err(Error::Length { left, right }),
        }
    }

    /// Length and layout of the result with a public vector, and its largest absolute value.
    fn joined_with_plain(&self, values: &[S::Value]) -> Result<(Facts, f64)> {
        let real = |value: &S::Value| Into::<Real>::into(*value).0;
        if let Some(index) = values.iter().position(|value| !real(value).is_finite()) {
            return Err(Error::Value { index, within: f64::MAX });
        }
        let largest = values.iter().map(|value| real(value).abs()).fold(0.0, f64::max);
        let facts = self.facts;
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
    pub(super) fn finite(self) -> Result<Self> {
        if self.unit.is_normal() && self.magnitude.is_finite() {
            return Ok(Self { range: None, ..self });
        }
        Err(Error::Value { index: 0, within: f64::MAX })
    }
}
