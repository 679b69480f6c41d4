//! Noise flooding: results that may be shared with somebody who also holds the ciphertexts (Li, Micciancio, Schultz and
//! Sorrell, ePrint 2022/816). What is promised and what is not: docs/concepts/publishing.md.

use sotto_ring::SecretRng;
use zeroize::Zeroize;

use crate::budget::FloodingBudget;
use crate::decrypted::{Decrypted, PublishError};
use crate::gaussian::WideGaussian;

/// The grid that values are rounded to before noise is added is this much finer than the noise bound, or more.
const GRID: f64 = 64.0;
/// A value is at most 2^45 times its error bound, since decoding alone is counted as 2^-45 of the largest slot. So two f64
/// roundings of 2^-53 each move it by less than 2^-7 of the bound; the last term is what f64 rounds off in these formulas.
const MARGIN: f64 = 1.0 + 1.0 / 128.0 + 1.0 / (1u64 << 40) as f64;
/// Beyond it values are cut: a map that brings values closer, if anything.
const LARGEST: f64 = (1u64 << 62) as f64;

/// A flooded result: anybody may have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Flooded<T> {
    /// The value or values, with noise.
    pub values: T,
    /// The standard deviation σ of the noise on each value.
    pub deviation: f64,
    /// A bound on the error of each value: ciphertext noise, grid and flooding noise. All values of the result keep it but
    /// with probability 2^-128.
    pub error_bound: f64,
}

impl FloodingBudget {
    /// log2 of σ over the error bound, for results of this many values: √(12τ)·2^(s/2)·√values, and 0.04 bits or less for the
    /// grid. Infinite where no sampler is wide enough.
    pub fn cost_bits(&self, values: usize) -> f64 {
        Flood::new(self, values, 1.0).map_or(f64::INFINITY, |flood| flood.deviation.log2())
    }

    /// The error bound of a flooded result of this many values whose noise bound is `error`.
    pub fn published_error(&self, values: usize, error: f64) -> f64 {
        Flood::new(self, values, error).map_or(f64::INFINITY, |flood| flood.error_bound)
    }
}

impl Decrypted<Vec<f64>> {
    /// Adds Gaussian noise of σ = √(12τ)·2^(s/2)·√(number of values)·(error bound) to each value, and spends one of the budget's
    /// results before. √(number of values)·(error bound) is the Euclidean distance that the noise must hide, so a result of
    /// fewer values is more precise: [`keep`](Self::keep) those that are to be shared.
    pub fn publish_flooded(
        self,
        budget: &mut FloodingBudget,
        rng: &mut impl SecretRng,
    ) -> Result<Flooded<Vec<f64>>, PublishError> {
        let flood = Flood::paid(budget, &self, self.raw_values_for_owner_only().len())?;
        let values = self.raw_values_for_owner_only().iter().map(|value| flood.apply(*value, rng)).collect();
        Ok(flood.released(values))
    }

    /// Only these slots, in this order.
    pub fn keep(mut self, slots: &[usize]) -> Result<Self, PublishError> {
        let here = self.raw_values_for_owner_only();
        if let Some(slot) = slots.iter().find(|slot| **slot >= here.len()) {
            return Err(PublishError::Slot { slot: *slot, slots: here.len() });
        }
        let kept = slots.iter().map(|slot| here[*slot]).collect();
        self.replace(kept);
        Ok(self)
    }
}

impl Decrypted<f64> {
    /// Adds Gaussian noise of σ = √(12τ)·2^(s/2)·(error bound), and spends one of the budget's results before.
    pub fn publish_flooded(
        self,
        budget: &mut FloodingBudget,
        rng: &mut impl SecretRng,
    ) -> Result<Flooded<f64>, PublishError> {
        let flood = Flood::paid(budget, &self, 1)?;
        let value = flood.apply(self.raw_value_for_owner_only(), rng);
        Ok(flood.released(value))
    }
}

/// The noise of one result.
struct Flood {
    gaussian: WideGaussian,
    /// The grid's step: σ over the deviation of the integer Gaussian.
    step: f64,
    deviation: f64,
    error_bound: f64,
}

impl Flood {
    /// Noise for a result of this many values. With factor c = √(12τ)·2^(s/2)·√values, bound E, step g and an integer Gaussian of
    /// deviation S: σ = g·S must be at least c·(E·MARGIN + g), since rounding to the grid moves two values apart by g at most.
    fn new(budget: &FloodingBudget, values: usize, error: f64) -> Option<Self> {
        let values = values.max(1) as f64;
        let factor = (12.0 * budget.allowed() as f64 * values).sqrt()
            * (f64::from(budget.statistical_bits()) / 2.0).exp2();
        let gaussian = WideGaussian::at_least(GRID * factor)?;
        let step = factor * error * MARGIN / (gaussian.deviation() - factor);
        let deviation = step * gaussian.deviation();
        // Sub-Gaussian: 2·exp(−β²/2) for each value, 2^-128 for all together.
        let tail = (2.0 * core::f64::consts::LN_2 * (129.0 + values.log2())).sqrt();
        // Twice the error: what f64 rounds off on the way to the grid and back is less than a fiftieth of it.
        let error_bound = 2.0 * error + step + tail * deviation;
        let usable = step.is_normal() && step > 0.0 && error_bound.is_finite();
        usable.then_some(Self { gaussian, step, deviation, error_bound })
    }

    /// Counts the result, after everything that could refuse it.
    fn paid<T: Zeroize>(
        budget: &mut FloodingBudget,
        result: &Decrypted<T>,
        values: usize,
    ) -> Result<Self, PublishError> {
        if result.key() != budget.key() {
            return Err(PublishError::Key { budget: budget.key(), result: result.key() });
        }
        let error = result.flooded_error();
        let flood = Self::new(budget, values, error).ok_or(PublishError::CannotFlood { error, values })?;
        budget.spend()?;
        Ok(flood)
    }

    /// Rounded to the grid, and noise added in integers: no low bit of the result tells more than the integer does.
    fn apply(&self, value: f64, rng: &mut impl SecretRng) -> f64 {
        let on_grid = (value / self.step).round().clamp(-LARGEST, LARGEST) as i64;
        (on_grid + self.gaussian.draw(rng)) as f64 * self.step
    }

    fn released<T>(&self, values: T) -> Flooded<T> {
        Flooded { values, deviation: self.deviation, error_bound: self.error_bound }
    }
}
