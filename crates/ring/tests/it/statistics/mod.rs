//! Scores of samples against a distribution. A score is the distance from the expected value in standard deviations.
//! The samples come from fixed seeds, so a score is the same on every run, and [`verdict`] can be as strict as 5.

/// A test's name and its score.
pub(crate) type Score = (&'static str, f64);

/// The largest accepted |score|. An honest score exceeds it once in 1.7 million.
const LIMIT: f64 = 5.0;

/// Returns an error with the names of the failed tests, if any.
pub(crate) fn verdict(scores: &[Score]) -> Result<(), String> {
    let wrong = scores.iter().filter(|(_, score)| score.is_nan() || score.abs() > LIMIT);
    let wrong: Vec<String> = wrong.map(|(name, score)| format!("{name} {score:+.1}")).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) }
}

/// A distribution, by its first moments.
#[derive(Clone, Copy)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    /// The fourth central moment.
    pub(crate) fourth: f64,
}

impl Moments {
    /// The uniform distribution between 0 and 1.
    pub(crate) const UNIT: Self = Self { mean: 0.5, variance: 1.0 / 12.0, fourth: 1.0 / 80.0 };
    /// The standard normal distribution.
    pub(crate) const NORMAL: Self = Self { mean: 0.0, variance: 1.0, fourth: 3.0 };

    /// Returns the moments of the integers `least`, `least` + 1, … with these probabilities.
    pub(crate) fn of(least: i64, probabilities: &[f64]) -> Self {
        let about = |centre: f64, power: i32| -> f64 {
            (least..).zip(probabilities).map(|(x, p)| p * (x as f64 - centre).powi(power)).sum()
        };
        let mean = about(0.0, 1);
        Self { mean, variance: about(mean, 2), fourth: about(mean, 4) }
    }

    /// Returns scores of mean, variance, and the correlation of each sample with earlier ones.
    pub(crate) fn scores(&self, samples: &[f64]) -> Vec<Score> {
        let count = samples.len() as f64;
        let central: Vec<f64> = samples.iter().map(|x| x - self.mean).collect();
        let mean = central.iter().sum::<f64>() / (count * self.variance).sqrt();
        let square = central.iter().map(|x| x * x - self.variance).sum::<f64>();
        let spread = (count * (self.fourth - self.variance * self.variance)).sqrt();
        let mut scores = vec![("mean", mean), ("variance", square / spread)];
        for (name, lag) in [("correlation at lag 1", 1), ("lag 2", 2), ("lag 3", 3), ("lag 64", 64)] {
            let products: f64 = central.iter().zip(&central[lag..]).map(|(x, y)| x * y).sum();
            scores.push((name, products / (self.variance * (count - lag as f64).sqrt())));
        }
        scores
    }
}

/// Returns scores of integers against a distribution: moments, correlation and chi-square.
pub(crate) fn of_integers(least: i64, probabilities: &[f64], samples: &[i64]) -> Vec<Score> {
    let numbers: Vec<f64> = samples.iter().map(|x| *x as f64).collect();
    let mut scores = Moments::of(least, probabilities).scores(&numbers);
    let mut counts = vec![0; probabilities.len()];
    for x in samples {
        match counts.get_mut((x - least) as usize) {
            Some(count) => *count += 1,
            None => scores.push(("outside the law's values", f64::INFINITY)),
        }
    }
    scores.push(("chi-square", chi_square(&counts, probabilities)));
    scores
}

/// Returns scores of numbers in [0, 1) against the uniform distribution, in this many bins.
pub(crate) fn of_uniform(bins: usize, samples: &[f64]) -> Vec<Score> {
    let mut scores = Moments::UNIT.scores(samples);
    let mut counts = vec![0; bins];
    for x in samples {
        counts[((x * bins as f64) as usize).min(bins - 1)] += 1;
    }
    scores.push(("chi-square", chi_square(&counts, &vec![1.0 / bins as f64; bins])));
    scores
}

/// Returns Pearson's chi-square as a normal score (Wilson and Hilferty, 1931). Values expected fewer than 20 times are
/// merged with the next.
fn chi_square(counts: &[u64], probabilities: &[f64]) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let (mut found, mut expected) = (0.0, 0.0);
    for (count, probability) in counts.iter().zip(probabilities) {
        found += *count as f64;
        expected += probability * total;
        if expected >= 20.0 {
            cells.push((found, expected));
            (found, expected) = (0.0, 0.0);
        }
    }
    if let Some(last) = cells.last_mut() {
        last.0 += found;
        last.1 += expected;
    }
    let statistic: f64 = cells.iter().map(|(found, expected)| (found - expected).powi(2) / expected).sum();
    let freedom = cells.len() as f64 - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// Returns P(x ≤ z) for the standard normal distribution, within 2·10^-7 (Abramowitz and Stegun, 7.1.26).
pub(crate) fn normal_below(z: f64) -> f64 {
    let x = z.abs() / core::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let polynomial = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let beyond = polynomial.iter().fold(0.0, |sum, a| (sum + a) * t) * (-x * x).exp() / 2.0;
    if z < 0.0 { beyond } else { 1.0 - beyond }
}
