//! The readings of a channel with their times, device by device.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::{Period, Quantiser};

use crate::language::{Comparison, Condition, all};
use crate::value::Value;

/// Distance from a limit, in steps of the resolution, within which a reading is equal to it.
const NEAR: f64 = 1e-6;

/// The readings of a channel that a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    All,
    /// The first one of each device and time.
    First,
    /// The last one of each device and time.
    Last,
}

/// Readings of one window of a device that are in one group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// The instant of the window's first tick, in milliseconds since 1970.
    pub(crate) start: i64,
    /// The time between ticks.
    pub(crate) period: Period,
    pub(crate) quantiser: Quantiser,
    /// The largest distance of a reading from the value that the device got.
    pub(crate) error: f64,
    /// Number of readings that are off by it at most; the others are as the device got them.
    pub(crate) rounded: u64,
    /// The time of the group that they are in: between two times nothing is missing.
    pub(crate) time: (i64, i64),
    /// Ticks and quantised readings, in order of time.
    pub(crate) readings: Arc<[(u32, i64)]>,
}

/// A reading with its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'r> {
    /// The instant of its tick, in milliseconds since 1970.
    pub(crate) at: i64,
    tick: u32,
    q: i64,
    run: &'r Run,
}

/// The readings of one device, in order of time.
pub(crate) struct OfDevice<'r> {
    pub(crate) device: &'r str,
    pub(crate) readings: Vec<Reading<'r>>,
}

/// The readings of a channel in a group, by device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Readings {
    devices: BTreeMap<String, Vec<Run>>,
}

impl Run {
    fn readings(&self) -> impl Iterator<Item = Reading<'_>> {
        self.readings.iter().map(|(tick, q)| {
            let at = self.period.at(self.start, *tick);
            Reading { at, tick: *tick, q: *q, run: self }
        })
    }
}

impl Reading<'_> {
    /// Returns the reading, as rounded to the resolution.
    pub(crate) fn value(&self) -> f64 {
        // As in sums: without a loss for decimal steps.
        self.run.quantiser.sum(1, self.q.into())
    }

    /// Returns the largest distance from the value that the device got.
    pub(crate) fn error(&self) -> f64 {
        self.run.error
    }

    /// Returns the reading with its bound.
    pub(crate) fn in_unit(&self, unit: &str) -> Value {
        Value { value: self.value(), bound: self.error(), unit: unit.to_owned() }
    }

    /// Returns the time for which it stands.
    pub(crate) fn period(&self) -> Period {
        self.run.period
    }

    /// Returns the time of a tick that lies behind its own.
    pub(crate) fn time_after(&self, ticks: u64) -> i64 {
        self.run.period.at(self.run.start, i64::from(self.tick).saturating_add_unsigned(ticks))
    }

    /// Returns the hours for which it stands.
    pub(crate) fn hours(&self) -> f64 {
        self.period().hours()
    }

    /// Returns true if a condition on its channel holds for the rounded reading.
    pub(crate) fn holds(&self, condition: &Condition) -> bool {
        let (value, near) = (self.value(), NEAR * self.run.quantiser.step());
        let side = |(comparison, limit): (Comparison, f64)| {
            let value = if (value - limit).abs() <= near { limit } else { value };
            comparison.decides(value, value, limit)
        };
        all(condition.sides().map(side)) == Some(true)
    }

    /// Returns the number of ticks without a reading between this reading and the next one. Returns None if a time that is
    /// not asked for lies between them.
    pub(crate) fn missing_before(&self, next: &Self) -> Option<u64> {
        if self.run.time != next.run.time && self.run.time.1 != next.run.time.0 {
            return None;
        }
        let (own, other) = ((self.run.start, self.tick), (next.run.start, next.tick));
        let on_grid = self.period().ticks_apart(own, other).filter(|_| self.period() == next.period());
        // The last tick of a window may be cut short.
        let between = || self.period().tick_at(next.at.saturating_sub(self.at).saturating_sub(1));
        let missing = on_grid.map_or_else(between, |apart| apart - 1);
        Some(missing.max(0).unsigned_abs())
    }
}

impl Readings {
    /// Adds readings of a device.
    pub(crate) fn add(&mut self, device: &str, run: Run) {
        if run.readings.is_empty() {
            return;
        }
        match self.devices.get_mut(device) {
            Some(runs) => runs.push(run),
            None => drop(self.devices.insert(device.to_owned(), vec![run])),
        }
    }

    /// Adds the readings of other times or devices.
    pub(crate) fn merge(&mut self, others: &Self) {
        for (device, runs) in &others.devices {
            for run in runs {
                self.add(device, run.clone());
            }
        }
    }

    /// Returns the number of readings.
    pub(crate) fn count(&self) -> u64 {
        self.devices.values().flatten().map(|run| run.readings.len() as u64).sum()
    }

    /// Returns the first reading; of several devices at one time, that of the first by name.
    pub(crate) fn first(&self) -> Option<Reading<'_>> {
        self.all().min_by_key(|reading| reading.at)
    }

    /// Returns the last reading; of several devices at one time, that of the first by name.
    pub(crate) fn last(&self) -> Option<Reading<'_>> {
        self.all().reduce(|last, reading| if reading.at > last.at { reading } else { last })
    }

    /// Returns the largest reading, the first one among equals.
    pub(crate) fn largest(&self) -> Option<Reading<'_>> {
        self.extreme(|reading, best| reading > best)
    }

    /// Returns the smallest reading, the first one among equals.
    pub(crate) fn smallest(&self) -> Option<Reading<'_>> {
        self.extreme(|reading, best| reading < best)
    }

    fn extreme(&self, beats: fn(f64, f64) -> bool) -> Option<Reading<'_>> {
        self.all().reduce(|best, reading| {
            let (value, most) = (reading.value(), best.value());
            let earlier = value == most && reading.at < best.at;
            if earlier || beats(value, most) { reading } else { best }
        })
    }

    /// Iterates over the readings, device by device, in no order of time.
    pub(crate) fn all(&self) -> impl Iterator<Item = Reading<'_>> {
        self.devices.values().flatten().flat_map(Run::readings)
    }

    /// Iterates over the parts of windows: the number of readings that the device rounded, and all readings.
    pub(crate) fn by_window(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = Reading<'_>>)> {
        self.devices.values().flatten().map(|run| (run.rounded, run.readings()))
    }

    /// Iterates over the devices, in the order of their names.
    pub(crate) fn by_device(&self) -> impl Iterator<Item = OfDevice<'_>> {
        self.devices.iter().map(|(device, runs)| {
            let mut readings: Vec<Reading<'_>> = runs.iter().flat_map(Run::readings).collect();
            // Windows of late readings lie within others.
            readings.sort_by_key(|reading| reading.at);
            OfDevice { device, readings }
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Minutes of one window of a channel from 0 to 100 in steps of 0.5, from its first tick; None where none is.
    pub(crate) fn run(start: i64, values: &[Option<f64>]) -> Run {
        let quantiser = Quantiser::with_resolution(0.0, 100.0, 0.5).expect("a range");
        let present = (0..).zip(values).filter_map(|(tick, value)| Some((tick, (*value)?)));
        let readings =
            present.map(|(tick, value)| (tick, quantiser.quantise(value).expect("in range"))).collect();
        let end = start + 60_000 * values.len() as i64;
        Run {
            start,
            period: Period::from_milliseconds(60_000),
            quantiser,
            error: 0.25,
            rounded: u64::MAX,
            time: (start, end),
            readings,
        }
    }

    #[test]
    fn readings_of_late_windows_are_in_order_of_time() {
        let mut readings = Readings::default();
        readings.add("b", run(0, &[Some(1.0), None, Some(3.0)]));
        readings.add("b", run(0, &[None, Some(2.0)]));
        readings.add("a", run(60_000, &[Some(3.0)]));
        let of: Vec<(&str, Vec<(i64, f64)>)> = readings
            .devices
            .keys()
            .zip(readings.by_device())
            .map(|(name, of)| {
                (name.as_str(), of.readings.iter().map(|reading| (reading.at, reading.value())).collect())
            })
            .collect();
        assert_eq!(of, [("a", vec![(60_000, 3.0)]), ("b", vec![(0, 1.0), (60_000, 2.0), (120_000, 3.0)])]);
        let at = |reading: Option<Reading<'_>>| reading.map(|reading| (reading.at, reading.value()));
        assert_eq!(at(readings.first()), Some((0, 1.0)));
        assert_eq!(at(readings.last()), Some((120_000, 3.0)));
        assert_eq!(at(readings.largest()), Some((60_000, 3.0)), "the first of two equal ones");
        assert_eq!(at(readings.smallest()), Some((0, 1.0)));
        assert_eq!((readings.count(), at(Readings::default().last())), (4, None));
    }

    #[test]
    fn a_reading_next_to_the_limit_is_equal_to_it() {
        // 0.3 is no sum of halves in f64 arithmetic of tenths.
        let quantiser = Quantiser::with_resolution(0.0, 1.0, 0.1).expect("a range");
        let q = quantiser.quantise(0.3).expect("in range");
        let run = Run { quantiser, readings: Arc::from([(0, q)]), ..run(0, &[]) };
        let reading = run.readings().next().expect("a reading");
        let holds = |comparison| reading.holds(&Condition::new("x", comparison, 0.1 + 0.2));
        assert!(holds(Comparison::AtMost) && holds(Comparison::AtLeast) && holds(Comparison::Equal));
        assert!(!holds(Comparison::Greater) && !holds(Comparison::Less) && !holds(Comparison::Differs));
    }
    #[test]
    fn a_condition_between_two_numbers_has_both_ends() {
        let run = run(0, &[Some(59.5), Some(60.0), Some(70.0), Some(79.0), Some(79.5)]);
        let holding = |low: Comparison, high: Comparison| {
            let condition = Condition::new("x", high, 79.0).and_from(low, 60.0);
            run.readings().map(|reading| reading.holds(&condition)).collect::<Vec<_>>()
        };
        assert_eq!(holding(Comparison::AtLeast, Comparison::AtMost), [false, true, true, true, false]);
        assert_eq!(holding(Comparison::Greater, Comparison::Less), [false, false, true, false, false]);
    }
}
