//! Values at every tick: readings, and straight lines between them.

use super::{Reading, Readings};
use crate::value::ValueError;
use sotto_pack::Period;

/// The value at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// The instants at which the tick begins and ends, in milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) until: i64,
    /// The time for which its tick stands.
    pub(crate) period: Period,
    pub(crate) value: f64,
    /// The largest distance from the value on the line between the values that the device got.
    pub(crate) bound: f64,
    /// True if no reading is there.
    pub(crate) is_between: bool,
}

/// The values of one device at every tick from its first to its last reading, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OnLines {
    pub(crate) values: Vec<Line>,
    /// Number of values between readings.
    pub(crate) between: u64,
    /// Number of ticks without a value, in gaps that are too long.
    pub(crate) left: u64,
}

/// Largest number of values that are put between readings.
const MOST_BETWEEN: u64 = 1 << 20;

impl OnLines {
    /// Returns the values of readings, with lines between two that are at most `longest` milliseconds apart.
    ///
    /// # Errors
    /// [`ValueError`] if there is no reading, or readings of several devices.
    pub(crate) fn of(readings: &Readings, longest: i64) -> Result<Self, ValueError> {
        let mut devices = readings.by_device();
        let device = devices.next().ok_or(ValueError::NO_READING)?;
        if devices.next().is_some() {
            return Err(ValueError::Undetermined("the values are of several devices: add `per device`"));
        }
        let mut all = Self::default();
        let mut before: Option<Reading<'_>> = None;
        for reading in device.readings {
            if let Some(before) = before {
                all.add_between(&before, &reading, longest)?;
            }
            all.values.push(Line {
                at: reading.at,
                until: reading.time_after(1),
                period: reading.period(),
                value: reading.value(),
                bound: reading.error(),
                is_between: false,
            });
            before = Some(reading);
        }
        Ok(all)
    }

    fn add_between(
        &mut self,
        first: &Reading<'_>,
        last: &Reading<'_>,
        longest: i64,
    ) -> Result<(), ValueError> {
        let Some(missing) = first.missing_before(last) else { return Ok(()) };
        let apart = last.at - first.at;
        if apart > longest {
            self.left += missing;
            return Ok(());
        }
        self.between += missing;
        if self.between > MOST_BETWEEN {
            return Err(ValueError::Undetermined(
                "more than a million ticks are missing: ask for a shorter time",
            ));
        }
        for tick in 1..=missing {
            let (at, until, period) = (first.time_after(tick), first.time_after(tick + 1), first.period());
            let part = (at - first.at) as f64 / apart as f64;
            let value = first.value() + part * (last.value() - first.value());
            let rounding = 4.0 * f64::EPSILON * first.value().abs().max(last.value().abs());
            let bound = (1.0 - part) * first.error() + part * last.error() + rounding;
            self.values.push(Line { at, until, period, value, bound, is_between: true });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::minutes;
    use super::*;

    fn readings(values: &[Option<f64>]) -> Readings {
        let mut readings = Readings::default();
        readings.add("a", minutes(0, values));
        readings
    }

    #[test]
    fn values_lie_on_the_line_between_two_readings() {
        let of = readings(&[None, Some(10.0), None, None, None, Some(20.0), Some(21.0), None]);
        let lines = OnLines::of(&of, i64::MAX).expect("readings");
        let found: Vec<(i64, f64, bool)> =
            lines.values.iter().map(|line| (line.at / 60_000, line.value, line.is_between)).collect();
        let right = [
            (1, 10.0, false),
            (2, 12.5, true),
            (3, 15.0, true),
            (4, 17.5, true),
            (5, 20.0, false),
            (6, 21.0, false),
        ];
        assert_eq!(found, right);
        assert_eq!((lines.between, lines.left), (3, 0));
        assert!(lines.values.iter().all(|line| (line.bound - 0.25).abs() < 1e-9));
    }

    #[test]
    fn longer_gaps_stay_empty() {
        let of = readings(&[Some(10.0), None, Some(12.0), None, None, Some(9.0)]);
        let lines = OnLines::of(&of, 120_000).expect("readings");
        let at: Vec<i64> = lines.values.iter().map(|line| line.at / 60_000).collect();
        assert_eq!((at, lines.between, lines.left), (vec![0, 1, 2, 5], 1, 2));
    }

    #[test]
    fn devices_are_not_mixed() {
        let mut of = readings(&[Some(10.0)]);
        of.add("b", minutes(0, &[Some(1.0)]));
        assert!(OnLines::of(&of, 1).unwrap_err().to_string().contains("per device"));
        assert_eq!(OnLines::of(&Readings::default(), 1), Err(ValueError::NO_READING));
    }
}
