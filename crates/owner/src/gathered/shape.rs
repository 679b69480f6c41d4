//! The shape of a distribution of readings: skewness and kurtosis from sums of powers.

use sotto_pack::{Quantiser, bounds};

use crate::value::{Value, ValueError};

/// A bound on the relative rounding of a few operations in f64.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Central moments of readings up to the fourth, in the channel's unit.
///
/// Merged by the formulas of Pébay ("Formulas for robust, one-pass parallel computation of covariances and arbitrary-order
/// statistical moments", 2008, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    count: f64,
    mean: f64,
    /// Σ (x − mean)^k for k = 2, 3, 4.
    sums: [f64; 3],
    /// Bounds on the rounding of these sums in f64.
    off: [f64; 3],
    /// The largest distance of a reading from the value that the device got.
    error: f64,
}

impl Shape {
    /// Computes the moments of `count` readings from `power(k)`, Σ q^k of their whole numbers for k = 1 to 4, below 2^100. Returns
    /// None if one is not there, or no readings have these sums.
    pub(crate) fn of_powers(
        quantiser: &Quantiser,
        count: u64,
        power: impl Fn(u8) -> Option<i128>,
        error: f64,
    ) -> Option<Self> {
        let n = i128::from(count);
        let (s1, s2, s3, s4) = (power(1)?, power(2)?, power(3)?, power(4)?);
        // About a whole number near the mean, in whole numbers: nothing cancels.
        let c = s1.checked_div(n)?;
        let two = s2 - 2 * c * s1 + n * c * c;
        let three = s3 - 3 * c * s2 + 3 * c * c * s1 - n * c * c * c;
        let four = s4 - 4 * c * s3 + 6 * c * c * s2 - 4 * c * c * c * s1 + n * c * c * c * c;
        // Even moments are not negative. A device may send sums that break it.
        if two < 0 || four < 0 {
            return None;
        }
        // Then about the mean, which is less than 1 away.
        let (n, d) = (count as f64, (s1 - n * c) as f64 / count as f64);
        let [t2, t3, t4] = [two, three, four].map(|sum| sum as f64);
        let sums = [
            t2 - n * d * d,
            t3 - 3.0 * d * t2 + 2.0 * n * d * d * d,
            t4 - 4.0 * d * t3 + 6.0 * d * d * t2 - 3.0 * n * d * d * d * d,
        ];
        let off = [t2, t3.abs() + 4.0 * t2, t4 + 4.0 * t3.abs() + 6.0 * t2].map(|size| ROUNDING * size);
        let scaled = |all: [f64; 3]| {
            let step = quantiser.step();
            [all[0] * step * step, all[1] * step * step * step, all[2] * step * step * step * step]
        };
        let mean = quantiser.sum(count, s1) / n;
        Some(Self { count: n, mean, sums: scaled(sums), off: scaled(off), error })
    }

    /// Merges two groups.
    pub(super) fn merge(&self, other: &Self) -> Self {
        if self.count == 0.0 {
            return *other;
        }
        if other.count == 0.0 {
            return *self;
        }
        let (a, b, d) = (self.count, other.count, other.mean - self.mean);
        let n = a + b;
        let ([a2, a3, a4], [b2, b3, b4]) = (self.sums, other.sums);
        let terms = |[a2, a3, a4]: [f64; 3], [b2, b3, b4]: [f64; 3], sign: f64, d: f64| {
            // With sign −1 the moments, with sign 1 and sizes a bound on their terms.
            let minus = |x: f64, y: f64| x + sign * y;
            [
                a2 + b2 + d * d * a * b / n,
                a3 + b3 + d * d * d * a * b * minus(a, b) / (n * n) + 3.0 * d * minus(a * b2, b * a2) / n,
                a4 + b4
                    + d * d * d * d * a * b * minus(a * a + b * b, a * b) / (n * n * n)
                    + 6.0 * d * d * (a * a * b2 + b * b * a2) / (n * n)
                    + 4.0 * d * minus(a * b3, b * a3) / n,
            ]
        };
        let sums = terms([a2, a3, a4], [b2, b3, b4], -1.0, d);
        let sizes = terms([a2, a3.abs(), a4], [b2, b3.abs(), b4], 1.0, d.abs());
        let errors = terms(self.off, other.off, 1.0, d.abs());
        let exactly = terms([0.0; 3], [0.0; 3], 1.0, d.abs());
        let off = [0, 1, 2].map(|k| errors[k] - exactly[k] + ROUNDING * sizes[k]);
        Self { count: n, mean: self.mean + d * b / n, sums, off, error: self.error.max(other.error) }
    }

    /// Returns the second to fourth central moment, and bounds on their rounding in f64.
    fn moments(&self) -> Result<([f64; 3], [f64; 3]), ValueError> {
        if self.count == 0.0 {
            return Err(ValueError::NO_READING);
        }
        let [two, three, four] = self.sums.map(|sum| sum / self.count);
        Ok(([two.max(0.0), three, four.max(0.0)], self.off.map(|off| off / self.count)))
    }

    /// Returns the least and the largest standard deviation that the values of the device may have.
    ///
    /// # Errors
    /// [`ValueError`] if it may be zero.
    fn deviations(&self, two: f64, off: f64) -> Result<(f64, f64), ValueError> {
        let h = bounds::deviation(self.error);
        let (least, most) = ((two - off).max(0.0).sqrt() - h, (two + off).sqrt() + h);
        if least <= 0.0 {
            return Err(ValueError::Undetermined("the readings vary too little for the declared resolution"));
        }
        Ok((least, most))
    }

    /// Returns the third central moment over the cube of the standard deviation.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings, or they may be constant up to rounding.
    pub(super) fn skewness(&self) -> Result<Value, ValueError> {
        let ([two, three, four], [off2, off3, off4]) = self.moments()?;
        let (least, most) = self.deviations(two, off2)?;
        let off = off3 + bounds::third_moment((two + off2).sqrt(), (four + off4).sqrt(), self.error);
        let cube = |x: f64| x * x * x;
        let corners = [three - off, three + off].map(|end| [end / cube(least), end / cube(most)]);
        Ok(self.within(three / cube(two.sqrt()), corners.as_flattened()))
    }

    /// Returns the fourth central moment over the square of the variance: 3 of a normal distribution.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings, or they may be constant up to rounding.
    pub(super) fn kurtosis(&self) -> Result<Value, ValueError> {
        let ([two, _, four], [off2, _, off4]) = self.moments()?;
        let (least, most) = self.deviations(two, off2)?;
        let (root, h) = (|x: f64| x.max(0.0).sqrt().sqrt(), bounds::fourth_norm(self.error));
        let (low, high) = ((root(four - off4) - h).max(0.0), root(four + off4) + h);
        let fourth = |x: f64| x * x * x * x;
        // At least 1 by Cauchy and Schwarz.
        let corners = [(fourth(low) / fourth(most)).max(1.0), fourth(high) / fourth(least)];
        Ok(self.within(four / (two * two), &corners))
    }

    /// Returns a value with a bound that reaches all of `ends`. Of readings that were not rounded it is exact: nobody would read it
    /// to more digits.
    fn within(&self, value: f64, ends: &[f64]) -> Value {
        let ends = if self.error == 0.0 { &[] } else { ends };
        let bound = ends.iter().map(|end| (end - value).abs()).fold(0.0, f64::max);
        Value { value, bound, unit: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sotto_pack::{Channel, Layout, Quantity};

    fn layout(minimum: f64, maximum: f64, resolution: f64) -> Layout {
        let x = Channel {
            name: "x".into(),
            minimum,
            maximum,
            resolution: Some(resolution),
            ..Channel::default()
        };
        Layout::of_sums(vec![x], 64).expect("a layout")
    }

    /// Returns the moments of readings as a window holds them.
    fn held(layout: &Layout, readings: &[f64]) -> Shape {
        let quantiser = layout.quantiser(0).expect("a quantiser");
        let numbers: Vec<i64> = readings.iter().map(|x| quantiser.quantise(*x).expect("in range")).collect();
        let is_rounded = readings.iter().any(|x| !quantiser.is_multiple(*x));
        let error = if is_rounded { quantiser.value_error() } else { 0.0 };
        let power = |exponent| Some(Quantity::sum_of_powers(numbers.iter().copied(), exponent));
        Shape::of_powers(quantiser, readings.len() as u64, power, error).expect("possible")
    }

    fn truth(readings: &[f64]) -> (f64, f64, f64) {
        let n = readings.len() as f64;
        let mean = readings.iter().sum::<f64>() / n;
        let moment = |k| readings.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
        let variance = moment(2);
        (variance.sqrt(), moment(3) / variance.powf(1.5), moment(4) / (variance * variance))
    }

    proptest! {
        #[test]
        fn both_are_within_their_bounds_after_merging(
            a in prop::collection::vec(-20.0..120.0f64, 1..60),
            b in prop::collection::vec(-19.0..-18.0f64, 1..60),
            tenths in any::<bool>(),
        ) {
            let round = |x: &f64| if tenths { (x * 10.0).round() / 10.0 } else { *x };
            let (a, b): (Vec<f64>, Vec<f64>) = (a.iter().map(round).collect(), b.iter().map(round).collect());
            // Windows of two ranges and resolutions.
            let (one, other) = (layout(-20.0, 120.0, 0.1), layout(-50.0, 60.0, 0.02));
            let merged = held(&one, &a).merge(&held(&other, &b)).merge(&held(&one, &b));
            let all: Vec<f64> = a.iter().chain(&b).chain(&b).copied().collect();
            let (deviation, skewness, kurtosis) = truth(&all);
            match (merged.skewness(), merged.kurtosis()) {
                (Ok(found), Ok(fourth)) => {
                    let rounding = 1e-9 * (1.0 + skewness.abs() + kurtosis);
                    prop_assert!((found.value - skewness).abs() <= found.bound + rounding, "{found:?} {skewness}");
                    prop_assert!((fourth.value - kurtosis).abs() <= fourth.bound + rounding, "{fourth:?} {kurtosis}");
                    if tenths && deviation > 1.0 {
                        prop_assert!(found.bound < 1e-6 && fourth.bound < 1e-6, "{found:?} {fourth:?}");
                    }
                    // The bound is no more than a few resolutions over the deviation.
                    let most = 40.0 * (1.0 + kurtosis) * 0.05 / deviation;
                    prop_assert!(deviation < 1.0 || (found.bound <= most && fourth.bound <= most), "{found:?} {fourth:?}");
                }
                _ => prop_assert!(deviation <= 0.05 + 1e-9, "{deviation}"),
            }
        }
    }

    #[test]
    fn readings_far_from_the_middle_lose_nothing() {
        // 2^21 steps below the middle, a few steps apart.
        let fine = layout(0.0, 4_194_304.0, 1.0);
        let readings = [3.0, 4.0, 4.0, 5.0, 9.0];
        let (_, skewness, kurtosis) = truth(&readings);
        let found = held(&fine, &readings);
        let (third, fourth) = (found.skewness().expect("readings"), found.kurtosis().expect("readings"));
        assert!((third.value - skewness).abs() < 1e-12 && third.bound == 0.0, "{third:?}");
        assert!((fourth.value - kurtosis).abs() < 1e-12 && fourth.bound == 0.0, "{fourth:?}");
        assert!(Shape::default().kurtosis().is_err());
        assert!(held(&fine, &[7.0, 7.0]).skewness().is_err(), "constant");
    }

    #[test]
    fn sums_that_no_readings_have_are_refused() {
        let fine = layout(-10.0, 10.0, 1.0);
        let quantiser = fine.quantiser(0).expect("a quantiser");
        let of =
            |sums: [i128; 4]| Shape::of_powers(quantiser, 2, |k| sums.get(usize::from(k) - 1).copied(), 0.0);
        assert!(of([2, 4, 8, 16]).is_some(), "0 and 2");
        assert_eq!(of([20, 4, 8, 16]), None);
    }
}
