//! Canonical norms of the random polynomials in the schemes.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{ERROR_VARIANCE, TERNARY_VARIANCE};

use super::log2::Log2;
use super::typical::Typical;

/// Sizes of the random polynomials for one degree, bounded and on average.
///
/// ```
/// use sotto_rlwe::Norms;
///
/// let norms = Norms::new(4096);
/// // Key generation enforces the limit of a secret, which the bound uses.
/// assert!((norms.bound.secret.value() - Norms::secret_limit(4096)).abs() < 1e-6);
/// // Any rounding error of 4096 coefficients: at most 4096/2.
/// assert!((norms.bound.any_rounding.value() - 2048.0).abs() < 1e-6);
/// // A message of any 4096 coefficients modulo 256: at most 4096·128.
/// assert!((norms.bound.any_message(256).value() - 524_288.0).abs() < 1e-3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Norms {
    /// Bounds, each exceeded with probability at most 2^-128 (key generation enforces that of the secret).
    pub bound: NormsOf<Log2>,
    /// Average sizes.
    pub estimate: NormsOf<Typical>,
}

/// Sizes of the random polynomials for one degree.
///
/// Example: [`Norms`]
#[derive(Clone, Copy, Debug)]
pub struct NormsOf<F> {
    pub(super) degree: f64,
    /// Size of a secret: key generation draws again above the bound.
    pub secret: F,
    /// Size of a uniform ternary polynomial.
    pub ternary: F,
    /// Size of an error polynomial.
    pub error: F,
    /// Size of a polynomial with coefficients uniform in [−1/2, 1/2].
    pub uniform: F,
    /// Size of the rounding error of any n coefficients: at most n/2.
    pub any_rounding: F,
}

impl Norms {
    /// Computes the norms for degree n.
    ///
    /// A polynomial with independent, strictly sub-Gaussian coefficients of variance V takes at a root a complex value
    /// whose projection on any direction is sub-Gaussian with parameter V·n/2. A union over 32 directions and n/2 roots
    /// gives P(norm > D·√(nV)/cos(π/32)) ≤ 32·(n/2)·exp(−D²). Centred binomial, uniform ternary and uniform
    /// coefficients are strictly sub-Gaussian.
    pub fn new(degree: usize) -> Self {
        let n = degree as f64;
        let tail = (core::f64::consts::LN_2 * (128.0 + 4.0 + n.log2())).sqrt();
        let tail = tail / (core::f64::consts::PI / 32.0).cos();
        let worst = |variance: f64| Log2::of(tail * (n * variance).sqrt());
        let average = |variance: f64| Typical::random(n, variance);
        let bound = NormsOf {
            degree: n,
            secret: Log2::of(Self::secret_limit(degree)),
            ternary: worst(TERNARY_VARIANCE),
            error: worst(ERROR_VARIANCE),
            uniform: worst(1.0 / 12.0),
            any_rounding: Log2::of(n / 2.0),
        };
        let estimate = NormsOf {
            degree: n,
            secret: Typical::secret(n, TERNARY_VARIANCE),
            ternary: average(TERNARY_VARIANCE),
            error: average(ERROR_VARIANCE),
            uniform: average(1.0 / 12.0),
            any_rounding: average(1.0 / 12.0),
        };
        Self { bound, estimate }
    }

    /// Computes the norms for degree n and an arbitrary uniform ternary secret, as other libraries draw it.
    pub fn of_any_secret(degree: usize) -> Self {
        let mut norms = Self::new(degree);
        norms.bound.secret = norms.bound.ternary;
        norms
    }

    /// Returns the largest canonical norm of a secret key: √(ln(50·n))·√(2n/3). A value at a root is nearly a complex
    /// Gaussian of variance 2n/3, so about one secret in a hundred exceeds it and is drawn again.
    pub fn secret_limit(degree: usize) -> f64 {
        let n = degree as f64;
        ((50.0 * n).ln() * n * TERNARY_VARIANCE).sqrt()
    }
}
