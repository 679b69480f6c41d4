//! A channel's declared range.

use crate::{OutOfRange, RangeError};

/// The smallest step, relative to the end of the range furthest from 0, that is not lost in f64's rounding.
const RESOLUTION: f64 = 1.0 / (1u64 << 40) as f64;

/// Two finite ends, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
}

impl Range {
    /// Checks a range that will be divided into steps of `half / steps`.
    pub(crate) fn new(minimum: f64, maximum: f64, steps: f64) -> Result<Self, RangeError> {
        let range = Self { minimum, maximum };
        if !(minimum.is_finite() && maximum.is_finite() && minimum < maximum) {
            return Err(RangeError::Ends { minimum, maximum });
        }
        let step = range.half() / steps;
        if step < range.furthest() * RESOLUTION || !step.is_normal() {
            return Err(RangeError::TooNarrow { minimum, maximum });
        }
        Ok(range)
    }

    /// Returns the middle. Halves the ends before adding, so that the sum does not overflow.
    pub(crate) fn centre(&self) -> f64 {
        self.minimum / 2.0 + self.maximum / 2.0
    }

    /// Returns the distance from the middle to an end.
    pub(crate) fn half(&self) -> f64 {
        self.maximum / 2.0 - self.minimum / 2.0
    }

    /// Returns the largest |value|.
    pub(crate) fn furthest(&self) -> f64 {
        self.minimum.abs().max(self.maximum.abs())
    }

    /// Refuses values outside the range, and NaN.
    pub(crate) fn check(&self, value: f64) -> Result<(), OutOfRange> {
        let Self { minimum, maximum } = *self;
        if (minimum..=maximum).contains(&value) {
            Ok(())
        } else {
            Err(OutOfRange { value, minimum, maximum })
        }
    }
}
