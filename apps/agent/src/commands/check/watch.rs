//! Watches the rows of a source as they pass: times, periods, gaps, and the numbers of each channel.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use sotto_pack::{Channel, ChannelKind, Period};

use crate::source::{Around, FileFacts, Lines, Row, Source, SourceError};

/// Maximum number of different distances between rows that are counted apart.
const MOST_STEPS: usize = 10_000;
/// Periods that people choose, in milliseconds: a period within 2 % of one is this one.
const USUAL: [i64; 21] = [
    1_000, 2_000, 5_000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 180_000, 300_000, 600_000, 900_000,
    1_200_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000,
];

/// The files, channels and times of the rows that passed.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) files: Vec<FileFacts>,
    pub(super) channels: Vec<SeenChannel>,
    pub(super) times: SeenTimes,
}

/// The numbers of a channel.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SeenChannel {
    pub(super) channel: String,
    pub(super) unit: String,
    pub(super) numbers: u64,
    /// The smallest number.
    pub(super) minimum: Option<f64>,
    /// The largest number.
    pub(super) maximum: Option<f64>,
    /// Rows with a number outside the declared range.
    pub(super) out_of_range: Lines,
    /// The reports of each state, in the order of the declaration; empty for channels of other kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) states: Vec<SeenState>,
    #[serde(skip)]
    range: (f64, f64),
}

/// The reports of a state.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SeenState {
    pub(super) state: String,
    pub(super) reports: u64,
}

/// The times of the rows.
#[derive(Debug, Default)]
pub(super) struct SeenTimes {
    pub(super) rows: u64,
    /// The earliest and the latest time, in milliseconds since 1970.
    pub(super) span: Option<(i64, i64)>,
    last: Option<i64>,
    /// Distances between rows of different times, each with the number of pairs and the first line behind one.
    steps: BTreeMap<i64, (u64, u64)>,
    pub(super) forward: u64,
    /// Rows that are earlier than the row above them.
    pub(super) backward: Lines,
}

/// The period of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Regular {
    /// Milliseconds, or a fraction of them as two numbers.
    pub(super) period_ms: Period,
    /// The largest deviation of a distance that is no gap.
    pub(super) jitter_ms: i64,
    /// Number of distances longer than one and a half periods.
    pub(super) gaps: u64,
    /// The longest one, and the line behind it.
    pub(super) longest_gap_ms: Option<i64>,
    pub(super) longest_gap_line: Option<u64>,
}

impl SeenTimes {
    fn look(&mut self, at: i64, line: u64) {
        self.rows += 1;
        let (first, latest) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), latest.max(at)));
        if let Some(last) = self.last {
            let step = at.saturating_sub(last);
            if step < 0 {
                self.backward.add(line);
            }
            self.forward += u64::from(step > 0);
            if step != 0 && (self.steps.len() < MOST_STEPS || self.steps.contains_key(&step.saturating_abs()))
            {
                let (count, _) = self.steps.entry(step.saturating_abs()).or_insert((0, line));
                *count += 1;
            }
        }
        self.last = Some(at);
    }

    /// Returns the period: the median distance between rows, or a usual one that is near; below a second the frequency that
    /// their mean distance is nearest to.
    pub(super) fn period(&self) -> Option<Regular> {
        let all: u64 = self.steps.values().map(|(count, _)| count).sum();
        let mut passed = 0;
        let (median, _) = self.steps.iter().find(|(_, (count, _))| {
            passed += count;
            2 * passed >= all
        })?;
        let near = |usual: &&i64| (*median - **usual).abs() * 50 <= **usual;
        let usual =
            *USUAL.iter().filter(near).min_by_key(|usual| (*median - **usual).abs()).unwrap_or(median);
        let is_gap = |step: &i64| 2 * step > 3 * usual;
        let regular = || self.steps.iter().filter(|(step, _)| !is_gap(step) && 2 * **step >= usual);
        let (time, steps) = regular().fold((0, 0), |(time, steps), (step, (count, _))| {
            (time + step.unsigned_abs() * count, steps + count)
        });
        let whole = Period::from_milliseconds(u32::try_from(usual).unwrap_or(u32::MAX));
        let period = of_frequency(time, steps).filter(|_| usual < USUAL[0]).unwrap_or(whole);
        // Times are whole milliseconds: up to one earlier than their tick.
        let jitter = regular().map(|(step, _)| (*step as f64 - period.milliseconds_of(1)).abs() as i64);
        let gaps = || self.steps.iter().filter(|(step, _)| is_gap(step));
        let longest = gaps().next_back();
        Some(Regular {
            period_ms: period,
            jitter_ms: jitter.max().unwrap_or_default(),
            gaps: gaps().map(|(_, (count, _))| count).sum(),
            longest_gap_ms: longest.map(|(step, _)| *step),
            longest_gap_line: longest.map(|(_, (_, line))| *line),
        })
    }

    /// Returns true if most rows are earlier than the rows above them.
    pub(super) fn is_newest_first(&self) -> bool {
        self.backward.count > self.forward
    }
}

/// Returns the period of a whole number of readings a second, or of tenths of one, whose mean is that of so many steps in a time
/// in milliseconds: to 1 in 2,000, for tenths to 1 in 20,000. Returns None near a whole number of milliseconds.
fn of_frequency(time: u64, steps: u64) -> Option<Period> {
    let mean = time as f64 / steps.max(1) as f64;
    let near = |period: f64, within: f64| (mean / period - 1.0).abs() <= within;
    if near(mean.round(), 5e-4) {
        return None;
    }
    let of = |(parts, within): (f64, f64)| {
        let frequency = (1000.0 * parts / mean).round();
        let period = Period::new((1000.0 * parts) as u128, frequency as u128).ok()?;
        Some(period).filter(|period| near(period.milliseconds_of(1), within))
    };
    [(1.0, 5e-4), (10.0, 5e-5)].into_iter().find_map(of)
}

/// A source that is watched.
pub(super) struct Watched {
    source: Box<dyn Source>,
    seen: Arc<Mutex<Seen>>,
    /// True in passes behind the first: their rows were seen.
    again: bool,
}

impl Watched {
    /// Returns a source with the same rows, and the record of them.
    pub(super) fn of(source: Box<dyn Source>) -> (Box<dyn Source>, Arc<Mutex<Seen>>) {
        let channel = |channel: &Channel| SeenChannel {
            channel: channel.name.clone(),
            unit: channel.unit.clone(),
            numbers: 0,
            minimum: None,
            maximum: None,
            out_of_range: Lines::default(),
            states: states(channel),
            range: (channel.minimum, channel.maximum),
        };
        let channels = source.channels().iter().map(channel).collect();
        let seen = Arc::new(Mutex::new(Seen { channels, ..Seen::default() }));
        (Box::new(Self { source, seen: Arc::clone(&seen), again: false }), seen)
    }
}

/// Returns the states of a channel, without a report so far.
fn states(channel: &Channel) -> Vec<SeenState> {
    let ChannelKind::State(kind) = &channel.kind else { return Vec::new() };
    kind.states.iter().map(|state| SeenState { state: state.clone(), reports: 0 }).collect()
}

impl Around for Watched {
    fn inner(&self) -> &dyn Source {
        &*self.source
    }

    fn inner_mut(&mut self) -> &mut dyn Source {
        &mut *self.source
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let row = self.source.next_row();
        if self.again {
            return row;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(row) = row else {
            seen.files = self.source.facts();
            return row;
        };
        let line = self.source.line().unwrap_or_default();
        seen.times.look(row.at, line);
        for (channel, value) in seen.channels.iter_mut().zip(row.values.iter()) {
            let Some(value) = *value else { continue };
            channel.numbers += 1;
            channel.minimum = Some(channel.minimum.map_or(value, |minimum| minimum.min(value)));
            channel.maximum = Some(channel.maximum.map_or(value, |maximum| maximum.max(value)));
            // The value of a state is its number.
            if let Some(state) = channel.states.get_mut(value as usize) {
                state.reports += 1;
            }
            if !(channel.range.0..=channel.range.1).contains(&value) {
                channel.out_of_range.add(line);
            }
        }
        Ok(row)
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        self.again = true;
        self.source.restart()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(times: &[i64]) -> Option<Regular> {
        let mut seen = SeenTimes::default();
        times.iter().zip(2..).for_each(|(at, line)| seen.look(at * 1000, line));
        seen.period()
    }

    #[test]
    fn a_period_is_found_with_its_jitter_and_gaps() {
        let regular = period(&[0, 299, 601, 900, 1200, 1500, 5100, 5400]).unwrap();
        let expected = Regular {
            period_ms: Period::from_milliseconds(300_000),
            jitter_ms: 2000,
            gaps: 1,
            longest_gap_ms: Some(3_600_000),
            longest_gap_line: Some(8),
        };
        assert_eq!(regular, expected);
        assert_eq!(
            period(&[5400, 5100, 1500, 1200, 900]).map(|period| period.period_ms),
            Some(Period::from_milliseconds(300_000))
        );
        assert_eq!(
            period(&[0, 0, 7, 7, 14]).map(|period| (period.period_ms, period.gaps)),
            Some((Period::from_milliseconds(7000), 0))
        );
        assert_eq!(period(&[5]), None);
    }

    #[test]
    fn frequencies_are_found_from_whole_milliseconds() {
        let seen = |frequency: f64, of: fn(f64) -> f64| {
            let mut seen = SeenTimes::default();
            let times = (0..20_000).filter(|row| row % 5000 != 7);
            times.for_each(|row| seen.look(of(f64::from(row) * 1000.0 / frequency) as i64, 2));
            let found = seen.period().unwrap();
            (found.period_ms.seconds(), found.jitter_ms, found.gaps)
        };
        for of in [f64::floor, f64::round] {
            assert_eq!(seen(60.0, of), ((1, 60), 0, 4));
            assert_eq!(seen(44.1, of), ((10, 441), 0, 4));
            assert_eq!(seen(120.0, of), ((1, 120), 0, 4));
            assert_eq!(seen(50.0, of), ((1, 50), 0, 4));
            assert_eq!(seen(1.0, of), ((1, 1), 0, 4));
        }
    }
}
