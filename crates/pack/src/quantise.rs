//! Values to whole numbers.

use crate::range::Range;
use crate::{OutOfRange, RangeError};

/// Fewest bits: −1, 0 and 1.
pub const MIN_BITS: u32 = 2;
/// Most bits that are quantised exactly.
pub const MAX_BITS: u32 = 32;

/// Rounds values of a declared range to whole numbers: `q = round((value − centre) / step)`.
///
/// Range: `|q| ≤ top = 2^(bits − 1) − 1`; both ends of the declared range come out at ±top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiser {
    range: Range,
    centre: f64,
    step: f64,
    bits: u32,
}

impl Quantiser {
    /// For values in `minimum ..= maximum`, to whole numbers of `bits` bits with their sign.
    ///
    /// # Errors
    /// [`RangeError`] when the ends are not finite or not in order, the range is too narrow for f64, or bits are not
    /// [`MIN_BITS`] to [`MAX_BITS`].
    pub fn new(minimum: f64, maximum: f64, bits: u32) -> Result<Self, RangeError> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(RangeError::Bits { bits });
        }
        let top = top(bits) as f64;
        let range = Range::new(minimum, maximum, top)?;
        Ok(Self { range, centre: range.centre(), step: range.half() / top, bits })
    }

    /// The value that becomes 0: the middle of the range.
    #[must_use]
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// What 1 is worth, in the unit of the values.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Bits of a number, its sign included.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The largest |q|.
    #[must_use]
    pub fn top(&self) -> i64 {
        top(self.bits)
    }

    /// The number for a value.
    ///
    /// # Errors
    /// [`OutOfRange`] for a value outside the declared range, an infinity or a NaN.
    pub fn quantise(&self, value: f64) -> Result<i64, OutOfRange> {
        self.range.check(value)?;
        // Within ±top but for rounding, so the conversion does not saturate.
        let q = ((value - self.centre) / self.step).round() as i64;
        Ok(q.clamp(-self.top(), self.top()))
    }

    /// The value a number stands for.
    #[must_use]
    pub fn value(&self, q: i64) -> f64 {
        self.centre + q as f64 * self.step
    }

    /// How far `value(quantise(v))` can be from `v`: half a step, and what f64 rounds.
    ///
    /// Proof. Let u = 2^-53, M the largest |value| and R ≤ M half the range. The difference and the quotient are off
    /// by 2u relatively, which is at most 2uR in the value; rounding to a whole number adds step/2; the way back rounds
    /// the product (uR) and the sum (uM). So the error is at most step/2 + 3uR + uM and terms in u², which is
    /// below step/2 + 8uM. A range is refused when step < 2^-40·M, so the second part is below step/1024.
    #[must_use]
    pub fn value_error(&self) -> f64 {
        self.step / 2.0 + 4.0 * f64::EPSILON * self.range.furthest()
    }
}

/// 2^(bits − 1) − 1 for 2 to 32 bits.
fn top(bits: u32) -> i64 {
    (1 << (bits - 1)) - 1
}
