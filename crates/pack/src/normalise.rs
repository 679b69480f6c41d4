//! Normalisation of values to reals in −1 … 1.

use crate::range::Range;
use crate::{OutOfRange, RangeError};

/// Maps values of a declared range to −1 … 1: `(value − centre) / half_range`.
///
/// ```
/// use sotto_pack::Normaliser;
///
/// let boiler = Normaliser::new(-20.0, 120.0)?;
/// assert_eq!(boiler.normalise(85.0), Ok(0.5));
/// assert_eq!(boiler.value(0.5), 85.0);
/// assert!(boiler.normalise(f64::NAN).is_err());
/// # Ok::<(), sotto_pack::RangeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normaliser {
    range: Range,
}

impl Normaliser {
    /// Makes a normaliser for values in `minimum ..= maximum`.
    ///
    /// # Errors
    /// [`RangeError`] if the ends are not finite or not in order, or the range is too narrow for f64.
    pub fn new(minimum: f64, maximum: f64) -> Result<Self, RangeError> {
        Ok(Self { range: Range::new(minimum, maximum, 1.0)? })
    }

    /// Returns the value that maps to 0: the middle of the range.
    #[must_use]
    pub fn centre(&self) -> f64 {
        self.range.centre()
    }

    /// Returns the size of 1 in the unit of the values: half the range.
    #[must_use]
    pub fn half_range(&self) -> f64 {
        self.range.half()
    }

    /// Maps a value to −1 … 1.
    ///
    /// # Errors
    /// [`OutOfRange`] for a value outside the declared range, an infinity or a NaN.
    pub fn normalise(&self, value: f64) -> Result<f64, OutOfRange> {
        self.range.check(value)?;
        Ok(((value - self.centre()) / self.half_range()).clamp(-1.0, 1.0))
    }

    /// Maps a number back to a value. Accepts any number, because a decrypted one may be slightly beyond 1.
    #[must_use]
    pub fn value(&self, x: f64) -> f64 {
        self.centre() + x * self.half_range()
    }

    /// Returns the maximum error of a value if the number is off by `error`, including rounding in f64.
    ///
    /// Proof: as for [`crate::Quantiser::value_error`], with `half_range · error` in place of half a step.
    #[must_use]
    pub fn value_error(&self, error: f64) -> f64 {
        self.half_range() * error + 4.0 * f64::EPSILON * self.range.furthest()
    }
}
