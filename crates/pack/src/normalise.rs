//! Values to reals in −1 … 1.

use crate::range::Range;
use crate::{OutOfRange, RangeError};

/// Brings values of a declared range to −1 … 1: `(value − centre) / half_range`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normaliser {
    range: Range,
}

impl Normaliser {
    /// For values in `minimum ..= maximum`.
    ///
    /// # Errors
    /// [`RangeError`] when the ends are not finite or not in order, or the range is too narrow for f64.
    pub fn new(minimum: f64, maximum: f64) -> Result<Self, RangeError> {
        Ok(Self { range: Range::new(minimum, maximum, 1.0)? })
    }

    /// The value that becomes 0: the middle of the range.
    #[must_use]
    pub fn centre(&self) -> f64 {
        self.range.centre()
    }

    /// What 1 is worth, in the unit of the values: half the range.
    #[must_use]
    pub fn half_range(&self) -> f64 {
        self.range.half()
    }

    /// The number in −1 … 1 for a value.
    ///
    /// # Errors
    /// [`OutOfRange`] for a value outside the declared range, an infinity or a NaN.
    pub fn normalise(&self, value: f64) -> Result<f64, OutOfRange> {
        self.range.check(value)?;
        Ok(((value - self.centre()) / self.half_range()).clamp(-1.0, 1.0))
    }

    /// The value a number stands for; any number, because a decrypted one may be a little beyond 1.
    #[must_use]
    pub fn value(&self, x: f64) -> f64 {
        self.centre() + x * self.half_range()
    }

    /// How far the value can be off when the number is off by `error`, rounding in f64 included.
    ///
    /// Proof: as for [`crate::Quantiser::value_error`], with `half_range · error` for half a step.
    #[must_use]
    pub fn value_error(&self, error: f64) -> f64 {
        self.half_range() * error + 4.0 * f64::EPSILON * self.range.furthest()
    }
}
