//! Values of readings that are known to lie between two others.

use sotto_pack::Quantiser;

use crate::value::Value;

/// Two values between which a value of readings that are rounded to the resolution lies, and the error of the rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Between {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) error: f64,
}

impl Between {
    /// Returns one value without an error.
    pub(crate) fn exactly(value: f64) -> Self {
        Self { low: value, high: value, error: 0.0 }
    }

    /// Returns the sum of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        let (low, high) = (self.low + other.low, self.high + other.high);
        Self { low, high, error: self.error + other.error }
    }

    /// Returns the middle. Its bound is half of the width, and the error.
    pub(crate) fn value(self, unit: &str) -> Value {
        let Self { low, high, error } = self;
        let rounding = 8.0 * f64::EPSILON * low.abs().max(high.abs());
        let bound = (high - low) / 2.0 + error + if high > low { rounding } else { 0.0 };
        Value { value: low / 2.0 + high / 2.0, bound, unit: unit.to_owned() }
    }

    /// Returns a reading that is off by at most `error`.
    pub(super) fn of_reading(quantiser: &Quantiser, reading: i64, error: f64) -> Self {
        let value = quantiser.sum(1, reading.into());
        Self { low: value, high: value, error }
    }
}
