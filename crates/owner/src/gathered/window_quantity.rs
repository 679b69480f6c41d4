//! The quantities that a window holds once, and that do not add over windows.

use sotto_pack::{Quantiser, Quantity};

use super::distribution::Distribution;
use crate::value::Value;

/// A quantity of the readings of one window, whose values do not add over windows: the owner opens them window by window.
///
/// ```
/// use sotto_owner::WindowQuantity;
/// use sotto_pack::Quantity;
///
/// assert_eq!(WindowQuantity::Least.sent(2), Quantity::Least(2));
/// assert_eq!(WindowQuantity::Largest.words(), "the largest reading");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowQuantity {
    /// The smallest reading.
    Least,
    /// The largest reading.
    Largest,
}

/// Two values between which a value of readings that are rounded to the resolution lies, and the error of the rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Between {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) error: f64,
}

impl WindowQuantity {
    /// Returns the quantity that a device sends of a column.
    #[must_use]
    pub fn sent(self, column: u16) -> Quantity {
        match self {
            Self::Least => Quantity::Least(column),
            Self::Largest => Quantity::Largest(column),
        }
    }

    /// Returns its name, after "sends".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Least => "the smallest reading",
            Self::Largest => "the largest reading",
        }
    }

    /// Returns the value that a window sent, as a quantised number. Returns None if no readings of the declared range have
    /// it.
    pub(crate) fn of_sent(self, quantiser: &Quantiser, sent: i128) -> Option<Between> {
        let sent = i64::try_from(sent).ok().filter(|q| q.unsigned_abs() <= quantiser.top().unsigned_abs())?;
        match self {
            Self::Least | Self::Largest => Some(Between::of_reading(quantiser, sent)),
        }
    }

    /// Returns the value of quantised readings in order of time; None if there are none.
    pub(crate) fn of_readings(self, quantiser: &Quantiser, readings: &[i64]) -> Option<Between> {
        let reading = match self {
            Self::Least => readings.iter().min(),
            Self::Largest => readings.iter().max(),
        };
        reading.map(|reading| Between::of_reading(quantiser, *reading))
    }

    /// Returns true if [`WindowQuantity::of_distribution`] has its value.
    pub(crate) fn compares(self) -> bool {
        match self {
            Self::Least | Self::Largest => true,
        }
    }

    /// Returns the value of readings that were counted in bins. Returns None if there are none, or it does not follow from
    /// how readings compare.
    pub(crate) fn of_distribution(self, readings: &Distribution) -> Option<Between> {
        match self {
            Self::Least => readings.between(1),
            Self::Largest => readings.between(readings.count()),
        }
    }
}

impl Between {
    /// Returns the middle. Its bound is half of the width, and the error.
    pub(crate) fn value(self, unit: &str) -> Value {
        let Self { low, high, error } = self;
        let rounding = 8.0 * f64::EPSILON * low.abs().max(high.abs());
        let bound = (high - low) / 2.0 + error + if high > low { rounding } else { 0.0 };
        Value { value: low / 2.0 + high / 2.0, bound, unit: unit.to_owned() }
    }

    fn of_reading(quantiser: &Quantiser, reading: i64) -> Self {
        let value = quantiser.value(reading);
        Self { low: value, high: value, error: quantiser.value_error() }
    }
}
