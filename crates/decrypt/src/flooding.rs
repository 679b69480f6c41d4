//! Noise flooding: results that may be shared with somebody who also holds the ciphertexts (Li, Micciancio,
//! Schultz and Sorrell, ePrint 2022/816). See docs/concepts/publishing.md for the guarantee and its limits.

use sotto_ring::SecretRng;
use zeroize::Zeroize;

use crate::budget::FloodingBudget;
use crate::decrypted::{Decrypted, PublishError};
use crate::gaussian::WideGaussian;

/// Values are rounded to a grid before noise is added. The grid is finer than the noise bound by at least
/// this factor.
const GRID: f64 = 64.0;
/// Allowance for f64 rounding. A value is at most 2^45 times its error bound, since decoding alone is counted
/// as 2^-45 of the largest slot. So two f64 roundings of 2^-53 each move it by less than 2^-7 of the bound.
/// The last term covers the rounding of these formulas.
const MARGIN: f64 = 1.0 + 1.0 / 128.0 + 1.0 / (1u64 << 40) as f64;
/// Values beyond this limit are clamped. Clamping never moves two values apart, so the noise still hides
/// their distance.
const LARGEST: f64 = (1u64 << 62) as f64;

/// A flooded result. It may be shared with anybody.
///
/// ```
/// use sotto_decrypt::{Decryptor, Flooded, FloodingBudget};
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Ckks, Params, Scheme};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
/// let load = Ckks::encode_scalar(&params, 0.25, params.top_level())?;
/// let decrypted = Decryptor::new(&key).scalar(&key.encrypt(&load, &mut rng)?.expand())?;
/// let mut budget = FloodingBudget::for_key_of_this_process(key.id(), 30, 100)?;
/// let shared: Flooded<f64> = decrypted.publish_flooded(&mut budget, &mut rng)?;
/// assert!((shared.values - 0.25).abs() <= shared.error_bound);
/// assert_eq!(budget.left(), 99);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Flooded<T> {
    /// The value or values, with noise.
    pub values: T,
    /// The standard deviation σ of the noise on each value.
    pub deviation: f64,
    /// A bound on the error of each value: ciphertext noise, grid and flooding noise. It holds for all values
    /// of the result together but with probability 2^-128.
    pub error_bound: f64,
}

impl FloodingBudget {
    /// Returns log2 of σ over the error bound, for results of this many values: √(12τ)·2^(s/2)·√values, and
    /// at most 0.04 bits for the grid. Infinite if no sampler is wide enough.
    pub fn cost_bits(&self, values: usize) -> f64 {
        Flood::new(self, values, 1.0).map_or(f64::INFINITY, |flood| flood.deviation.log2())
    }

    /// Returns the error bound of a flooded result of this many values whose noise bound is `error`.
    pub fn published_error(&self, values: usize, error: f64) -> f64 {
        Flood::new(self, values, error).map_or(f64::INFINITY, |flood| flood.error_bound)
    }
}

impl Decrypted<Vec<f64>> {
    /// Adds Gaussian noise of σ = √(12τ)·2^(s/2)·√(number of values)·(error bound) to each value. Counts one
    /// result of the budget first.
    ///
    /// √(number of values)·(error bound) is the Euclidean distance that the noise must hide, so a result of
    /// fewer values is more precise: [`keep`](Self::keep) only the values to be shared.
    ///
    /// # Errors
    /// [`PublishError::Key`] if the budget is another key's, [`PublishError::CannotFlood`] if no noise is
    /// wide enough, [`PublishError::Budget`] if the budget is spent or cannot be written. Only in the last
    /// case may a result have been counted.
    pub fn publish_flooded(
        self,
        budget: &mut FloodingBudget,
        rng: &mut impl SecretRng,
    ) -> Result<Flooded<Vec<f64>>, PublishError> {
        let flood = Flood::paid(budget, &self, self.raw_values_for_owner_only().len())?;
        let values = self.raw_values_for_owner_only().iter().map(|value| flood.apply(*value, rng)).collect();
        Ok(flood.released(values))
    }

    /// Keeps only these slots, in this order.
    ///
    /// # Errors
    /// [`PublishError::Slot`] if the result does not have one of them.
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
    /// Adds Gaussian noise of σ = √(12τ)·2^(s/2)·(error bound). Counts one result of the budget first.
    ///
    /// # Errors
    /// [`PublishError::Key`] if the budget is another key's, [`PublishError::CannotFlood`] if no noise is
    /// wide enough, [`PublishError::Budget`] if the budget is spent or cannot be written. Only in the last
    /// case may a result have been counted.
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
    /// Computes the noise for a result of this many values. With factor c = √(12τ)·2^(s/2)·√values, bound E,
    /// step g and an integer Gaussian of deviation S: σ = g·S must be at least c·(E·MARGIN + g), since
    /// rounding to the grid moves two values apart by at most g.
    fn new(budget: &FloodingBudget, values: usize, error: f64) -> Option<Self> {
        let values = values.max(1) as f64;
        let factor = (12.0 * budget.allowed() as f64 * values).sqrt()
            * (f64::from(budget.statistical_bits()) / 2.0).exp2();
        let gaussian = WideGaussian::at_least(GRID * factor)?;
        let step = factor * error * MARGIN / (gaussian.deviation() - factor);
        let deviation = step * gaussian.deviation();
        // Sub-Gaussian: 2·exp(−β²/2) for each value, 2^-128 for all together.
        let tail = (2.0 * core::f64::consts::LN_2 * (129.0 + values.log2())).sqrt();
        // Twice the error: f64 rounding on the way to the grid and back is less than a fiftieth of it.
        let error_bound = 2.0 * error + step + tail * deviation;
        let usable = step.is_normal() && step > 0.0 && error_bound.is_finite();
        usable.then_some(Self { gaussian, step, deviation, error_bound })
    }

    /// Counts the result, after all checks that could refuse it.
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

    /// Rounds to the grid and adds the noise as integers, so that the low bits of the result reveal no more
    /// than the integer does.
    fn apply(&self, value: f64, rng: &mut impl SecretRng) -> f64 {
        let on_grid = (value / self.step).round().clamp(-LARGEST, LARGEST) as i64;
        (on_grid + self.gaussian.draw(rng)) as f64 * self.step
    }

    fn released<T>(&self, values: T) -> Flooded<T> {
        Flooded { values, deviation: self.deviation, error_bound: self.error_bound }
    }
}
