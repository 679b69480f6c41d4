//! Canonical norms of the random polynomials that occur.

use sotto_ring::{ERROR_VARIANCE, TERNARY_VARIANCE};

use super::Log2;
use crate::parameters::Params;
use crate::scheme::Scheme;

/// Bounds on canonical norms for one degree, each exceeded with probability at most 2^-128 (the secret's is enforced
/// when the key is generated).
#[derive(Clone, Copy, Debug)]
pub struct Norms {
    degree: f64,
    /// Of a secret: key generation draws again above it.
    pub secret: Log2,
    /// Of a uniform ternary polynomial.
    pub ternary: Log2,
    /// Of an error polynomial.
    pub error: Log2,
    /// Of a polynomial with coefficients uniform in [−1/2, 1/2].
    pub uniform: Log2,
}

impl Norms {
    /// For degree n.
    ///
    /// A polynomial with independent, strictly sub-Gaussian coefficients of variance V takes at a root a complex value
    /// whose projection on any direction is sub-Gaussian with parameter V·n/2. A union over 32 directions and n/2 roots
    /// gives P(norm > D·√(nV)/cos(π/32)) ≤ 32·(n/2)·exp(−D²). Centred binomial, uniform ternary and uniform coefficients are
    /// strictly sub-Gaussian.
    pub fn new(degree: usize) -> Self {
        let n = degree as f64;
        let tail = (core::f64::consts::LN_2 * (128.0 + 4.0 + n.log2())).sqrt();
        let tail = tail / (core::f64::consts::PI / 32.0).cos();
        let random = |variance: f64| Log2::of(tail * (n * variance).sqrt());
        Self {
            degree: n,
            secret: Log2::of(Self::secret_limit(degree)),
            ternary: random(TERNARY_VARIANCE),
            error: random(ERROR_VARIANCE),
            uniform: random(1.0 / 12.0),
        }
    }

    /// The largest canonical norm of a secret key: √(ln(50·n))·√(2n/3). A value at a root is nearly a complex Gaussian of
    /// variance 2n/3, so about one secret in a hundred exceeds it and is drawn again.
    pub fn secret_limit(degree: usize) -> f64 {
        let n = degree as f64;
        ((50.0 * n).ln() * n * TERNARY_VARIANCE).sqrt()
    }

    /// Rounding n coefficients, whatever they are: n/2.
    pub fn any_rounding(&self) -> Log2 {
        Log2::of(self.degree / 2.0)
    }

    /// The largest message polynomial modulo t, centred: n·t/2.
    pub fn any_message(&self, plain_modulus: u64) -> Log2 {
        Log2::of(self.degree * plain_modulus as f64 / 2.0)
    }

    /// A ciphertext error, times the scheme's factor: e for the secret key, e0 + e·u + e1·s for the public key.
    pub fn fresh_error(&self, origin: super::Origin) -> Log2 {
        match origin {
            super::Origin::SecretKey => self.error,
            super::Origin::PublicKey => self.error + self.error * self.ternary + self.error * self.secret,
        }
    }

    /// 1 + |s| + |s|² + … for a ciphertext of this many components.
    pub fn secret_powers(&self, components: usize) -> Log2 {
        (1..components)
            .fold((Log2::ONE, Log2::ONE), |(sum, power), _| {
                let power = power * self.secret;
                (sum + power, power)
            })
            .0
    }

    /// Rounding a ciphertext of this many components after a division; the remainder is a multiple of `factor`.
    pub fn division(&self, components: usize, factor: u64) -> Log2 {
        let width = if factor == 1 { 1.0 } else { factor as f64 + 1.0 };
        // For an even factor the centred multiples lie in [−t/2, t/2 − 1]: every coefficient has mean −1/2, and the polynomial of
        // n halves reaches 1/(2·sin(π/2n)) at ζ.
        let bias = 0.5 / (core::f64::consts::PI / (2.0 * self.degree)).sin();
        let bias = if factor.is_multiple_of(2) { Log2::of(bias) } else { Log2::ZERO };
        (self.uniform * Log2::of(width) + bias) * self.secret_powers(components)
    }

    /// What key switching adds: Σ digit·error/P and the rounding.
    pub(crate) fn key_switch<S: Scheme>(&self, params: &Params<S>, level: usize) -> Log2 {
        let factor = S::error_factor(params);
        let error = self.error * Log2::of(factor as f64);
        let special = Log2(params.special_bits());
        let digits = params.digits(level).map(|d| Log2(params.ring().product_bits(d)));
        let inner = digits.fold(Log2::ZERO, |sum, digit| sum + digit * self.uniform * error / special);
        // Digits may pass half of their product by 2^-21 of it.
        inner * Log2(1.0 / 65536.0) + self.division(2, factor)
    }
}
