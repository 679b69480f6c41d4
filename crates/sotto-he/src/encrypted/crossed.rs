//! Products of vectors with offsets: (a + c)(b + d) is a·b + a·d + b·c + c·d, or the offsets go into the slots first. A dry
//! run of each way says which has room, and leaves most levels.

use std::borrow::Cow;

use super::Encrypted;
use super::offset::Offset;
use super::shrink::GROWTH;
use super::work::decodes;
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;

/// A way to compute a result of two vectors.
type Way<'w, S> = &'w dyn Fn(&Encrypted<S>, &Encrypted<S>) -> Result<Encrypted<S>>;

/// A kind of product.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Value by value.
    Slots,
    /// The sum of the products, divided by a public number.
    Dot { divisor: f64 },
}

/// The offsets that go into the slots before the product.
type InSlots = [bool; 2];

impl<S: Arithmetic> Encrypted<S> {
    /// a · b, value by value or summed.
    pub(super) fn crossed(&self, other: &Self, kind: Kind) -> Result<Self> {
        let offsets = [!self.facts.offset.is_none(), !other.facts.offset.is_none()];
        match offsets {
            [false, false] => self.without_offsets(other, kind),
            [true, false] => self.best(other, &[&way(kind, [true, false]), &way(kind, [false, false])]),
            [false, true] => self.best(other, &[&way(kind, [false, true]), &way(kind, [false, false])]),
            [true, true] if core::ptr::eq(self, other) => {
                self.best(other, &[&way(kind, [true, true]), &way(kind, [false, false])])
            }
            [true, true] => {
                let all = [[true, true], [true, false], [false, true], [false, false]];
                let ways = all.map(|in_slots| way(kind, in_slots));
                self.best(other, &[&ways[0], &ways[1], &ways[2], &ways[3]])
            }
        }
    }

    fn without_offsets(&self, other: &Self, kind: Kind) -> Result<Self> {
        match kind {
            Kind::Slots => self.slots_product(other),
            Kind::Dot { divisor } => self.slots_dot(other, divisor),
        }
    }

    /// Runs the way that leaves most levels; of those the first that is about as exact as any.
    pub(super) fn best(&self, other: &Self, ways: &[Way<'_, S>]) -> Result<Self> {
        let params = self.context.params();
        let (a, apart) = (self.outlined(), other.outlined());
        let b = if core::ptr::eq(self, other) { &a } else { &apart };
        let (mut found, mut refusal): (Option<(usize, usize, f64)>, _) = (None, None);
        for (index, way) in ways.iter().enumerate() {
            let result = way(&a, b).and_then(|result| {
                result.shapes().iter().try_for_each(|shape| decodes(params, shape))?;
                Ok((index, result.levels_left(), result.largest_error()))
            });
            match result {
                Ok(next) => {
                    let better = found.is_none_or(|(_, levels, error)| {
                        next.1 > levels || (next.1 == levels && GROWTH * next.2 < error)
                    });
                    found = if better { Some(next) } else { found };
                }
                // With deeper keys large numbers are multiplied out, so the advice is that of a depth.
                Err(error) if error.is_room() => {
                    refusal =
                        refusal.filter(|found| !matches!(found, Error::Constant { .. })).or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        match found {
            Some((index, ..)) => ways[index](self, other),
            None => Err(refusal.unwrap_or(Error::Mixed)),
        }
    }

    fn multiplied_out(&self, other: &Self, kind: Kind) -> Result<Self> {
        let (c, d) = (&self.facts.offset, &other.facts.offset);
        let len = self.joined(other)?.len;
        let a = self.without_offset();
        let (twice, both) = (core::ptr::eq(self, other), c.times(d));
        let (total, constant) = match kind {
            Kind::Slots => (None, both),
            Kind::Dot { divisor } => (Some(1), both.sum(len).divided(divisor)),
        };
        let cross = |vector: &Self, offset: &Offset| match kind {
            Kind::Slots => vector.times_offset(offset, len),
            Kind::Dot { divisor } => vector.dot_offset(&offset.divided(divisor), len),
        };
        let mut sum = if twice {
            let square = a.without_offsets(&a, kind)?;
            square.combined(&cross(&a, &c.plus(c))?, false)?
        } else {
            let b = other.without_offset();
            let mut sum = a.without_offsets(&b, kind)?;
            for (vector, offset) in [(&a, d), (&b, c)] {
                if !offset.is_none() {
                    sum = sum.combined(&cross(vector, offset)?, false)?;
                }
            }
            sum
        };
        sum = sum.plus_offset(&constant, total.unwrap_or(len))?;
        let magnitude = self.facts.magnitude * other.facts.magnitude;
        Ok(sum.with_magnitude(match kind {
            Kind::Slots => magnitude,
            Kind::Dot { divisor } => magnitude * (len as f64 / divisor),
        }))
    }

    /// The sum of the products with public numbers for `len` values.
    pub(super) fn dot_offset(&self, offset: &Offset, len: usize) -> Result<Self> {
        let mut sum = match offset.shared() {
            Some(number) if self.facts.len == len => self.sum()?.scaled(S::number(number))?,
            None if self.facts.len == len => self.dot_plain(&offset.values::<S>(len))?,
            _ => return self.times_offset(&offset.sum(len), 1),
        };
        if offset.error() > 0.0 {
            sum.facts.offset.add_error(offset.error() * self.facts.magnitude * len as f64);
        }
        Ok(sum)
    }
}

/// The way by which the chosen offsets go into the slots, and others are multiplied out.
fn way<S: Arithmetic>(
    kind: Kind,
    in_slots: InSlots,
) -> impl Fn(&Encrypted<S>, &Encrypted<S>) -> Result<Encrypted<S>> {
    move |a, b| {
        let brought = |vector| -> Result<Cow<'_, Encrypted<S>>> { Encrypted::with_offset_in_slots(vector) };
        let twice = core::ptr::eq(a, b);
        match in_slots {
            [false, false] => a.multiplied_out(b, kind),
            [true, true] if twice => {
                let a = brought(a)?;
                a.without_offsets(&a, kind)
            }
            [true, true] => brought(a)?.without_offsets(&*brought(b)?, kind),
            [true, false] if b.facts.offset.is_none() => brought(a)?.without_offsets(b, kind),
            [false, true] if a.facts.offset.is_none() => a.without_offsets(&*brought(b)?, kind),
            [true, false] => brought(a)?.multiplied_out(b, kind),
            [false, true] => a.multiplied_out(&*brought(b)?, kind),
        }
    }
}
