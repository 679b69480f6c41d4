//! Average-case sizes, for display. No decision depends on them.

use core::ops::{Add, Mul};

use super::log2::Log2;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// The typical size of a polynomial in the canonical embedding: the root mean square over the roots, and the numbers
/// that determine how far the largest root exceeds it.
///
/// Randomness counts as independent, so that sums add squares, and values count as spread evenly over their declared
/// range (the average-case view of Biasioli, Marcolla, Calderini and Mono, ePrint 2023/600, and of Mono and others,
/// ePrint 2022/706; here in the canonical embedding).
///
/// ```
/// use sotto_rlwe::Typical;
///
/// // 4096 independent coefficients of variance 1: √4096 = 2^6.
/// let error = Typical::random(4096.0, 1.0);
/// assert_eq!(error.rms, 6.0);
/// // A sum of two independent errors is √2 times as large.
/// assert!(((error + error).rms - 6.5).abs() < 1e-9);
/// // The largest of 2048 pairs of roots exceeds the mean.
/// assert!(error.norm_bits(4096) > error.rms);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typical {
    /// log2 of the root mean square over the roots.
    pub rms: f64,
    /// The number of independent factors whose value at a root is a complex Gaussian. If the terms of a sum differ,
    /// here and below, the mean weighted by square.
    pub gaussians: f64,
    /// The power of the secret, which is the same Gaussian in every occurrence.
    pub secrets: f64,
    /// The number of factors that are spread evenly between 0 and a largest value.
    pub even: f64,
}

/// log2 of √(E U⁴)/E U² for U even over [0, 1].
const EVEN_SQUARED: f64 = 0.423_998_453_277_474_9;
/// log2 of the largest U over its root mean square.
const EVEN_PEAK: f64 = 0.792_481_250_360_578;

impl Typical {
    /// The size of the polynomial 0.
    pub const ZERO: Self = Self { rms: f64::NEG_INFINITY, gaussians: 0.0, secrets: 0.0, even: 0.0 };

    /// Returns the size of a known number.
    pub fn exactly(value: Log2) -> Self {
        Self { rms: value.0, ..Self::ZERO }
    }

    /// Returns the size of a polynomial of n independent coefficients of this variance.
    pub fn random(degree: f64, variance: f64) -> Self {
        Self { rms: (degree * variance).log2() / 2.0, gaussians: 1.0, ..Self::ZERO }
    }

    /// Returns the size of a secret of n coefficients of this variance.
    pub fn secret(degree: f64, variance: f64) -> Self {
        Self { gaussians: 0.0, secrets: 1.0, ..Self::random(degree, variance) }
    }

    /// Returns the size of values spread evenly over ±`largest`.
    pub fn even(largest: Log2) -> Self {
        Self { rms: largest.0 - 3f64.log2() / 2.0, even: 1.0, ..Self::ZERO }
    }

    /// Returns the size of the product with itself.
    pub fn square(self) -> Self {
        // E|z|⁴ = 2·(E|z|²)² for a complex Gaussian.
        let dependence = self.gaussians / 2.0 + EVEN_SQUARED / 2.0 * self.even;
        let product = self * self;
        Self { rms: product.rms + dependence, ..product }
    }

    /// Returns log2 of the typical largest absolute value among the n/2 pairs of roots: the x that a root exceeds with
    /// probability 2/n, by the saddle point of the logarithm's moments (Lugannani and Rice 1980, leading term).
    pub fn norm_bits(self, degree: usize) -> f64 {
        if self.gaussians + self.secrets + self.even < 0.01 || self.rms == f64::NEG_INFINITY {
            return self.rms;
        }
        // ln E exp(θX) for X = ln(|value|²/mean square).
        let cumulant = |order: f64| {
            let secret = ln_factorial(self.secrets * order) - order * ln_factorial(self.secrets);
            let even = order * 3f64.ln() - (1.0 + 2.0 * order).ln();
            self.gaussians * ln_factorial(order) + secret + self.even * even
        };
        let step = 1e-3;
        let slope = |order: f64| (cumulant(order + step) - cumulant(order - step)) / (2.0 * step);
        let (mut low, mut high) = (0.05, 100.0);
        for _ in 0..60 {
            let order = (low + high) / 2.0;
            let curve = (slope(order + step) - slope(order - step)) / (2.0 * step);
            let width = order * (core::f64::consts::TAU * curve.max(1e-9)).sqrt();
            let tail = cumulant(order) - order * slope(order) - width.ln();
            if tail > -(degree as f64 / 2.0).ln() { low = order } else { high = order }
        }
        self.rms + slope(low) / 2.0 * core::f64::consts::LOG2_E
    }
}

/// Returns ln Γ(1 + x) for x ≥ 0, to 1e-9 (Stirling's series from 8 on).
fn ln_factorial(x: f64) -> f64 {
    let (mut z, mut product) = (x + 1.0, 1.0);
    while z < 8.0 {
        product *= z;
        z += 1.0;
    }
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    (z - 0.5) * z.ln() - z + core::f64::consts::TAU.ln() / 2.0 + series - f64::ln(product)
}

impl Add for Typical {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (a, b) = (Log2(2.0 * self.rms), Log2(2.0 * other.rms));
        if a == Log2::ZERO {
            return other;
        }
        if b == Log2::ZERO {
            return self;
        }
        let sum = a + b;
        let share = (a / sum).value();
        let mean = |x: f64, y: f64| share * x + (1.0 - share) * y;
        let rms = sum.0 / 2.0;
        let gaussians = mean(self.gaussians, other.gaussians);
        let secrets = mean(self.secrets, other.secrets);
        let even = if gaussians + secrets > 0.0 {
            mean(self.even, other.even)
        } else {
            // Values: the largest ones add up.
            let peak = |x: Self| Log2(x.rms + EVEN_PEAK * x.even);
            ((peak(self) + peak(other)).0 - rms) / EVEN_PEAK
        };
        Self { rms, gaussians, secrets, even }
    }
}

impl Mul for Typical {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self.rms == f64::NEG_INFINITY || other.rms == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        let secrets = self.secrets + other.secrets;
        let moments = ln_factorial(secrets) - ln_factorial(self.secrets) - ln_factorial(other.secrets);
        // Values in a program are seldom independent: half way to the square.
        let values = EVEN_SQUARED / 2.0 * self.even.min(other.even);
        Self {
            rms: self.rms + other.rms + moments / 2.0 * core::f64::consts::LOG2_E + values,
            gaussians: self.gaussians + other.gaussians,
            secrets,
            even: self.even + other.even,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials() {
        for (x, expected) in
            [(0.0, 1.0f64), (1.0, 1.0), (5.0, 120.0), (0.5, 0.886_226_925_452_758), (12.0, 479_001_600.0)]
        {
            assert!((ln_factorial(x) - expected.ln()).abs() < 1e-9, "{x}");
        }
    }

    #[test]
    fn the_largest_of_many() {
        // The largest of N exponentials is about ln N; for the secret's p-th power it is the p-th power of the largest.
        for degree in [1024usize, 32768] {
            let largest = (degree as f64 / 2.0).ln().log2() / 2.0;
            let one = Typical { rms: 0.0, gaussians: 1.0, ..Typical::ZERO };
            assert!((one.norm_bits(degree) - largest).abs() < 0.1);
            let secret = Typical { rms: 0.0, gaussians: 0.0, secrets: 1.0, ..Typical::ZERO };
            let cube = secret * secret * secret;
            assert!((cube.norm_bits(degree) - 3.0 * largest).abs() < 0.4, "{}", cube.norm_bits(degree));
            // No value exceeds the largest of values spread evenly; a square counts as two factors of that kind.
            let even = Typical::even(Log2::ONE);
            assert!((-0.1..0.01).contains(&even.norm_bits(degree)), "{}", even.norm_bits(degree));
            assert!((-0.1..0.7).contains(&even.square().norm_bits(degree)));
        }
        assert_eq!(Typical::exactly(Log2(3.0)).norm_bits(4096), 3.0);
        assert_eq!(Typical::ZERO.norm_bits(4096), f64::NEG_INFINITY);
    }

    #[test]
    fn sums_add_squares_and_products_multiply() {
        let x = Typical::random(4096.0, 1.0);
        assert!(((x + x).rms - x.rms - 0.5).abs() < 1e-12);
        assert!(((x * x).rms - 12.0).abs() < 1e-9 && (x * x).gaussians == 2.0);
        assert_eq!(x + Typical::ZERO, x);
        assert_eq!(x * Typical::ZERO, Typical::ZERO);
        // The fourth moment of values spread evenly over ±1 is 1/5.
        let even = Typical::even(Log2(0.0));
        assert!((even.square().rms - (0.2f64).log2() / 2.0).abs() < 1e-9);
    }
}
