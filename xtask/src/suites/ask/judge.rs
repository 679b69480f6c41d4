//! Compares answers with the truth.

use super::series::{By, Sample, Series, instant};
use super::truth::{Group, Statistic};
use serde_json::Value;
use std::collections::BTreeMap;

/// The largest relative rounding error of f64.
const ROUNDING: f64 = 1e-9;
/// A bound may exceed its contract by this fraction, for the rounding error that it includes.
const SLACK: f64 = 1e-6;
/// The most faults of one answer that are reported.
const MOST: usize = 6;

/// A question of the suite.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    pub(super) statistics: &'a [Statistic],
    pub(super) by: By,
    pub(super) per_device: bool,
    /// The first and the last time of each device's windows that the question covers; empty if missing readings are not
    /// checked.
    pub(super) spans: &'a [(i64, i64)],
}

impl Query<'_> {
    /// Returns the question's text, without a period.
    pub(super) fn text(&self, series: &Series) -> String {
        self.text_with(series, "")
    }

    /// Returns the question's text with a period such as ` over 7d`.
    pub(super) fn text_with(&self, series: &Series, period: &str) -> String {
        let texts: Vec<String> = self.statistics.iter().filter_map(|s| s.text(&series.channels)).collect();
        format!("{}{period}{}", texts.join(", "), self.clauses())
    }

    pub(super) fn clauses(&self) -> String {
        format!("{}{}", self.by.clause(), if self.per_device { " per device" } else { "" })
    }

    /// Returns the faults of an answer about all samples of a series.
    pub(super) fn judge(&self, series: &Series, answer: &Value) -> Vec<String> {
        let mut faults = self.faults(series, answer);
        if faults.len() > MOST {
            let more = faults.len() - MOST;
            faults.truncate(MOST);
            faults.push(format!("and {more} more"));
        }
        faults
    }

    fn faults(&self, series: &Series, answer: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
        let mut found: BTreeMap<(i64, i64, Option<&str>, &str), &Value> = BTreeMap::new();
        let mut order = Vec::new();
        for row in rows {
            let time = |key: &str| row[key].as_str().and_then(instant).unwrap_or_default();
            let (from, to) = (time("from"), time("to"));
            if order.last() != Some(&(from, to)) {
                order.push((from, to));
            }
            let key = (from, to, row["device"].as_str(), row["name"].as_str().unwrap_or_default());
            if found.insert(key, row).is_some() {
                faults.push(format!("the row {key:?} comes twice"));
            }
        }
        let groups = self.groups(series, &order);
        if groups != order {
            faults.push(format!("{} groups, not {}; first {:?}", order.len(), groups.len(), order.first()));
        }
        let devices = if self.per_device { series.devices.len() } else { 1 };
        let wanted = groups.len() * devices * self.statistics.len();
        if rows.len() != wanted {
            faults.push(format!("{} rows, not {wanted}", rows.len()));
        }
        for device in 0..devices {
            let name = self.per_device.then(|| series.devices[device]);
            let groups: Vec<Group> =
                groups.iter().map(|(from, to)| self.fill(series, *from, *to, device)).collect();
            for (at, group) in groups.iter().enumerate() {
                for statistic in self.statistics {
                    let key = (group.from, group.to, name, &*statistic.name(&series.channels));
                    let why = match found.get(&key) {
                        None => Some("is missing".to_owned()),
                        Some(row) => self.wrong(series, statistic, &groups, at, device, row),
                    };
                    faults.extend(why.map(|why| {
                        let date = jiff::Timestamp::from_millisecond(group.from).unwrap_or_default();
                        format!("{} of {} at {date}: {why}", key.3, name.unwrap_or("all"))
                    }));
                }
            }
        }
        faults
    }

    /// Returns the expected groups: all from the first sample to the last.
    fn groups(&self, series: &Series, found: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let ends = series.samples.first().zip(series.samples.last());
        let Some((first, last)) = ends.filter(|_| !matches!(self.by, By::All | By::Window)) else {
            return found.to_vec();
        };
        // Begins with the first window, which may begin before its first reading.
        let begin = self.spans.iter().map(|(from, _)| *from).fold(first.at, i64::min);
        let mut groups = vec![series.group(self.by, begin)];
        while let Some((_, next)) = groups.last().copied().filter(|(_, to)| *to <= last.at) {
            groups.push(series.group(self.by, next));
        }
        groups
    }

    fn fill(&self, series: &Series, from: i64, to: i64, device: usize) -> Group {
        let mine = |at: i64, of: usize| (from..to).contains(&at) && (!self.per_device || of == device);
        let samples = series.samples.iter().filter(|sample| mine(sample.at, sample.device)).copied();
        Group { from, to, samples: samples.collect() }
    }

    fn wrong(
        &self,
        series: &Series,
        statistic: &Statistic,
        groups: &[Group],
        at: usize,
        device: usize,
        row: &Value,
    ) -> Option<String> {
        let count = statistic.count(groups, at);
        if row["count"] != count {
            return Some(format!("it is of {} readings, not {count}", row["count"]));
        }
        if let Some(missing) = self.missing(series, statistic, groups, at, device, count)
            && row["missing"] != missing
        {
            return Some(format!("{} readings are missing, not {missing}", row["missing"]));
        }
        let Some(truth) = statistic.value(series, groups, at) else {
            return (!row["value"].is_null()).then(|| format!("it is {}, where there is none", row["value"]));
        };
        let unit = statistic.unit(&series.channels);
        if row["unit"] != *unit {
            return Some(format!("its unit is {}, not {unit}", row["unit"]));
        }
        let (Some(value), Some(bound)) = (row["value"].as_f64(), row["bound"].as_f64()) else {
            let told = row["why"].as_str().is_some_and(|why| !why.is_empty());
            let excused = told && divides(statistic) && nearly_constant(series, &groups[at]);
            return (!excused).then(|| format!("there is no value, but {truth}; {}", row["why"]));
        };
        if (value - truth).abs() > bound + ROUNDING * truth.abs() {
            return Some(format!("{value} ± {bound} is not {truth}"));
        }
        let contract = statistic.contract(series, &groups[at], value)?;
        let most = contract * (1.0 + SLACK) + ROUNDING * (1.0 + value.abs());
        (bound > most).then(|| format!("the bound {bound} is above {contract}"))
    }

    /// Returns the number of missing readings between the first and the last window.
    fn missing(
        &self,
        series: &Series,
        statistic: &Statistic,
        groups: &[Group],
        at: usize,
        device: usize,
        count: u64,
    ) -> Option<u64> {
        let first = match statistic {
            Statistic::MovingAverage(_, groups) => (at + 1).saturating_sub(*groups),
            _ => at,
        };
        let spans = self.spans.iter().enumerate().filter(|(of, _)| !self.per_device || *of == device);
        let mut expected = 0;
        for (of, (begin, end)) in spans {
            // By window, as alarms look at them, nothing is expected before the device's first reading.
            let is_reading =
                |sample: &&Sample| sample.device == of && sample.values.iter().any(Option::is_some);
            let first_reading = series.samples.iter().find(is_reading).map(|sample| sample.at);
            let begin = match self.by {
                By::Window => first_reading.map_or(*begin, |first| first.max(*begin)),
                _ => *begin,
            };
            for group in &groups[first..=at] {
                let time = (group.to.min(*end) - group.from.max(begin)).max(0);
                expected += (time + series.period - 1) / series.period;
            }
        }
        (!self.spans.is_empty()).then(|| (expected as u64).saturating_sub(count))
    }
}

/// Returns true if the value divides by a deviation, which may be too small to distinguish from zero.
fn divides(statistic: &Statistic) -> bool {
    use Statistic as S;
    matches!(statistic, S::Correlation(..) | S::Slope(..) | S::Intercept(..) | S::MeanOverStddev(_))
}

/// Returns true if a channel's deviation, over the times at which all channels have a reading, is below 3.5 roundings:
/// then |deviation| may be below its own bound.
fn nearly_constant(series: &Series, group: &Group) -> bool {
    series.channels.iter().enumerate().any(|(at, channel)| {
        let joint = group
            .samples
            .iter()
            .filter(|sample| sample.values[..series.channels.len()].iter().all(Option::is_some));
        let x: Vec<f64> = joint.filter_map(|sample| sample.values[at]).collect();
        let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len().max(1) as f64;
        variance.sqrt() <= 3.5 * channel.half()
    })
}

/// Returns the first and the last time of each device's windows, from an answer by window and per device.
pub(super) fn spans(series: &Series, answer: &Value) -> Vec<(i64, i64)> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |device: &&str| {
        let mine = rows.iter().filter(|row| row["device"] == **device && row["count"] != 0);
        let time = |row: &Value, key: &str| row[key].as_str().and_then(instant);
        let windows = mine.filter_map(|row| Some((time(row, "from")?, time(row, "to")?)));
        windows.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
    };
    series.devices.iter().map(of).collect()
}
