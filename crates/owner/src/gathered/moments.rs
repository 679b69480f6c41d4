//! Counts, means and central moments of groups of readings, merged without loss, and the statistics computed from them.
//!
//! Decrypted sums of whole numbers are exact. Mean and sum of squared deviations are computed from integer differences,
//! so nothing cancels. Groups of different devices or declared ranges are merged by the formula of Chan, Golub and
//! LeVeque ("Updating formulae and a pairwise algorithm for computing sample variances", 1979).

use sotto_pack::{Quantiser, bounds};

pub use super::off::Off;
use crate::value::{Bounded, Value, ValueError, product, quotient, ratio, squared};

/// Count, mean and spread of the readings of one channel in a group.
///
/// ```
/// use sotto_owner::moments::{Moments, Off};
///
/// // Readings 19 and 21 °C, then 29 and 31 °C, one of each pair rounded by at most 0.05 °C.
/// let of_mean = |mean| {
///     Moments { count: 2, mean, total: 2.0 * mean, squared: Some(2.0), off: Off::of(1, 0.05), largest: 120.0 }
/// };
/// let all = of_mean(20.0).merge(&of_mean(30.0));
/// let mean = all.mean("°C")?;
/// assert_eq!((mean.value, mean.unit.as_str()), (25.0, "°C"));
/// assert!((mean.bound - 0.025).abs() < 1e-9);
/// assert!((all.variance("°C")?.value - 26.0).abs() < 1e-9);
/// # Ok::<(), sotto_owner::value::ValueError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Number of readings.
    pub count: u64,
    /// The mean, in the channel's unit.
    pub mean: f64,
    /// Σ x.
    pub total: f64,
    /// Σ (x − mean)²; None if squares were not requested.
    pub squared: Option<f64>,
    /// How far the readings may be off the values that the device got.
    pub off: Off,
    /// The largest |reading| in the declared range.
    pub largest: f64,
}

/// Moments of two channels over the ticks at which both have a reading.
///
/// ```
/// use sotto_owner::moments::{Moments, Off, Pair};
///
/// // Loads 1, 2, 3 kW at which a boiler takes 2, 4, 6 litres, none of them rounded.
/// let of = |mean, squared| {
///     let (total, off) = (3.0 * mean, Off::default());
///     Moments { count: 3, mean, total, squared: Some(squared), off, largest: 10.0 }
/// };
/// let pair = Pair { x: of(2.0, 2.0), y: of(4.0, 8.0), product: 4.0 };
/// let [slope, intercept] = pair.regression(["kW", "l"])?;
/// assert_eq!((slope.value, slope.bound), (2.0, 0.0));
/// assert!(intercept.value.abs() < 1e-9);
/// assert!((pair.correlation()?.value - 1.0).abs() < 1e-9);
/// # Ok::<(), sotto_owner::value::ValueError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// The first channel's moments over these ticks.
    pub x: Moments,
    /// The second channel's moments over these ticks.
    pub y: Moments,
    /// Σ (x − mean x)(y − mean y).
    pub product: f64,
}

impl Moments {
    /// Computes moments from exact sums of the quantiser's whole numbers: Σ q and, if requested, Σ q². Of the readings, at most
    /// `rounded` were rounded.
    #[must_use]
    pub fn of_sums(
        quantiser: &Quantiser,
        [count, rounded]: [u64; 2],
        sum: i128,
        squares: Option<i128>,
    ) -> Self {
        if count == 0 {
            return Self { squared: squares.map(|_| 0.0), ..Self::default() };
        }
        let (n, step) = (count as f64, quantiser.step());
        let spread = |squares: i128| {
            // n·Σq² − (Σq)² ≥ 0 by Cauchy and Schwarz. A device may send squares that break it.
            let exact = i128::from(count) * squares - sum * sum;
            step * step * (exact.max(0) as f64) / n
        };
        let total = quantiser.sum(count, sum);
        Self {
            count,
            mean: total / n,
            total,
            squared: squares.map(spread),
            off: Off::of(rounded, quantiser.value_error()),
            largest: quantiser.value(quantiser.top()).abs().max(quantiser.value(-quantiser.top()).abs()),
        }
    }

    /// Merges two groups.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        let (a, b) = match (self.count, other.count) {
            (0, _) => return *other,
            (_, 0) => return *self,
            (a, b) => (a as f64, b as f64),
        };
        let (n, apart) = (a + b, other.mean - self.mean);
        let squared = self.squared.zip(other.squared).map(|(x, y)| x + y + apart * apart * (a * b / n));
        Self {
            count: self.count + other.count,
            mean: self.mean + apart * (b / n),
            total: self.total + other.total,
            squared,
            off: self.off.merge(other.off),
            largest: self.largest.max(other.largest),
        }
    }

    /// Returns a bound on the rounding in f64 for a number of this size.
    fn rounding(&self, size: f64) -> f64 {
        64.0 * f64::EPSILON * size
    }

    /// Returns a bound with that of the rounding in f64 for a number of this size. Of readings that were not rounded a value is
    /// exact: nobody would read it to more digits.
    fn bound(&self, bound: f64, size: f64) -> f64 {
        if self.off.is_nothing() { 0.0 } else { bound + self.rounding(size) }
    }

    /// Returns the size of a number whose rounding in f64 is that of a spread: squares are differences of whole numbers.
    fn spread_size(&self) -> f64 {
        self.largest * self.largest * 1e-3
    }

    fn n(&self) -> Result<f64, ValueError> {
        if self.count == 0 { Err(ValueError::NO_READING) } else { Ok(self.count as f64) }
    }

    /// Returns the mean. Its error is at most the mean rounding of a reading.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn mean(&self, unit: &str) -> Result<Value, ValueError> {
        self.n()?;
        let bound = self.bound(bounds::mean(self.off.of_mean(self.count)), self.largest);
        Ok(Value { value: self.mean, bound, unit: unit.to_owned() })
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn sum(&self, unit: &str) -> Result<Value, ValueError> {
        let n = self.n()?;
        let bound = self.bound(self.off.of_sum(), n * self.largest);
        Ok(Value { value: self.total, bound, unit: unit.to_owned() })
    }

    /// Returns the variance, divided by the count.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings, or squares were not requested.
    pub fn variance(&self, unit: &str) -> Result<Value, ValueError> {
        let Bounded { value, bound } = self.spread()?;
        Ok(Value { value, bound, unit: squared(unit) })
    }

    /// Returns the standard deviation.
    ///
    /// # Errors
    /// Those of [`Moments::variance`].
    pub fn deviation(&self, unit: &str) -> Result<Value, ValueError> {
        let Bounded { value, .. } = self.spread()?;
        let bound = self.bound(bounds::deviation(self.off.of_norm(self.count)), self.largest);
        Ok(Value { value: value.sqrt(), bound, unit: unit.to_owned() })
    }

    /// Returns the root mean square. It is a norm of the readings, so its error is at most the norm of their roundings.
    ///
    /// # Errors
    /// Those of [`Moments::variance`].
    pub fn root_mean_square(&self, unit: &str) -> Result<Value, ValueError> {
        let variance = self.spread()?.value;
        let value = (variance + self.mean * self.mean).sqrt();
        let bound = self.bound(self.off.of_norm(self.count), self.largest);
        Ok(Value { value, bound, unit: unit.to_owned() })
    }

    /// Returns the variance and a bound on its error, which follows from the answer's own deviation: with x = y + δ and
    /// y the rounded readings, |var x − var y| ≤ 2·sd(y)·h + h², where h² bounds the mean δ².
    fn spread(&self) -> Result<Bounded, ValueError> {
        let n = self.n()?;
        let squared = self.squared.ok_or(ValueError::Undetermined("squares were not computed"))?;
        let value = squared / n;
        let bound = bounds::variance(value.sqrt(), self.off.of_norm(self.count));
        Ok(Bounded { value, bound: self.bound(bound, self.spread_size()) })
    }
}

impl Pair {
    /// Computes moments from exact sums over the ticks at which both channels have a reading. Of these readings, at most
    /// `rounded` of each channel were rounded.
    #[must_use]
    pub fn of_sums(
        quantisers: [&Quantiser; 2],
        count: u64,
        rounded: [u64; 2],
        sums: [i128; 2],
        squares: [Option<i128>; 2],
        products: i128,
    ) -> Self {
        let x = Moments::of_sums(quantisers[0], [count, rounded[0]], sums[0], squares[0]);
        let y = Moments::of_sums(quantisers[1], [count, rounded[1]], sums[1], squares[1]);
        if count == 0 {
            return Self { x, y, product: 0.0 };
        }
        let exact = i128::from(count) * products - sums[0] * sums[1];
        let product = quantisers[0].step() * quantisers[1].step() * (exact as f64) / count as f64;
        Self { x, y, product }
    }

    /// Merges two groups.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        let (a, b) = match (self.x.count, other.x.count) {
            (0, _) => return *other,
            (_, 0) => return *self,
            (a, b) => (a as f64, b as f64),
        };
        let apart = (other.x.mean - self.x.mean) * (other.y.mean - self.y.mean);
        Self {
            x: self.x.merge(&other.x),
            y: self.y.merge(&other.y),
            product: self.product + other.product + apart * (a * b / (a + b)),
        }
    }

    /// Returns the pair with its channels exchanged.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self { x: self.y, y: self.x, product: self.product }
    }

    /// Returns the covariance, divided by the count, and its bound sd(x)·h_y + sd(y)·h_x + h_x·h_y by Cauchy and
    /// Schwarz, where h² bounds the mean δ² of a channel.
    fn covariance_and_bound(&self) -> Result<Bounded, ValueError> {
        let n = self.x.n()?;
        let deviation = |of: &Moments| Ok(of.spread()?.value.sqrt());
        let (sx, sy): (f64, f64) = (deviation(&self.x)?, deviation(&self.y)?);
        let (hx, hy) = (self.x.off.of_norm(self.x.count), self.y.off.of_norm(self.y.count));
        let (bound, size) = (sx * hy + sy * hx + hx * hy, self.x.largest * self.y.largest * 1e-3);
        let is_exact = self.x.off.is_nothing() && self.y.off.is_nothing();
        let bound = if is_exact { 0.0 } else { bound + self.x.rounding(size) };
        Ok(Bounded { value: self.product / n, bound })
    }

    /// Returns the covariance.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn covariance(&self, units: [&str; 2]) -> Result<Value, ValueError> {
        let Bounded { value, bound } = self.covariance_and_bound()?;
        Ok(Value { value, bound, unit: product(units[0], units[1]) })
    }

    /// Returns the correlation, −1 to 1.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings, or a channel may be constant up to rounding.
    pub fn correlation(&self) -> Result<Value, ValueError> {
        let covariance = self.covariance_and_bound()?;
        let (sx, sy) = (self.x.deviation("")?, self.y.deviation("")?);
        let constant =
            || ValueError::Undetermined("the readings vary too little for the declared resolution");
        let is_constant =
            |of: &Moments, deviation: &Value| deviation.value <= deviation.bound.max(of.rounding(of.largest));
        if is_constant(&self.x, &sx) || is_constant(&self.y, &sy) {
            return Err(constant());
        }
        let both = sx.times(&sy);
        if both.value <= both.bound {
            return Err(constant());
        }
        let Bounded { value, bound } = quotient(covariance, both.bounded());
        Ok(Value { value: value.clamp(-1.0, 1.0), bound: bound.min(2.0), unit: String::new() })
    }

    /// Returns slope and intercept of the least-squares line y = slope · x + intercept.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings, or x may be constant up to rounding.
    pub fn regression(&self, units: [&str; 2]) -> Result<[Value; 2], ValueError> {
        let covariance = self.covariance_and_bound()?;
        let variance = self.x.spread()?;
        if variance.value <= variance.bound.max(self.x.rounding(self.x.spread_size())) {
            return Err(ValueError::Undetermined("x varies too little for the declared resolution"));
        }
        let Bounded { value, bound } = quotient(covariance, variance);
        let slope = Value { value, bound, unit: String::new() };
        let intercept = self.y.mean("")?.plus(&slope.clone().times(&self.x.mean("")?).negated())?;
        Ok([
            Value { unit: ratio(units[1], units[0]), ..slope },
            Value { unit: units[1].to_owned(), ..intercept },
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the sums that the cloud would compute.
    fn sums(quantiser: &Quantiser, readings: &[f64]) -> (i128, i128) {
        readings.iter().fold((0, 0), |(sum, squares), reading| {
            let q = i128::from(quantiser.quantise(*reading).expect("in range"));
            (sum + q, squares + q * q)
        })
    }

    /// Returns readings of which about half are whole tenths.
    fn tenths() -> impl Strategy<Value = f64> {
        prop_oneof![(-200..1200i32).prop_map(|tenths| f64::from(tenths) / 10.0), -20.0..120.0f64]
    }

    fn rounded(quantiser: &Quantiser, readings: &[f64]) -> u64 {
        readings.iter().filter(|reading| !quantiser.is_multiple(**reading)).count() as u64
    }

    fn statistics(readings: &[f64]) -> (f64, f64) {
        let n = readings.len() as f64;
        let mean = readings.iter().sum::<f64>() / n;
        (mean, readings.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n)
    }

    proptest! {
        #[test]
        fn every_statistic_is_within_its_bound_and_the_bound_is_the_resolutions(
            a in prop::collection::vec((tenths(), -5.0..5.0f64), 1..60),
            b in prop::collection::vec((tenths(), -5.0..5.0f64), 0..60),
        ) {
            let (qx, qy) = (
                Quantiser::with_resolution(-20.0, 120.0, 0.1).expect("a range"),
                Quantiser::with_resolution(-5.0, 5.0, 0.25).expect("a range"),
            );
            let pair = |readings: &[(f64, f64)]| {
                let (x, y): (Vec<f64>, Vec<f64>) = readings.iter().copied().unzip();
                let ((sx, xx), (sy, yy)) = (sums(&qx, &x), sums(&qy, &y));
                let both = |(x, y): &(f64, f64)| {
                    i128::from(qx.quantise(*x).expect("in range")) * i128::from(qy.quantise(*y).expect("in range"))
                };
                let products = readings.iter().map(both).sum();
                let rounded = [rounded(&qx, &x), rounded(&qy, &y)];
                Pair::of_sums([&qx, &qy], x.len() as u64, rounded, [sx, sy], [Some(xx), Some(yy)], products)
            };
            let merged = pair(&a).merge(&pair(&b));
            let all: Vec<(f64, f64)> = a.iter().chain(&b).copied().collect();
            let (x, y): (Vec<f64>, Vec<f64>) = all.iter().copied().unzip();
            let ((mean, variance), (mean_y, variance_y)) = (statistics(&x), statistics(&y));
            let n = x.len() as f64;
            // The truth is rounded in f64, too.
            let close = |found: Value, truth: f64| {
                (found.value - truth).abs() <= found.bound + 1e-12 * (1.0 + truth.abs())
            };
            prop_assert!(close(merged.x.mean("").expect("readings"), mean));
            let off = rounded(&qx, &x) as f64;
            prop_assert!((merged.x.mean("").expect("readings").bound - 0.05 * off / n).abs() <= 1e-9);
            prop_assert!((merged.x.sum("").expect("readings").bound - 0.05 * off).abs() <= 1e-9);
            let exact = [merged.x.variance(""), merged.x.deviation(""), merged.x.root_mean_square("")];
            for found in exact {
                prop_assert_eq!(found.expect("readings").bound == 0.0, off == 0.0);
            }
            prop_assert!(close(merged.x.sum("").expect("readings"), n * mean));
            let found = merged.x.variance("").expect("readings");
            // Guaranteed: within resolution · stddev + resolution² / 4.
            prop_assert!((found.value - variance).abs() <= 0.1 * variance.sqrt() + 0.0025 + 1e-9);
            prop_assert!(found.bound <= 0.1 * found.value.sqrt() + 0.0025 + 1e-6);
            prop_assert!(close(found, variance));
            prop_assert!(close(merged.x.deviation("").expect("readings"), variance.sqrt()));
            let square = x.iter().map(|x| x * x).sum::<f64>() / n;
            prop_assert!(close(merged.x.root_mean_square("").expect("readings"), square.sqrt()));
            let covariance = all.iter().map(|(x, y)| (x - mean) * (y - mean_y)).sum::<f64>() / n;
            prop_assert!(close(merged.covariance(["", ""]).expect("readings"), covariance));
            if let Ok(found) = merged.correlation() {
                prop_assert!(close(found, covariance / (variance * variance_y).sqrt()));
            }
            if let Ok([slope, intercept]) = merged.regression(["", ""]) {
                prop_assert!(close(slope, covariance / variance));
                prop_assert!(close(intercept, mean_y - covariance / variance * mean));
            }
        }
    }

    #[test]
    fn readings_on_the_grid_have_no_error_at_all() {
        let quantiser = Quantiser::with_resolution(-20.0, 120.0, 0.1).expect("a range");
        let readings = [39.4, 39.2, 39.0, 38.9];
        let (sum, squares) = sums(&quantiser, &readings);
        let moments = Moments::of_sums(&quantiser, [4, rounded(&quantiser, &readings)], sum, Some(squares));
        let (mean, variance) = statistics(&readings);
        let found = moments.mean("°C").expect("readings");
        assert_eq!((found.value, found.bound), (39.125, 0.0));
        assert_eq!(moments.sum("°C").expect("readings").value, 156.5);
        assert!((moments.mean - mean).abs() < 1e-12);
        assert!((moments.variance("").expect("readings").value - variance).abs() < 1e-12);
        assert!(Moments::of_sums(&quantiser, [0, 0], 0, Some(0)).mean("").is_err());
    }
}
