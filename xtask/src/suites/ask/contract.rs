//! The largest bounds that the documentation promises.

use super::series::{Channel, Series};
use super::truth::{Group, Statistic, linear, pairs, polynomial, values, variance};
use Statistic as S;

impl Statistic {
    /// Returns the largest promised bound. None if the documentation names none.
    pub(super) fn contract(&self, series: &Series, group: &Group, value: f64) -> Option<f64> {
        let half = |at: &usize| series.channels[*at].half();
        let x = values(group, self.channel());
        Some(match self {
            S::Readings(c, of) => (of.bound)(&series.channels[*c]),
            S::Count(_) => 0.0,
            S::Sum(c) => x.len() as f64 * half(c),
            S::Energy(c) => x.len() as f64 * half(c) * series.period as f64 / 3_600_000.0,
            S::Mean(c) | S::Stddev(c) | S::MovingAverage(c, _) | S::MeanLessTwo(c) => half(c),
            S::Variance(c) => 2.0 * half(c) * value.max(0.0).sqrt() + half(c) * half(c),
            S::Covariance(cx, cy) => {
                let (x, y): (Vec<f64>, Vec<f64>) = pairs(group, *cx, *cy).into_iter().unzip();
                let (hx, hy) = (half(cx), half(cy));
                // The bound follows from the answer's own deviations, each off by half a resolution.
                let (sx, sy) = (variance(&x)?.sqrt() + hx, variance(&y)?.sqrt() + hy);
                sx * hy + sy * hx + hx * hy
            }
            // Weights are whole numbers of 16 bits.
            S::HalfLife(c, ..) => half(c) + 0.002 * (series.channels[*c].high - series.channels[*c].low),
            S::MeanPolynomial(c, coefficients) => 1e-4 * size(coefficients, &series.channels[*c]),
            S::MeanLinear(_, factors) => 1e-4 * size_of_model(factors, series),
            // Half of the readings that are nearer to the limit than the error of a value.
            S::CountPolynomial(c, coefficients, limit) => {
                let error = 1e-4 * size(coefficients, &series.channels[*c]);
                near(x.iter().map(|x| polynomial(coefficients, *x)), *limit, error) / 2.0
            }
            S::TimeLinear(constant, factors, limit) => {
                let error = 1e-4 * size_of_model(factors, series);
                let hours = series.period as f64 / 3_600_000.0;
                near(linear(group, *constant, factors).into_iter(), *limit, error) / 2.0 * hours
            }
            _ => return None,
        })
    }
}

/// Returns the number of values that are within 2 errors of a limit: a value may be off by one, and its bound is one.
fn near(values: impl Iterator<Item = f64>, limit: f64, error: f64) -> f64 {
    values.filter(|value| (value - limit).abs() <= 2.0 * error).count() as f64
}

/// Returns the size of a model's coefficients in u.
fn size_of_model(factors: &[f64], series: &Series) -> f64 {
    let size = |(factor, c): (&f64, &Channel)| factor.abs() * (c.high - c.low) / 2.0;
    factors.iter().zip(&series.channels).map(size).sum()
}

/// Returns the size of a polynomial's coefficients in u, with x = centre + half · u: Σ |c_k| without the constant.
fn size(coefficients: &[f64], channel: &Channel) -> f64 {
    let (centre, half) = ((channel.low + channel.high) / 2.0, (channel.high - channel.low) / 2.0);
    let choose = |n: usize, k: usize| (0..k).fold(1.0, |all, i| all * (n - i) as f64 / (i + 1) as f64);
    let of = |k: usize| {
        let terms = coefficients.iter().enumerate().skip(k);
        let sum: f64 = terms.map(|(n, c)| c * choose(n, k) * centre.powi((n - k) as i32)).sum();
        (sum * half.powi(k as i32)).abs()
    };
    (1..coefficients.len()).map(of).sum()
}
