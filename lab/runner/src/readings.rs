//! The readings of comparisons: a real series if there is one, else a generated one; the same for every engine of a
//! run.

use std::path::Path;

use sotto_harness::protocol::Values;

use crate::definition::Comparison;

/// The folder with real series.
const FOLDER: &str = "SOTTO_DATASETS";
/// A year of hourly temperatures: a heading, then a date and a number in each line.
const FILE: &str = "seattle-temps.csv";
/// Readings of a generated series: hours of a year.
const GENERATED: usize = 8760;

/// A series of numbers in 0 … 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// Its origin, for people.
    pub(crate) source: &'static str,
    values: Vec<f64>,
}

impl Series {
    /// Returns the temperatures of the folder of real series; without them a generated series.
    pub(crate) fn here() -> Self {
        let folder = std::env::var_os(FOLDER);
        folder.and_then(|folder| Self::read(&Path::new(&folder).join(FILE))).unwrap_or_else(Self::generated)
    }

    /// Reads the second column, scaled from its smallest … largest value to 0 … 1. None if the file has no two
    /// different numbers.
    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let number = |line: &str| line.split(',').nth(1)?.trim().parse::<f64>().ok();
        let values: Vec<f64> = text.lines().filter_map(number).collect();
        let least = values.iter().copied().reduce(f64::min)?;
        let largest = values.iter().copied().reduce(f64::max)?;
        let scaled = values.iter().map(|value| (value - least) / (largest - least)).collect();
        (largest > least).then_some(Self { source: FILE, values: scaled })
    }

    /// Returns a daily and a yearly wave with noise.
    fn generated() -> Self {
        let mut noise = Noise(1);
        let hour = |hour: usize| {
            let wave = |period: f64| (hour as f64 / period * std::f64::consts::TAU).sin();
            0.5 + 0.25 * wave(8760.0)
                + 0.125 * wave(24.0)
                + 0.125 * (f64::from(noise.next()) / f64::from(u32::MAX))
        };
        let clamped = |value: f64| value.clamp(0.0, 1.0);
        Self { source: "generated", values: (0..GENERATED).map(hour).map(clamped).collect() }
    }

    /// Returns the readings of a comparison: the series, repeated to their number, in the comparison's range, shuffled,
    /// so that the first ones are a fair sample.
    pub(crate) fn readings(&self, comparison: &Comparison) -> Values {
        let [least, largest] = comparison.range;
        let mut values: Vec<f64> = self.values.iter().copied().cycle().take(comparison.readings).collect();
        let mut noise = Noise(2);
        for last in (1..values.len()).rev() {
            values.swap(last, noise.next() as usize % (last + 1));
        }
        if comparison.whole {
            let step = |value: f64| (least + (value * (largest - least + 1.0)).floor()).min(largest);
            Values::Integers(values.into_iter().map(|value| step(value) as i64).collect())
        } else {
            Values::Reals(values.into_iter().map(|value| least + value * (largest - least)).collect())
        }
    }
}

/// Pseudo-random numbers of 32 bits, the same in every run: a linear congruential generator (Knuth's MMIX).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::definition::Definition;

    #[test]
    fn readings_are_in_range_shuffled_and_the_same_in_every_run() {
        let definition = Definition::named("comparisons").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, "date,temp\n2010/01/01 00:00,40\n2010/01/01 01:00,60.5\nlate,50.25\n").unwrap();
        let read = Series::read(&path).unwrap();
        assert_eq!(read.values, [0.0, 1.0, 0.5]);
        assert_eq!(Series::read(folder.path()), None);
        for series in [read, Series::generated()] {
            for comparison in &definition.comparisons {
                let readings = series.readings(comparison);
                assert_eq!(readings, series.readings(comparison));
                assert_eq!(readings.integers().is_some(), comparison.whole);
                let readings = readings.reals();
                assert_eq!(readings.len(), comparison.readings);
                let [least, largest] = comparison.range;
                assert!(readings.iter().all(|reading| (least..=largest).contains(reading)));
                let above = |some: &[f64]| some.iter().filter(|x| **x > comparison.limit).count();
                let (all, first) = (above(&readings), above(&readings[..64]));
                assert!(all > readings.len() / 8 && all < readings.len() * 7 / 8, "{all}");
                assert!((4..60).contains(&first), "{first}");
            }
        }
    }
}
