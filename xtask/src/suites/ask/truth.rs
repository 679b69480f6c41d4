//! Statistics in plain f64 over readings in the clear: the expected answers.

use super::series::{Channel, Sample, Series};

/// The linear form of these suites: its factors and its constant.
pub(super) const FACTORS: &[f64] = &[0.5, -0.25];
pub(super) const CONSTANT: f64 = 2.0;

/// A group of readings.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) samples: Vec<Sample>,
}

impl Group {
    /// Returns the number of ticks of the period in the group.
    pub(super) fn ticks(&self, period: i64) -> i64 {
        (self.to - self.from + period - 1) / period
    }
}

/// A function of a channel's readings, with a value in the channel's unit.
#[derive(Debug)]
pub(super) struct OfReadings {
    pub(super) function: &'static str,
    /// The value of one reading or more.
    pub(super) value: fn(&[f64]) -> f64,
    /// The largest promised bound.
    pub(super) bound: fn(&Channel) -> f64,
}

/// One requested result. Channels are given by position.
#[derive(Clone, Debug)]
pub(super) enum Statistic {
    Readings(usize, &'static OfReadings),
    Count(usize),
    Sum(usize),
    Mean(usize),
    Variance(usize),
    Stddev(usize),
    Energy(usize),
    Covariance(usize, usize),
    Correlation(usize, usize),
    /// The slope of the second channel against the first.
    Slope(usize, usize),
    Intercept(usize, usize),
    Weights(usize, &'static [f64]),
    /// The half-life as text and in milliseconds.
    HalfLife(usize, &'static str, i64),
    MovingAverage(usize, usize),
    SumPolynomial(usize, &'static [f64]),
    MeanPolynomial(usize, &'static [f64]),
    /// The model in the file `model.json`: an intercept and a coefficient for each channel.
    MeanLinear(f64, &'static [f64]),
    /// The number of readings at which a polynomial is greater than a limit.
    CountPolynomial(usize, &'static [f64], f64),
    /// The hours in which the model in the file `model.json` is at most a limit.
    TimeLinear(f64, &'static [f64], f64),
    /// The difference of the means of two channels of one unit, in one question.
    MeanLessTwo(usize),
    MeanOverStddev(usize),
    MeanTimesCount(usize),
}

use Statistic as S;

impl Statistic {
    /// Returns the name of its row.
    pub(super) fn name(&self, channels: &[Channel]) -> String {
        let of = |at: &usize| channels[*at].name;
        let call = |function: &str, at: &usize| format!("{function}({})", of(at));
        match self {
            S::Readings(x, of) => call(of.function, x),
            S::Count(x) => call("count", x),
            S::Sum(x) => call("sum", x),
            S::Mean(x) => call("mean", x),
            S::Variance(x) => call("variance", x),
            S::Stddev(x) => call("stddev", x),
            S::Energy(x) => call("energy", x),
            S::Covariance(x, y) => format!("covariance({}, {})", of(x), of(y)),
            S::Correlation(x, y) => format!("correlation({}, {})", of(x), of(y)),
            S::Slope(x, y) => format!("regression({} ~ {}).slope", of(y), of(x)),
            S::Intercept(x, y) => format!("regression({} ~ {}).intercept", of(y), of(x)),
            S::Weights(x, weights) => format!("weighted_sum({}, {})", of(x), list(weights)),
            S::HalfLife(x, time, _) => format!("weighted_sum({}, half_life {time})", of(x)),
            S::MovingAverage(x, groups) => format!("moving_average({}, {groups})", of(x)),
            S::SumPolynomial(x, c) => format!("sum(polynomial({}, {}))", of(x), list(c)),
            S::MeanPolynomial(x, c) => format!("mean(polynomial({}, {}))", of(x), list(c)),
            S::MeanLinear(..) => "mean(linear(model.json))".to_owned(),
            S::CountPolynomial(x, c, limit) => format!("count(polynomial({}, {}) > {limit})", of(x), list(c)),
            S::TimeLinear(.., limit) => format!("time(linear(model.json) <= {limit})"),
            S::MeanLessTwo(x) => format!("mean({}) - 2", of(x)),
            S::MeanOverStddev(x) => format!("mean({0}) / stddev({0})", of(x)),
            S::MeanTimesCount(x) => format!("mean({0}) * count({0})", of(x)),
        }
    }

    /// Returns the text that requests it. None for the intercept, which the slope's text already requests.
    pub(super) fn text(&self, channels: &[Channel]) -> Option<String> {
        match self {
            S::Intercept(..) => None,
            S::Slope(..) => Some(self.name(channels).replace(".slope", "")),
            _ => Some(self.name(channels)),
        }
    }

    pub(super) fn unit(&self, channels: &[Channel]) -> String {
        let of = |at: &usize| channels[*at].unit.to_owned();
        match self {
            S::Count(_) | S::Correlation(..) | S::MeanOverStddev(_) => String::new(),
            S::SumPolynomial(..) | S::MeanPolynomial(..) | S::MeanLinear(..) | S::CountPolynomial(..) => {
                String::new()
            }
            S::TimeLinear(..) => "h".to_owned(),
            S::Variance(x) if of(x).contains('/') => format!("({})²", of(x)),
            S::Variance(x) => format!("{}²", of(x)),
            S::Energy(x) => times(&of(x), "h"),
            S::Covariance(x, y) => times(&of(x), &whole(&of(y))),
            S::Slope(x, y) => format!("{}/{}", whole(&of(y)), whole(&of(x))),
            S::Intercept(_, y) => of(y),
            S::Sum(x) | S::Mean(x) | S::Stddev(x) | S::Weights(x, _) => of(x),
            S::HalfLife(x, ..) | S::MovingAverage(x, _) | S::MeanLessTwo(x) | S::MeanTimesCount(x) => of(x),
            S::Readings(x, _) => of(x),
        }
    }

    /// Returns the number of readings that the result covers.
    pub(super) fn count(&self, groups: &[Group], at: usize) -> u64 {
        let group = &groups[at];
        let count = match self {
            S::Covariance(x, y) | S::Correlation(x, y) | S::Slope(x, y) | S::Intercept(x, y) => {
                pairs(group, *x, *y).len()
            }
            S::MeanLinear(_, factors) | S::TimeLinear(_, factors, _) => linear(group, 0.0, factors).len(),
            S::MovingAverage(x, count) => {
                let first = (at + 1).saturating_sub(*count);
                groups[first..=at].iter().map(|group| values(group, *x).len()).sum()
            }
            _ => values(group, self.channel()).len(),
        };
        count as u64
    }

    pub(super) fn channel(&self) -> usize {
        match self {
            S::Count(x) | S::Sum(x) | S::Mean(x) | S::Variance(x) | S::Stddev(x) => *x,
            S::Energy(x) | S::MeanLessTwo(x) | S::MeanOverStddev(x) | S::MeanTimesCount(x) => *x,
            S::Covariance(x, _) | S::Correlation(x, _) | S::Slope(x, _) | S::Intercept(x, _) => *x,
            S::Weights(x, _) | S::HalfLife(x, ..) | S::MovingAverage(x, _) => *x,
            S::SumPolynomial(x, _) | S::MeanPolynomial(x, _) | S::CountPolynomial(x, ..) => *x,
            S::MeanLinear(..) | S::TimeLinear(..) => 0,
            S::Readings(x, _) => *x,
        }
    }

    /// Returns the value. None if it is undefined.
    pub(super) fn value(&self, series: &Series, groups: &[Group], at: usize) -> Option<f64> {
        let group = &groups[at];
        let x = values(group, self.channel());
        match self {
            S::Count(_) => return Some(x.len() as f64),
            S::CountPolynomial(_, c, limit) => {
                return Some(x.iter().filter(|x| polynomial(c, **x) > *limit).count() as f64);
            }
            S::TimeLinear(constant, factors, limit) => {
                let values = linear(group, *constant, factors);
                let below = values.iter().filter(|value| **value <= *limit).count();
                let hours = series.period as f64 / 3_600_000.0;
                return (!values.is_empty()).then_some(below as f64 * hours);
            }
            S::MovingAverage(channel, count) => {
                let first = (at + 1).checked_sub(*count)?;
                let of = |group| values(group, *channel);
                return mean(&groups[first..=at].iter().flat_map(of).collect::<Vec<_>>());
            }
            S::MeanLinear(constant, factors) => return mean(&linear(group, *constant, factors)),
            S::Covariance(x, y) | S::Correlation(x, y) | S::Slope(x, y) | S::Intercept(x, y) => {
                return self.of_pairs(&pairs(group, *x, *y));
            }
            _ if x.is_empty() => return None,
            _ => {}
        }
        let (n, sum, mean) = (x.len() as f64, x.iter().sum::<f64>(), mean(&x)?);
        let hours = series.period as f64 / 3_600_000.0;
        Some(match self {
            S::Readings(_, of) => (of.value)(&x),
            S::Sum(_) => sum,
            S::Mean(_) => mean,
            S::Variance(_) => variance(&x)?,
            S::Stddev(_) => variance(&x)?.sqrt(),
            S::Energy(_) => sum * hours,
            S::Weights(channel, weights) => {
                let ticks = group.ticks(series.period);
                // The group is divided into as many equal parts as there are weights, and each weight is spread evenly
                // over its part: a tick takes from every part in proportion to its overlap.
                let part = ticks as f64 / weights.len() as f64;
                let covered = |j: usize, tick: i64| {
                    let (from, to) = (j as f64 * part, (j + 1) as f64 * part);
                    (to.min((tick + 1) as f64) - from.max(tick as f64)).max(0.0) / part
                };
                // Weights of each sign are shared out by themselves.
                let of_sign = |side: fn(f64, f64) -> f64| {
                    let some: Vec<f64> = weights.iter().map(|weight| side(*weight, 0.0)).collect();
                    if some.iter().all(|weight| *weight == 0.0) {
                        return Some(0.0);
                    }
                    let share =
                        |tick: i64| some.iter().enumerate().map(|(j, w)| w * covered(j, tick)).sum::<f64>();
                    weighted(series, group, *channel, &(0..ticks).map(share).collect::<Vec<_>>())
                };
                of_sign(f64::max)? + of_sign(f64::min)?
            }
            S::HalfLife(channel, _, time) => {
                let ticks = group.ticks(series.period);
                let weight = |tick: i64| (-((ticks - 1 - tick) * series.period) as f64 / *time as f64).exp2();
                let total: f64 = (0..ticks).map(weight).sum();
                let weights: Vec<f64> = (0..ticks).map(|tick| weight(tick) / total).collect();
                weighted(series, group, *channel, &weights)?
            }
            S::SumPolynomial(_, c) => x.iter().map(|x| polynomial(c, *x)).sum(),
            S::MeanPolynomial(_, c) => x.iter().map(|x| polynomial(c, *x)).sum::<f64>() / n,
            S::MeanLessTwo(_) => mean - 2.0,
            S::MeanOverStddev(_) => mean / variance(&x)?.sqrt(),
            S::MeanTimesCount(_) => mean * n,
            _ => return None,
        })
    }

    fn of_pairs(&self, pairs: &[(f64, f64)]) -> Option<f64> {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (mean_x, mean_y) = (mean(&x)?, mean(&y)?);
        let products = pairs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y));
        let (covariance, variance_x) = (products.sum::<f64>() / x.len() as f64, variance(&x)?);
        let value = match self {
            S::Covariance(..) => covariance,
            S::Correlation(..) => covariance / (variance_x * variance(&y)?).sqrt(),
            S::Slope(..) => covariance / variance_x,
            _ => mean_y - covariance / variance_x * mean_x,
        };
        value.is_finite().then_some(value)
    }
}

/// Returns a unit in parentheses if it is a quotient.
fn whole(unit: &str) -> String {
    if unit.contains('/') { format!("({unit})") } else { unit.to_owned() }
}

/// Returns the unit of a product: the factor stands above the line.
fn times(unit: &str, factor: &str) -> String {
    match unit.split_once('/') {
        Some((above, below)) => format!("{above}·{factor}/{below}"),
        None => format!("{unit}·{factor}"),
    }
}

/// Returns total · Σ w·x / Σ w over the present readings, with a weight for each tick.
fn weighted(series: &Series, group: &Group, channel: usize, weights: &[f64]) -> Option<f64> {
    let (mut sum, mut there) = (0.0, 0.0);
    for sample in &group.samples {
        if let Some(value) = sample.values[channel] {
            let weight = weights[((sample.at - group.from) / series.period) as usize];
            sum += weight * value;
            there += weight;
        }
    }
    (there != 0.0).then_some(weights.iter().sum::<f64>() * sum / there)
}

pub(super) fn values(group: &Group, channel: usize) -> Vec<f64> {
    group.samples.iter().filter_map(|sample| sample.values[channel]).collect()
}

pub(super) fn pairs(group: &Group, x: usize, y: usize) -> Vec<(f64, f64)> {
    group.samples.iter().filter_map(|sample| sample.values[x].zip(sample.values[y])).collect()
}

/// Returns a model's values at the times at which all channels have a reading.
pub(super) fn linear(group: &Group, constant: f64, factors: &[f64]) -> Vec<f64> {
    let of = |sample: &Sample| {
        let terms = factors.iter().zip(sample.values).map(|(factor, value)| Some(factor * value?));
        terms.sum::<Option<f64>>().map(|sum| constant + sum)
    };
    group.samples.iter().filter_map(of).collect()
}

pub(super) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().enumerate().map(|(power, c)| c * x.powi(power as i32)).sum()
}

fn mean(x: &[f64]) -> Option<f64> {
    (!x.is_empty()).then(|| x.iter().sum::<f64>() / x.len() as f64)
}

pub(super) fn variance(x: &[f64]) -> Option<f64> {
    let mean = mean(x)?;
    Some(x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64)
}

pub(super) fn list(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("[{}]", numbers.join(", "))
}
