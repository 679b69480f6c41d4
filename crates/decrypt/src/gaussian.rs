//! Discrete Gaussians over the integers, wide enough to flood noise. No branch and no index depends on the
//! drawn values.
//!
//! Every value is a weighted sum of 32 narrow ones (σ = 8), each looked up in a table of 127-bit
//! probabilities by a scan of the whole table. The weights make a binary tree: a and b of deviation σ
//! give a + K·b of deviation σ·√(1 + K²), which is within ε of a discrete Gaussian while σ/√(1 + K²) ≥
//! η_ε(ℤ) (Micciancio and Walter, ePrint 2017/259, section 4). η_ε(ℤ) ≤ √(ln(2 + 2/ε)/(2π²)) is 1.992
//! as a deviation at ε = 2^-112. With the table's own rounding, a value is within statistical distance
//! 2^-105 of the discrete Gaussian. For every ε, the sum is sub-Gaussian with parameter σ, since each
//! part is.

use sotto_ring::SecretRng;

mod table;

use table::CUMULATIVE;

/// Standard deviation of the table's Gaussian.
const NARROW: f64 = 8.0;
/// K of the tree's stages, from the narrow end: deviations 25.3, 304.6, 46 305 and 1.065·10^9.
const STAGES: [i64; 4] = [3, 12, 152, 23_000];
/// Largest K of the last stage, so that 20 deviations fit an `i64`.
const LARGEST_FACTOR: f64 = (1u64 << 26) as f64;

/// A discrete Gaussian centred at zero. Its deviation is public, the drawn values are secret.
///
/// ```
/// use sotto_decrypt::WideGaussian;
///
/// let noise = WideGaussian::at_least(2f64.powi(40)).ok_or("too wide")?;
/// assert!(noise.deviation() >= 2f64.powi(40));
/// let value = noise.draw(&mut sotto_ring::secure_rng()?);
/// assert!((value as f64).abs() < 20.0 * noise.deviation()); // fails with probability 2^-287
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideGaussian {
    factor: i64,
    deviation: f64,
}

impl WideGaussian {
    /// Returns the narrowest Gaussian with a deviation of at least `least`. The deviation is never below
    /// 1.5·10^9. Returns None if `least` exceeds 2^55.9 or is not a number.
    pub fn at_least(least: f64) -> Option<Self> {
        let stage = STAGES.iter().fold(NARROW, |deviation, k| deviation * (1.0 + (k * k) as f64).sqrt());
        let factor = (least / stage).ceil().max(1.0);
        // Also false if `least` is not a number.
        (least.is_finite() && factor <= LARGEST_FACTOR)
            .then(|| Self { factor: factor as i64, deviation: stage * (1.0 + factor * factor).sqrt() })
    }

    /// Returns the standard deviation σ.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// Draws one value. Always |value| ≤ 2^60.2; |value| exceeds β·σ with probability at most 2·exp(−β²/2).
    pub fn draw(&self, rng: &mut impl SecretRng) -> i64 {
        let (low, high) = (stage(STAGES.len(), rng), stage(STAGES.len(), rng));
        low + self.factor * high
    }
}

/// Draws from the Gaussian after this many stages.
fn stage(stages: usize, rng: &mut impl SecretRng) -> i64 {
    let Some(below) = stages.checked_sub(1) else { return narrow(rng) };
    let (low, high) = (stage(below, rng), stage(below, rng));
    low + STAGES[below] * high
}

/// Draws from the Gaussian with σ = 8. One random bit is the sign; the other 127 are compared with every
/// entry of the table.
fn narrow(rng: &mut impl SecretRng) -> i64 {
    let bits = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    let (uniform, negative) = (bits >> 1, (bits & 1) as i64);
    // Both sides are below 2^127, so the top bit of the difference is the borrow.
    let below = CUMULATIVE.iter().map(|entry| (uniform.wrapping_sub(*entry) >> 127) as i64).sum::<i64>();
    let magnitude = CUMULATIVE.len() as i64 - below;
    (magnitude ^ -negative) + negative
}
