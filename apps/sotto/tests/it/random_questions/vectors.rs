//! Calls with several values, and functions of pairs of readings.

use super::cell::Cell;
use super::house::{CHANNELS, Channel, HOUR, Reading};
use super::language::{Call, Position};
use super::truth::{Outcome, Truth};

impl Cell<'_> {
    /// Returns the values of a call that has several.
    pub(crate) fn values(&self, call: &Call) -> Vec<Outcome> {
        match call {
            Call::Two(function, x, y) => regressed(function, &self.pairs(*x, *y), *x, *y),
            Call::TwoOf(function, two) => regressed(function, &self.of_two(*two), two[0].0, two[1].0),
            Call::Bins(x, bins) => {
                let Channel { low, high, .. } = CHANNELS[*x];
                let width = (high - low) / *bins as f64;
                let edges: Vec<f64> = (0..=*bins).map(|bin| low + width * bin as f64).collect();
                self.histogram(*x, &edges)
            }
            Call::Edges(x, edges) => self.histogram(*x, edges),
            Call::Interpolate(x, longest) => self.lines(*x, longest.map_or(i64::MAX, |hours| hours * HOUR)),
            Call::Spectrum(x, bands) => self.spectrum(*x, *bands),
            other => vec![self.value(other)],
        }
    }

    fn histogram(&self, x: Position, edges: &[f64]) -> Vec<Outcome> {
        let all = self.all(x);
        let near = 1e-6 * CHANNELS[x].resolution;
        let last = edges.len() - 2;
        let of_bin = |(bin, ends): (usize, &[f64])| {
            let inside = |reading: &&Reading| {
                let value = reading.rounded;
                value > ends[0] - near && (value < ends[1] - near || bin == last && value < ends[1] + near)
            };
            Truth::within(all.iter().filter(inside).count() as f64, f64::INFINITY).into()
        };
        edges.windows(2).enumerate().map(of_bin).collect()
    }

    /// Returns the value at each tick between the first and the last reading, on straight lines between readings.
    fn lines(&self, x: Position, longest: i64) -> Vec<Outcome> {
        let all = self.all(x);
        let (half, period) = (CHANNELS[x].resolution / 2.0, CHANNELS[x].period);
        let mut values = Vec::new();
        for two in all.windows(2) {
            let (before, after) = (two[0], two[1]);
            let steps = (after.at - before.at) / period;
            // No line leads over a time that is not asked for.
            let is_whole = (before.at..after.at).step_by(period as usize).all(|at| (self.counts)(at));
            let shown = if after.at - before.at > longest || !is_whole { 1 } else { steps };
            for step in 0..shown {
                let value = before.value + (after.value - before.value) * step as f64 / steps as f64;
                values.push(Outcome::from(Truth::within(value, half)));
            }
        }
        values.extend(all.last().map(|reading| Outcome::from(Truth::within(reading.value, half))));
        if values.is_empty() { vec![Outcome::default()] } else { values }
    }

    /// Returns the power by band, by the definition of the transform.
    fn spectrum(&self, x: Position, bands: usize) -> Vec<Outcome> {
        let all = self.all(x);
        let period = CHANNELS[x].period;
        let length =
            all.first().zip(all.last()).map_or(0, |(first, last)| (last.at - first.at) / period + 1) as usize;
        let gaps = length - all.len();
        if length < 4 || gaps * 20 > length {
            return vec![Outcome::default()];
        }
        // Each band has a frequency.
        let bands = bands.min((length / 2).ilog2() as usize + 1);
        let values: Vec<f64> = self.lines(x, i64::MAX).iter().map(|outcome| outcome.values[0].low).collect();
        let mean = values.iter().sum::<f64>() / length as f64;
        let mut power = vec![0.0; bands];
        for k in 1..=length / 2 {
            let (mut re, mut im) = (0.0, 0.0);
            for (j, value) in values.iter().enumerate() {
                let angle = std::f64::consts::TAU * (j * k % length) as f64 / length as f64;
                re += (value - mean) * angle.cos();
                im += (value - mean) * angle.sin();
            }
            let sides = if 2 * k == length { 1.0 } else { 2.0 };
            power[(k.ilog2() as usize).min(bands - 1)] +=
                sides * (re * re + im * im) / (length * length) as f64;
        }
        power.into_iter().map(|power| Outcome::from(Truth::within(power, f64::INFINITY))).collect()
    }
}

/// Returns the value of a function of pairs; of a regression the slope.
pub(super) fn of_pairs(function: &str, pairs: &[(Reading, Reading)], x: Position, y: Position) -> Outcome {
    regressed(function, pairs, x, y).into_iter().next().unwrap_or_default()
}

/// Returns the values of a function of pairs: one, or slope and intercept.
fn regressed(function: &str, pairs: &[(Reading, Reading)], x: Position, y: Position) -> Vec<Outcome> {
    let n = pairs.len() as f64;
    let number = if function == "regression" { 2 } else { 1 };
    if pairs.is_empty() {
        return vec![Outcome::default(); number];
    }
    let mean = |of: &dyn Fn(&(Reading, Reading)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(&|pair| pair.0.value), mean(&|pair| pair.1.value));
    let covariance = mean(&|pair| (pair.0.value - mean_x) * (pair.1.value - mean_y));
    let variance_x = mean(&|pair| (pair.0.value - mean_x).powi(2));
    let variance_y = mean(&|pair| (pair.1.value - mean_y).powi(2));
    let of = |value: f64, is_sure: bool| {
        let truth = value.is_finite().then(|| Truth::within(value, f64::INFINITY));
        Outcome::from(truth).perhaps(!is_sure)
    };
    // A deviation within the resolution may be zero.
    let varies = |variance: f64, x: Position| variance.sqrt() > 2.0 * CHANNELS[x].resolution;
    let (sure_x, sure_y) = (varies(variance_x, x), varies(variance_y, y));
    let slope = covariance / variance_x;
    match function {
        "covariance" => vec![of(covariance, true)],
        "correlation" => vec![of(covariance / (variance_x * variance_y).sqrt(), sure_x && sure_y)],
        _ => vec![of(slope, sure_x), of(mean_y - slope * mean_x, sure_x)],
    }
}
