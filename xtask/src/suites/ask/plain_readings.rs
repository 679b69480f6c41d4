//! Plain arithmetic on the readings of a series, which answers from readings are compared with.

use super::series::{Channel, Sample, Series};

const HOUR: i64 = 3_600_000;
/// The bands of spectra.
pub(super) const BANDS: usize = 6;

/// A reading as the device rounds it.
fn rounded(channel: &Channel, value: f64) -> f64 {
    let centre = f64::midpoint(channel.low, channel.high);
    centre + ((value - centre) / channel.resolution).round() * channel.resolution
}

/// The time and the rounded value of readings of one device, in order of time.
pub(super) type Readings = Vec<(i64, f64)>;

/// Returns the readings of a channel, device by device.
pub(super) fn readings(
    series: &Series,
    (from, to): (i64, i64),
    device: Option<&str>,
    at: usize,
    counts: &dyn Fn(i64) -> bool,
) -> Vec<Readings> {
    let of = |index: usize| {
        let inside =
            |sample: &&Sample| sample.device == index && (from..to).contains(&sample.at) && counts(sample.at);
        let value = |sample: &Sample| Some((sample.at, rounded(&series.channels[at], sample.values[at]?)));
        series.samples.iter().filter(inside).filter_map(value).collect()
    };
    let wanted =
        (0..series.devices.len()).filter(|index| device.is_none_or(|name| series.devices[*index] == name));
    wanted.map(of).collect()
}

/// Returns the length of each run of readings that follow each other, for which a condition holds, in periods.
fn runs(readings: &Readings, period: i64, holds: impl Fn(f64) -> bool) -> Vec<i64> {
    let mut all: Vec<i64> = Vec::new();
    let mut last = None;
    for (at, _) in readings.iter().filter(|(_, value)| holds(*value)) {
        match all.last_mut().filter(|_| last == Some(at - period)) {
            Some(run) => *run += 1,
            None => all.push(1),
        }
        last = Some(*at);
    }
    all
}

/// Returns the value of a result and the time that it has; None without readings.
pub(super) fn truth(
    series: &Series,
    name: &str,
    of: &[Readings],
    other: &[Readings],
    limit: f64,
) -> Option<(f64, Option<i64>)> {
    let all = || of.iter().flatten().copied();
    let hours = series.period as f64 / HOUR as f64;
    let same = |a: f64, b: f64| (a - b).abs() < 1e-6;
    all().next()?;
    let function = name.split('(').next().unwrap_or_default();
    let differences = || {
        let pairs = of.iter().zip(other).flat_map(|(x, y)| {
            x.iter().filter_map(move |(at, x)| Some(x - y.iter().find(|(other, _)| other == at)?.1))
        });
        pairs.collect::<Vec<f64>>()
    };
    let timed = |(at, value): (i64, f64)| (value, Some(at));
    Some(match function {
        "first" => timed(all().min_by_key(|(at, _)| *at)?),
        "last" => timed(all().reduce(|a, b| if b.0 > a.0 { b } else { a })?),
        "time_of_max" | "time_of_min" => {
            let extreme = |a: f64, b: f64| if function == "time_of_max" { a.max(b) } else { a.min(b) };
            let value = all().map(|(_, value)| value).reduce(extreme)?;
            let at = all().filter(|(_, other)| same(*other, value)).map(|(at, _)| at).min()?;
            (at as f64 / 1000.0, Some(at))
        }
        "longest" => {
            let runs = of.iter().flat_map(|readings| runs(readings, series.period, |x| x > limit));
            (runs.max().unwrap_or_default() as f64 * hours, None)
        }
        "episodes" => {
            let runs = of.iter().flat_map(|readings| runs(readings, series.period, |x| x <= limit));
            (runs.count() as f64, None)
        }
        "degree_hours" if name.contains("below") => {
            (all().map(|(_, x)| (limit - x).max(0.0) * hours).sum(), None)
        }
        "degree_hours" => (all().map(|(_, x)| (x - limit).max(0.0) * hours).sum(), None),
        "max" => (differences().into_iter().reduce(f64::max)?, None),
        "min" => (differences().into_iter().reduce(f64::min)?, None),
        _ => return None,
    })
}

/// Returns the values at each tick of a device, on straight lines between readings, with true where there is none.
pub(super) fn lines(readings: &Readings, period: i64) -> Vec<(i64, f64, bool)> {
    let mut all = Vec::new();
    for two in readings.windows(2) {
        let ((from, a), (to, b)) = (two[0], two[1]);
        let steps = (to - from) / period;
        for step in 0..steps {
            all.push((from + step * period, a + (b - a) * step as f64 / steps as f64, step > 0));
        }
    }
    all.extend(readings.last().map(|(at, value)| (*at, *value, false)));
    all
}

/// Returns the power in each band, by the definition of the transform.
pub(super) fn power(values: &[f64]) -> Vec<f64> {
    let length = values.len();
    let mean = values.iter().sum::<f64>() / length as f64;
    let mut bands = vec![0.0; BANDS];
    for k in 1..=length / 2 {
        let (mut re, mut im) = (0.0, 0.0);
        for (j, value) in values.iter().enumerate() {
            let angle = std::f64::consts::TAU * (j * k % length) as f64 / length as f64;
            re += (value - mean) * angle.cos();
            im += (value - mean) * angle.sin();
        }
        let sides = if 2 * k == length { 1.0 } else { 2.0 };
        bands[(k.ilog2() as usize).min(BANDS - 1)] += sides * (re * re + im * im) / (length * length) as f64;
    }
    bands
}
