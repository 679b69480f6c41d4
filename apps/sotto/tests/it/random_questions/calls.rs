//! The value of a call over readings in the clear, by its definition.

use super::cell::Cell;
use super::house::{CHANNELS, Channel, HOUR, LEVEL, POWER, RAIN, Reading, TEMP};
use super::language::{Call, Condition, Position};
use super::truth::{Outcome, Truth};
use super::vectors::of_pairs;

impl Cell<'_> {
    /// Returns the outcome of a call with one value.
    pub(crate) fn value(&self, call: &Call) -> Outcome {
        let first = call.channels()[0];
        let Channel { resolution, period, .. } = CHANNELS[first];
        let (half, hours) = (resolution / 2.0, period as f64 / HOUR as f64);
        match call {
            Call::Of(function, x) => self.of(function, *x, half, hours),
            Call::Where(function, condition) => self.conditional(function, condition, hours),
            Call::Degrees("degree_days", x, below, base) => self.degree_days(*x, *below, *base),
            Call::Degrees(_, x, below, base) => {
                let all = self.all(*x);
                let beyond = |x: f64| if *below { (base - x).max(0.0) } else { (x - base).max(0.0) };
                let sum = all.iter().map(|reading| beyond(reading.value) * hours).sum();
                some(&all).map(|_| Truth::within(sum, half * hours * self.rounded(*x))).into()
            }
            Call::Two(function, x, y) => of_pairs(function, &self.pairs(*x, *y), *x, *y),
            Call::TwoOf(function, two) => of_pairs(function, &self.of_two(*two), two[0].0, two[1].0),
            Call::Quantile(x, share) => quantile(&self.all(*x), *share).into(),
            Call::Difference(function, x, y) => {
                let apart = self.pairs(*x, *y).into_iter().map(|(x, y)| x.value - y.value);
                let value = apart.reduce(|a, b| if *function == "max" { a.max(b) } else { a.min(b) });
                value.map(|value| Truth::within(value, half + CHANNELS[*y].resolution / 2.0)).into()
            }
            Call::Weights(x, weights) => self.weights(*x, weights),
            Call::HalfLife(x, life) => self.half_life(*x, i64::from(*life) * HOUR),
            Call::Polynomial(function, x, c) => {
                let of = |x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
                let all = self.all(*x);
                let sum: f64 = all.iter().map(|reading| of(reading.value)).sum();
                let over = if *function == "mean" { all.len() as f64 } else { 1.0 };
                some(&all).map(|_| Truth::within(sum / over, f64::INFINITY)).into()
            }
            _ => Outcome::default(),
        }
    }

    fn of(&self, function: &str, x: Position, half: f64, hours: f64) -> Outcome {
        let all = self.all(x);
        let n = all.len() as f64;
        let exact = |value: f64| Outcome::from(Truth::exact(value));
        match function {
            "count" => return exact(n),
            "coverage" => {
                let expected = self.expected(x);
                return (expected > 0.0).then(|| Truth::exact(n / expected)).into();
            }
            "increase" | "changes" => return self.follows(function, x),
            _ if all.is_empty() => return Outcome::default(),
            _ => {}
        }
        let off = half * self.rounded(x);
        let sum: f64 = all.iter().map(|reading| reading.value).sum();
        let mean = sum / n;
        let variance = all.iter().map(|reading| (reading.value - mean).powi(2)).sum::<f64>() / n;
        let root = (half * off / n).sqrt();
        let values = || all.iter().map(|reading| reading.value);
        let (least, largest) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        // Extremes that were declared have a bound of their own.
        let is_declared = match function {
            "min" => matches!(x, TEMP | LEVEL),
            _ => matches!(x, TEMP | POWER | RAIN),
        };
        let extreme = if is_declared { if off > 0.0 { half } else { 0.0 } } else { f64::INFINITY };
        match function {
            "sum" => Truth::within(sum, off),
            "mean" => Truth::within(mean, off / n),
            "energy" => Truth::within(sum * hours, off * hours),
            // The documentation's bound holds for the deviation of the answer, which is off by as much.
            "variance" => Truth::within(variance, 2.0 * root * (variance.sqrt() + root) + root * root),
            "stddev" => Truth::within(variance.sqrt(), root),
            "rms" => Truth::within((values().map(|x| x * x).sum::<f64>() / n).sqrt(), root),
            "min" => Truth::within(least, extreme),
            "max" => Truth::within(largest, extreme),
            "range" => Truth::within(largest - least, f64::INFINITY),
            "median" => return quantile(&all, 0.5).into(),
            "direction" => {
                let turn = |f: fn(f64) -> f64| values().map(|x| f(x.to_radians())).sum::<f64>() / n;
                let (sine, cosine) = (turn(f64::sin), turn(f64::cos));
                let length = sine.hypot(cosine);
                let rounded = if off > 0.0 { half.to_radians() } else { 0.0 };
                let most = (rounded + 3.1e-5) / length;
                let most = if most < 1.0 { most.asin().to_degrees() } else { 180.0 };
                let value = sine.atan2(cosine).to_degrees().rem_euclid(360.0);
                return Outcome::from(Truth::within(value, most)).perhaps(most > 45.0);
            }
            "first" | "last" => {
                let at = all
                    .iter()
                    .map(|reading| reading.at)
                    .reduce(|a, b| if function == "first" { a.min(b) } else { a.max(b) });
                let of = all.iter().filter(|reading| Some(reading.at) == at);
                let values = of.map(|reading| Truth::within(reading.value, half)).collect();
                return Outcome { values, may_be_empty: false };
            }
            "time_of_max" | "time_of_min" => {
                let order = |one: f64, other: f64| {
                    if function == "time_of_max" { one.max(other) } else { one.min(other) }
                };
                let extreme = all.iter().map(|reading| reading.rounded).reduce(order).unwrap_or_default();
                let is_it = |reading: &&Reading| (reading.rounded - extreme).abs() < half / 10.0;
                let at = all.iter().filter(is_it).map(|reading| reading.at).min().unwrap_or_default();
                Truth::exact(at as f64 / 1000.0)
            }
            other => panic!("{other}"),
        }
        .into()
    }

    fn conditional(&self, function: &str, condition: &Condition, hours: f64) -> Outcome {
        let x = condition.channel();
        let holds = |reading: &Reading| holds(condition, reading.rounded);
        let all = self.all(x);
        let count = all.iter().filter(|reading| holds(reading)).count() as f64;
        let wide = f64::INFINITY;
        let value = match function {
            "count" => return Truth::within(count, wide).into(),
            _ if all.is_empty() => return Outcome::default(),
            "time" => Truth::within(count * hours, wide),
            "share" => Truth::within(count / all.len() as f64, wide),
            _ => {
                let period = CHANNELS[x].period;
                let runs: Vec<i64> =
                    self.by_device(x).iter().flat_map(|own| runs(own, period, &holds)).collect();
                match function {
                    "longest" => Truth::exact(runs.iter().copied().max().unwrap_or_default() as f64 * hours),
                    _ => Truth::exact(runs.len() as f64),
                }
            }
        };
        value.into()
    }
}

fn some(all: &[Reading]) -> Option<()> {
    (!all.is_empty()).then_some(())
}

/// Returns true if a condition holds for a reading as the device rounds it.
fn holds(condition: &Condition, value: f64) -> bool {
    let resolution = CHANNELS[condition.channel()].resolution;
    let equal = |limit: f64| (value - limit).abs() < 1e-6 * resolution;
    let above = |limit: f64, or_equal: bool| if equal(limit) { or_equal } else { value > limit };
    match condition {
        Condition::Side(_, sign, limit) => match *sign {
            ">" => above(*limit, false),
            ">=" => above(*limit, true),
            "<" => !above(*limit, true),
            "<=" => !above(*limit, false),
            "=" => equal(*limit),
            _ => !equal(*limit),
        },
        Condition::Between(_, low, high) => above(low.0, low.1) && !above(high.0, !high.1),
        Condition::State(_, is, open) => (value > 0.5) == (is == open),
    }
}

/// Returns the length of each run of readings that follow each other, for which a condition holds, in periods.
fn runs(readings: &[Reading], period: i64, holds: &dyn Fn(&Reading) -> bool) -> Vec<i64> {
    let (mut all, mut last): (Vec<i64>, _) = (Vec::new(), None);
    for reading in readings.iter().filter(|reading| holds(reading)) {
        match all.last_mut().filter(|_| last == Some(reading.at - period)) {
            Some(run) => *run += 1,
            None => all.push(1),
        }
        last = Some(reading.at);
    }
    all
}

fn quantile(all: &[Reading], share: f64) -> Option<Truth> {
    let mut values: Vec<f64> = all.iter().map(|reading| reading.value).collect();
    values.sort_by(f64::total_cmp);
    let rank = ((share * values.len() as f64 - 1e-9).ceil() as usize).clamp(1, values.len().max(1));
    values.get(rank - 1).map(|value| Truth::within(*value, f64::INFINITY))
}
