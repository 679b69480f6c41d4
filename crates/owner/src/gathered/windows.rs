//! Quantities that single windows hold, in order of time.

use super::window_quantity::{Between, WindowQuantity};
use crate::value::{Value, ValueError};

/// The quantities of one window of a device, or of those of its ticks that are in a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    /// The instant of its first tick, in milliseconds since 1970.
    pub(crate) from: i64,
    /// The end of its last tick.
    pub(crate) to: i64,
    /// The number of readings, at least 1.
    pub(crate) readings: u64,
    pub(crate) values: Vec<(WindowQuantity, Between)>,
}

/// The quantities of a group's windows: for each device, those of its windows in order of time.
///
/// Windows of which only counts by bin are known are one entry, with the time from the first to the last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Windows {
    devices: Vec<Vec<Held>>,
}

impl Held {
    fn value(&self, quantity: WindowQuantity) -> Option<Between> {
        self.values.iter().find(|(held, _)| *held == quantity).map(|(_, value)| *value)
    }
}

impl Windows {
    /// Adds a window of the one device whose windows are added.
    pub(crate) fn add(&mut self, held: Held) {
        if self.devices.is_empty() {
            self.devices.push(Vec::new());
        }
        let of_device = &mut self.devices[0];
        let at = of_device.partition_point(|before| before.from <= held.from);
        of_device.insert(at, held);
    }

    /// Adds the windows of other devices.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.devices.extend(others.devices.iter().cloned());
    }

    /// Returns the number of readings in all windows.
    pub(crate) fn readings(&self) -> u64 {
        self.devices.iter().flatten().map(|held| held.readings).sum()
    }

    /// Returns the smallest value of a quantity over all windows.
    ///
    /// # Errors
    /// [`ValueError`] if there is no window.
    pub(crate) fn smallest(&self, quantity: WindowQuantity, unit: &str) -> Result<Value, ValueError> {
        self.extreme(quantity, f64::min, unit)
    }

    /// Returns the largest value of a quantity over all windows.
    ///
    /// # Errors
    /// [`ValueError`] if there is no window.
    pub(crate) fn largest(&self, quantity: WindowQuantity, unit: &str) -> Result<Value, ValueError> {
        self.extreme(quantity, f64::max, unit)
    }

    /// Both ends of the extreme are those of the ends, as an extreme is monotonic in each value.
    fn extreme(
        &self,
        quantity: WindowQuantity,
        of: fn(f64, f64) -> f64,
        unit: &str,
    ) -> Result<Value, ValueError> {
        let all = self.devices.iter().flatten().filter_map(|held| held.value(quantity));
        let all = all.reduce(|a, b| Between {
            low: of(a.low, b.low),
            high: of(a.high, b.high),
            error: a.error.max(b.error),
        });
        all.map(|all| all.value(unit)).ok_or(ValueError::NO_READING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(from: i64, low: f64, high: f64) -> Held {
        let value = Between { low, high, error: 0.5 };
        Held { from, to: from + 10, readings: 3, values: vec![(WindowQuantity::Largest, value)] }
    }

    #[test]
    fn the_largest_of_intervals_is_between_their_ends() {
        let mut all = Windows::default();
        // 12 exactly, and a bin from 8 to 16.
        all.add(held(20, 12.0, 12.0));
        all.add(held(0, 8.0, 16.0));
        let mut other = Windows::default();
        other.add(held(10, 2.0, 2.0));
        all.merge(&other);
        let largest = all.largest(WindowQuantity::Largest, "°C").expect("windows");
        assert!(largest.value == 14.0 && (largest.bound - 2.5).abs() < 1e-9, "12 to 16: {largest:?}");
        let smallest = all.smallest(WindowQuantity::Largest, "°C").expect("windows");
        assert_eq!((smallest.value, smallest.bound), (2.0, 0.5));
        assert!(all.largest(WindowQuantity::Least, "°C").is_err());
        let times: Vec<i64> = all.devices[0].iter().map(|held| held.from).collect();
        assert_eq!((times, all.devices.len(), all.readings()), (vec![0, 20], 2, 9));
    }
}
