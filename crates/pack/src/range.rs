//! A declared range: its middle and its half.

use crate::{OutOfRange, RangeError};

/// The smallest step, relative to the end of the range furthest from 0, that rounding in f64 leaves alone.
const RESOLUTION: f64 = 1.0 / (1u64 << 40) as f64;

/// Two finite ends, the smaller one first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
}

impl Range {
    /// A range to be divided into steps of `half / steps`.
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

    /// The middle. Halves first, so that it is finite.
    pub(crate) fn centre(&self) -> f64 {
        self.minimum / 2.0 + self.maximum / 2.0
    }

    /// From the middle to an end.
    pub(crate) fn half(&self) -> f64 {
        self.maximum / 2.0 - self.minimum / 2.0
    }

    /// The largest |value|.
    pub(crate) fn furthest(&self) -> f64 {
        self.minimum.abs().max(self.maximum.abs())
    }

    /// Refuses what is outside, and NaN.
    pub(crate) fn check(&self, value: f64) -> Result<(), OutOfRange> {
        let Self { minimum, maximum } = *self;
        if (minimum..=maximum).contains(&value) {
            Ok(())
        } else {
            Err(OutOfRange { value, minimum, maximum })
        }
    }
}
