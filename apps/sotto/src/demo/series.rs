//! A column of a file: its rows, and the channel settings derived from them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use sotto_agent::source::{FileOptions, FileSource, FormatName, Source, SourceError};
use sotto_agent::stop::Stop;
use sotto_owner::Range;
use sotto_pack::{Channel, Clock, Period};

/// Milliseconds between rows without times.
const PERIOD: u32 = 1000;
const DAY: i64 = 86_400_000;
/// A derived resolution divides the range into at most this many steps.
const MOST_STEPS: f64 = 1e6;
/// Absolute values are smaller than this.
const LARGEST: f64 = 1e15;
/// A value is far from the others if its distance from their interquartile range is more than this many times that
/// range.
const FAR: f64 = 20.0;

/// Rows in order of time.
pub(super) struct Series {
    rows: Vec<(i64, Option<f64>)>,
}

/// Values far from all others: usually wrong cells, such as -9999.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Far {
    pub(super) count: usize,
    /// Time of the farthest value, RFC 3339.
    pub(super) at: String,
    pub(super) farthest: f64,
    /// The interquartile range of the values.
    pub(super) middle: (f64, f64),
}

impl Series {
    /// Reads the file as the agent does. `time` is the column of the time; if the file has none, the time of the first
    /// row.
    pub(super) fn read(file: &Path, column: &str, time: Result<&str, &str>) -> anyhow::Result<Self> {
        let channel = Channel { name: column.to_owned(), minimum: -1.0, maximum: 1.0, ..Channel::default() };
        let options = FileOptions {
            paths: vec![file.to_owned()],
            format: Some(FormatName::CSV),
            time: time.ok().map(str::to_owned).into_iter().collect(),
            start: time.err().map(str::to_owned),
            period: Period::from_milliseconds(PERIOD),
            ..FileOptions::default()
        };
        let mut source = FileSource::open(options, &[channel], Stop::new())?;
        let mut rows = Vec::new();
        loop {
            match source.next_row() {
                Ok(row) => rows.push((row.at, row.values.first().copied().flatten())),
                Err(SourceError::Ended) => break,
                Err(error) => return Err(error.into()),
            }
        }
        rows.sort_by_key(|(at, _)| *at);
        let large = rows.iter().find_map(|(at, value)| Some((at, value.filter(|v| v.abs() >= LARGEST)?)));
        if let Some((at, value)) = large {
            let (file, at) = (file.display(), Clock::utc().rfc3339(*at));
            anyhow::bail!(
                "{file}: the value at {at} is {value:e}, and the demo takes the range from the file, up to {LARGEST:e}: correct the cell, or declare the range in a plant of your own (docs/guides/first-answer.md)"
            );
        }
        let numbers = rows.iter().filter(|(_, value)| value.is_some()).count();
        let file = file.display();
        anyhow::ensure!(
            numbers >= 4,
            "{file} has {numbers} numbers with a time in column {column:?}: the demo needs 4"
        );
        Ok(Self { rows })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().filter_map(|(_, value)| *value)
    }

    /// Returns milliseconds from the first row to the last.
    pub(super) fn span(&self) -> i64 {
        self.rows.last().map_or(0, |(at, _)| *at) - self.rows.first().map_or(0, |(at, _)| *at)
    }

    /// Returns the most frequent difference of consecutive times, in milliseconds.
    pub(super) fn period(&self) -> anyhow::Result<u32> {
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        for pair in self.rows.windows(2) {
            let apart = pair[1].0 - pair[0].0;
            if (1..=DAY).contains(&apart) {
                *counts.entry(apart).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by_key(|(apart, count)| (*count, -apart));
        let (period, _) =
            most.context("no two rows are between 1 ms and a day apart: is --time the right column?")?;
        Ok(u32::try_from(period)?)
    }

    /// Returns the step of the last written decimal, or a wider one if the range has more than 10^6 of these steps.
    pub(super) fn resolution(&self) -> f64 {
        let decimals =
            |value: f64| value.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let mut power = -(self.values().map(decimals).max().unwrap_or(0) as i32);
        let (low, high) = self.ends();
        while (high - low) / ten_to(power) > MOST_STEPS {
            power += 1;
        }
        ten_to(power)
    }

    fn ends(&self) -> (f64, f64) {
        self.values().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// Returns the values far from the others. None if there are none, or if half of all values are equal.
    pub(super) fn far(&self) -> Option<Far> {
        let mut sorted: Vec<f64> = self.values().collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.get(sorted.len() / 4)?, *sorted.get(3 * sorted.len() / 4)?);
        let reach = FAR * (high - low);
        let beyond = |value: f64| (low - value).max(value - high);
        let far = || self.rows.iter().filter_map(|(at, value)| Some((*at, (*value)?)));
        let far = || far().filter(|(_, value)| reach > 0.0 && beyond(*value) > reach);
        let (at, farthest) = far().max_by(|(_, a), (_, b)| beyond(*a).total_cmp(&beyond(*b)))?;
        Some(Far { count: far().count(), at: Clock::utc().rfc3339(at), farthest, middle: (low, high) })
    }

    /// Returns the range of the file, widened by a tenth on both sides and rounded outwards to round numbers.
    pub(super) fn range(&self) -> Range {
        let ((low, high), resolution) = (self.ends(), self.resolution());
        let span = (high - low).max(10.0 * resolution);
        let power = (span / 10.0).log10().floor().max(resolution.log10().round()) as i32;
        // Parsed from text of the right number of decimals: 0.3 and not 0.30000000000000004.
        let round = |value: f64, up: f64| {
            let multiple = up * (up * value / ten_to(power)).ceil() * ten_to(power);
            let decimals = usize::try_from(-power).unwrap_or(0);
            format!("{multiple:.decimals$}").parse().unwrap_or(multiple)
        };
        Range { minimum: round(low - span / 10.0, -1.0), maximum: round(high + span / 10.0, 1.0) }
    }

    /// Returns the earlier and the later half of the rows.
    pub(super) fn halves(&self) -> [&[(i64, Option<f64>)]; 2] {
        let (first, second) = self.rows.split_at(self.rows.len() / 2);
        [first, second]
    }

    /// Writes rows as a CSV file of two columns.
    pub(super) fn text(rows: &[(i64, Option<f64>)], name: &str) -> String {
        let (clock, mut text) = (Clock::utc(), format!("time,{name}\n"));
        for (at, value) in rows {
            let value = value.map_or_else(String::new, |value| value.to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{},{value}", clock.rfc3339(*at));
        }
        text
    }
}

fn ten_to(power: i32) -> f64 {
    // Parsed, because a power of 0.1 is not the nearest number to 0.01.
    format!("1e{power}").parse().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        Series { rows: (0..).map(|i| 300_000 * i).zip(values.iter().copied().map(Some)).collect() }
    }

    #[test]
    fn a_file_declares_its_channel() {
        let (range, resolution) = (
            |values: &[f64]| {
                let Range { minimum, maximum } = series(values).range();
                (minimum, maximum)
            },
            |values: &[f64]| series(values).resolution(),
        );
        assert_eq!(resolution(&[20.0, 21.5, 19.25]), 0.01);
        assert_eq!(resolution(&[20.0, 21.0]), 1.0);
        assert_eq!(resolution(&[0.1 + 0.2, 5.0]), 1e-5);
        assert_eq!(range(&[20.0, 21.5, 30.0]), (19.0, 31.0));
        assert_eq!(range(&[-0.31, 0.72]), (-0.5, 0.9));
        assert_eq!(range(&[5.0, 5.0]), (4.0, 6.0));
        let far = series(&[80.0, 81.0, -9999.0, 82.0, 83.0, 84.0]).far().expect("one is far");
        assert_eq!((far.count, far.farthest, far.middle), (1, -9999.0, (80.0, 83.0)));
        assert_eq!(far.at, "1970-01-01T00:10:00+00:00");
        assert_eq!(series(&[80.0, 81.0, 60.0, 82.0, 83.0, 84.0]).far(), None);
        assert_eq!(series(&[0.0, 0.0, 0.0, 0.0, 9.0]).far(), None);
        let mut series = series(&[1.0, 2.0, 3.0, 4.0]);
        series.rows[3].0 += 1;
        assert_eq!(series.period().unwrap(), 300_000);
        assert_eq!(
            Series::text(series.halves()[0], "t"),
            "time,t\n1970-01-01T00:00:00+00:00,1\n1970-01-01T00:05:00+00:00,2\n"
        );
    }
}
