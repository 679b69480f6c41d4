//! Small random polynomials: ternary secrets and centred binomial errors. No branch depends on what is drawn.

use core::ops::Range;
use std::sync::Arc;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::poly::{Coeff, Eval, Poly};
use crate::random::SecretRng;
use crate::ring::Ring;

/// Variance of a centred binomial error with 21 + 21 bits (σ = 3.24).
pub const ERROR_VARIANCE: f64 = 10.5;
/// Variance of a uniform ternary coefficient.
pub const TERNARY_VARIANCE: f64 = 2.0 / 3.0;

/// Words drawn at once.
const CHUNK: usize = 512;

/// A polynomial with small coefficients; secret, wiped on drop, without Debug.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SmallPoly {
    coefficients: Vec<i64>,
}

impl SmallPoly {
    /// Uniform over {−1, 0, 1}; bias below 2^-62.
    pub fn ternary(degree: usize, rng: &mut impl SecretRng) -> Self {
        Self::drawn(degree, rng, |word| ((u128::from(word) * 3) >> 64) as i64 - 1)
    }

    /// Centred binomial with 21 + 21 bits: |coefficient| ≤ 21, variance 10.5.
    pub fn centred_binomial(degree: usize, rng: &mut impl SecretRng) -> Self {
        const MASK: u64 = (1 << 21) - 1;
        Self::drawn(degree, rng, |bits| {
            i64::from((bits & MASK).count_ones()) - i64::from(((bits >> 21) & MASK).count_ones())
        })
    }

    /// One little-endian 64-bit word of the generator a coefficient.
    fn drawn(degree: usize, rng: &mut impl SecretRng, draw: impl Fn(u64) -> i64) -> Self {
        let mut coefficients = Vec::with_capacity(degree);
        let mut bytes = zeroize::Zeroizing::new([0u8; 8 * CHUNK]);
        while coefficients.len() < degree {
            let count = CHUNK.min(degree - coefficients.len());
            let bytes = &mut bytes[..8 * count];
            rng.fill_bytes(bytes);
            let (words, _) = bytes.as_chunks::<8>();
            coefficients.extend(words.iter().map(|word| draw(u64::from_le_bytes(*word))));
        }
        Self { coefficients }
    }

    /// Given coefficients, for known answers and imported keys.
    pub fn from_coefficients(coefficients: Vec<i64>) -> Self {
        Self { coefficients }
    }

    /// The coefficients.
    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// The polynomial modulo a range of primes.
    pub fn to_coeff(&self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<Coeff> {
        Poly::from_signed(ring, limbs, &self.coefficients)
    }

    /// The polynomial modulo a range of primes, in Eval form.
    pub fn to_eval(&self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<Eval> {
        self.to_coeff(ring, limbs).into_eval()
    }
}
