//! Sizes that follow from those of the random polynomials.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

use super::{Figure, Log2, NormsOf, Origin};

impl<F: Figure> NormsOf<F> {
    /// Returns the size of any message polynomial modulo t, centred: at most n·t/2.
    pub fn any_message(&self, plain_modulus: u64) -> F {
        self.any_rounding.scaled(Log2::of(plain_modulus as f64))
    }

    /// Returns the size of a fresh error before the scheme's factor: e for the secret key, e0 + e·u + e1·s for the
    /// public key.
    pub fn fresh_error(&self, origin: Origin) -> F {
        match origin {
            Origin::SecretKey => self.error,
            Origin::PublicKey => self.error + self.error * self.ternary + self.error * self.secret,
        }
    }

    /// Returns 1 + |s| + |s|² + … for a ciphertext of this many components.
    pub fn secret_powers(&self, components: usize) -> F {
        let one = F::exactly(Log2::ONE);
        let powers = [self.secret, self.secret.square()];
        powers.into_iter().take(components.saturating_sub(1)).fold(one, |sum, power| sum + power)
    }

    /// Returns the size of the rounding error of a division, for this many components; the remainder is a multiple of
    /// `factor`.
    pub fn division(&self, components: usize, factor: u64) -> F {
        let width = if factor == 1 { 1.0 } else { factor as f64 + 1.0 };
        let uniform = self.uniform.scaled(Log2::of(width));
        let rounded = if factor.is_multiple_of(2) {
            // For an even factor the centred multiples lie in [−t/2, t/2 − 1]: every coefficient has mean −1/2, and the
            // polynomial of n halves reaches 1/(2·sin(π/2n)) at ζ.
            let bias = 0.5 / (core::f64::consts::PI / (2.0 * self.degree)).sin();
            uniform + F::exactly(Log2::of(bias))
        } else {
            uniform
        };
        rounded * self.secret_powers(components)
    }
}
