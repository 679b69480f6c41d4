//! Means of the days of a group.

use crate::value::Value;

/// The mean of a channel's readings on a calendar day.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DayMean {
    /// The beginning of the day, in milliseconds since 1970.
    pub(crate) from: i64,
    pub(crate) mean: Value,
    /// Number of readings.
    pub(crate) present: u64,
    /// Number of ticks of the day, of all devices.
    pub(crate) expected: u64,
}

impl DayMean {
    /// Returns true if the mean is over three quarters of the day's readings at least.
    pub(crate) fn is_covered(&self) -> bool {
        self.present > 0 && u128::from(self.present) * 4 >= u128::from(self.expected) * 3
    }
}
