//! Decrypted values, and the ways to publish them.

use sotto_rlwe::KeyId;
use zeroize::{Zeroize, Zeroizing};

use crate::budget::BudgetError;

/// A decrypted value. BFV and BGV values are exact. Wiped on drop.
///
/// A CKKS value carries noise that depends on the secret key (Li and Micciancio, ePrint 2020/1533). So it
/// leaves its owner only rounded (`publish`) or flooded (`publish_flooded`). See docs/concepts/publishing.md
/// for the protection that each gives.
///
/// ```
/// use sotto_decrypt::Decryptor;
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Ckks, Params, Scheme};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
/// let load = Ckks::encode_slots(&params, &[0.25, 0.5], params.top_level())?;
/// let decrypted = Decryptor::new(&key).slots(&key.encrypt(&load, &mut rng)?.expand())?;
/// let bits = decrypted.publishable_bits();
/// let error = decrypted.published_error(bits);
/// let published = decrypted.publish(bits)?;
/// assert!((published[1] - 0.5).abs() <= error && error < 0.01);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Decrypted<T: Zeroize> {
    value: Zeroizing<T>,
    error: f64,
    /// The error bound used for flooding: the ciphertext's own, which does not rely on the plan.
    flooded_error: f64,
    plain_modulus: u64,
    key: KeyId,
}

/// The reason why an integer is not called exact: it may have wrapped around modulo t.
///
/// Example: [`RangeError`]
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the result may be as large as {magnitude:e}, but modulo {plain_modulus} only values up to ±{} are distinct: it may have wrapped around; compute it with a larger plain modulus",
    plain_modulus / 2,
)]
pub struct MayWrap {
    /// A bound on the absolute value of the result.
    pub magnitude: f64,
    /// The plain modulus t.
    pub plain_modulus: u64,
}

/// The reason why decrypted values are refused as an answer. Reveals nothing of the values.
///
/// The refusal itself depends on the secret key: like the success of a decryption, it must never be sent
/// anywhere.
///
/// ```
/// use sotto_decrypt::{Decryptor, MayWrap, RangeError};
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Bfv, Params, Scheme};
///
/// let params = Params::<Bfv>::default_chain(4096, 65537)?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
/// let plaintext = Bfv::encode_scalar(&params, 21, params.top_level())?;
/// let ciphertext = key.encrypt(&plaintext, &mut rng)?.expand();
/// let opened = || Decryptor::new(&key).scalar(&ciphertext);
/// assert_eq!(opened()?.into_exact(20.0), Err(RangeError::Beyond)); // declared: at most 20
/// let wrapped = MayWrap { magnitude: 40000.0, plain_modulus: 65537 }; // modulo t: at most 32768
/// assert_eq!(opened()?.into_exact(40000.0), Err(wrapped.into()));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// The integers may have wrapped around.
    #[error(transparent)]
    MayWrap(#[from] MayWrap),
    /// A value exceeds the plan's bound, or is not zero where the plan's is.
    #[error(
        "the answer holds a value that no readings within the declared ranges give: it is forged or damaged; do not act on it, do not share it"
    )]
    Beyond,
}

/// Relative error by which a bound computed in f64 may be below the exact one.
const ROUNDED: f64 = 1e-9;

/// The reason why a value cannot be published as asked.
///
/// ```
/// use sotto_decrypt::{Decryptor, PublishError};
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Ckks, Params, Scheme};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
/// let load = Ckks::encode_scalar(&params, 0.25, params.top_level())?;
/// let decrypted = Decryptor::new(&key).scalar(&key.encrypt(&load, &mut rng)?.expand())?;
/// let refused = decrypted.publish(50); // a step of 2^-50 would show the noise, and with it the key
/// assert!(matches!(refused, Err(PublishError::TooFine { .. })));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The step asked for is finer than the noise bound allows.
    #[error(
        "a step of {step:e} is finer than the noise bound {error:e} allows: publish at most to a step of {coarsest:e}"
    )]
    TooFine {
        /// The step asked for.
        step: f64,
        /// The bound on the noise.
        error: f64,
        /// The finest step that is allowed.
        coarsest: f64,
    },
    /// The budget counts the results of another key.
    #[error("the result is of key {result}, the flooding budget of key {budget}")]
    Key {
        /// The budget's key.
        budget: KeyId,
        /// The result's key.
        result: KeyId,
    },
    /// The result does not have this slot.
    #[error("there is no slot {slot}: the result has {slots}")]
    Slot {
        /// The slot asked for.
        slot: usize,
        /// The number of slots.
        slots: usize,
    },
    /// No flooding noise fits this bound: it is zero or not a number, or the noise would have to be too wide.
    #[error("a result of {values} values with the noise bound {error:e} cannot be flooded under this budget")]
    CannotFlood {
        /// The bound on the noise.
        error: f64,
        /// Values in the result.
        values: usize,
    },
    /// The budget is spent, or its file cannot be written.
    #[error(transparent)]
    Budget(#[from] BudgetError),
}

impl<T: Zeroize> Decrypted<T> {
    pub(crate) fn new(value: T, error: f64, plain_modulus: u64, key: KeyId) -> Self {
        Self { value: Zeroizing::new(value), error, flooded_error: error, plain_modulus, key }
    }

    /// Returns the key that decrypted the value.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Replaces the value and keeps bound and key. Wipes the old value.
    pub(crate) fn replace(&mut self, value: T) {
        self.value = Zeroizing::new(value);
    }

    /// Lowers the error bound to `error` if that is smaller: the maker of a plan may know a better bound than
    /// the ciphertext carries. Flooding keeps the ciphertext's own bound.
    #[must_use]
    pub fn within(mut self, error: f64) -> Self {
        self.error = self.error.min(error);
        self
    }

    /// Returns a bound on the error of each value, from the noise bound; 0 for exact schemes.
    pub fn error_bound(&self) -> f64 {
        self.error
    }

    pub(crate) fn flooded_error(&self) -> f64 {
        self.flooded_error
    }

    /// Refuses integers that may exceed t/2, and those that exceed the magnitude.
    fn check_integers(&self, values: &[i64], magnitude: f64) -> Result<(), RangeError> {
        let (most, plain_modulus) = (self.plain_modulus as f64, self.plain_modulus);
        let told_apart = 2.0 * magnitude < most;
        if !told_apart {
            return Err(MayWrap { magnitude, plain_modulus }.into());
        }
        let largest = values.iter().map(|value| value.unsigned_abs()).fold(0, u64::max);
        // Rounding to f64 is monotone, so no value within the magnitude is refused.
        check(largest as f64 <= magnitude)
    }

    /// Refuses numbers that exceed the magnitude by more than the error bound.
    fn check_reals(&self, values: &[f64], magnitude: f64) -> Result<(), RangeError> {
        let most = magnitude * (1.0 + ROUNDED) + self.error;
        check(values.iter().fold(true, |all, value| all & (value.abs() <= most)))
    }
}

fn check(within: bool) -> Result<(), RangeError> {
    if within { Ok(()) } else { Err(RangeError::Beyond) }
}

impl Decrypted<Vec<i64>> {
    /// Returns the exact integers. `magnitude` bounds their absolute values by the declarations and the
    /// computation (a plan's output states it).
    ///
    /// A value beyond it is refused: by the answer (0, round(Q/t)) a cloud would have the secret key
    /// decrypted modulo t. Values within the magnitude do not prove the answer: see
    /// docs/concepts/publishing.md.
    ///
    /// # Errors
    /// [`RangeError::MayWrap`] if twice the magnitude reaches the plain modulus, [`RangeError::Beyond`] if a
    /// value exceeds the magnitude.
    pub fn into_exact(self, magnitude: f64) -> Result<Vec<i64>, RangeError> {
        self.check_integers(&self.value, magnitude)?;
        Ok(self.into_residues())
    }

    /// Checks that all values from a slot on are zero, as in the plan, and returns the values.
    ///
    /// # Errors
    /// [`RangeError::Beyond`] if one is not zero.
    pub fn zero_from(self, slot: usize) -> Result<Self, RangeError> {
        let rest = self.value.get(slot..).unwrap_or_default();
        check(rest.iter().fold(0, |all, value| all | value) == 0)?;
        Ok(self)
    }

    /// Returns the integers modulo t that are nearest to zero. Values beyond t/2 have wrapped around.
    pub fn into_residues(mut self) -> Vec<i64> {
        core::mem::take(&mut *self.value)
    }
}

impl Decrypted<i64> {
    /// Returns the exact integer. `magnitude` bounds its absolute value by the declarations and the
    /// computation (a plan's output states it).
    ///
    /// # Errors
    /// [`RangeError::MayWrap`] if twice the magnitude reaches the plain modulus, [`RangeError::Beyond`] if
    /// the value exceeds the magnitude.
    pub fn into_exact(self, magnitude: f64) -> Result<i64, RangeError> {
        self.check_integers(&[*self.value], magnitude)?;
        Ok(self.into_residues())
    }

    /// Returns the integer modulo t that is nearest to zero. A value beyond t/2 has wrapped around.
    pub fn into_residues(self) -> i64 {
        *self.value
    }
}

impl Decrypted<Vec<f64>> {
    /// Rounds every value to a multiple of 2^-bits. The error is at most
    /// [`published_error`](Self::published_error).
    ///
    /// Rounding costs nothing and protects honest sharing only. To share results with somebody who also holds
    /// the ciphertexts, flood them, or use an exact scheme and verify the answer.
    ///
    /// # Errors
    /// [`PublishError::TooFine`] if the step is finer than the noise bound.
    pub fn publish(self, bits: i32) -> Result<Vec<f64>, PublishError> {
        let step = step(bits, self.error)?;
        Ok(self.value.iter().map(|v| (v / step).round() * step).collect())
    }

    /// Returns a bound on the error of a value published with these bits: noise and half a step.
    pub fn published_error(&self, bits: i32) -> f64 {
        self.error + (-f64::from(bits)).exp2() / 2.0
    }

    /// Returns the largest number of bits that [`publish`](Self::publish) accepts.
    pub fn publishable_bits(&self) -> i32 {
        publishable_bits(self.error)
    }

    /// Checks that the values are within `magnitude` (the plan's bound on the absolute value of every slot)
    /// and the error bound, and returns them.
    ///
    /// # Errors
    /// [`RangeError::Beyond`] if one is not.
    pub fn within_magnitude(self, magnitude: f64) -> Result<Self, RangeError> {
        self.check_reals(&self.value, magnitude)?;
        Ok(self)
    }

    /// Returns the number of values.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Returns the values with their noise, for the owner's eyes: never share them.
    pub fn raw_values_for_owner_only(&self) -> &[f64] {
        &self.value
    }
}

impl Decrypted<f64> {
    /// Rounds to a multiple of 2^-bits.
    ///
    /// # Errors
    /// [`PublishError::TooFine`] if the step is finer than the noise bound.
    pub fn publish(self, bits: i32) -> Result<f64, PublishError> {
        let step = step(bits, self.error)?;
        Ok((*self.value / step).round() * step)
    }

    /// Returns a bound on the error of the value published with these bits: noise and half a step.
    pub fn published_error(&self, bits: i32) -> f64 {
        self.error + (-f64::from(bits)).exp2() / 2.0
    }

    /// Returns the largest number of bits that [`publish`](Self::publish) accepts.
    pub fn publishable_bits(&self) -> i32 {
        publishable_bits(self.error)
    }

    /// Checks that the value is within `magnitude` (the plan's bound on its absolute value) and the error
    /// bound, and returns it.
    ///
    /// # Errors
    /// [`RangeError::Beyond`] if it is not.
    pub fn within_magnitude(self, magnitude: f64) -> Result<Self, RangeError> {
        self.check_reals(&[*self.value], magnitude)?;
        Ok(self)
    }

    /// Returns the value with its noise, for the owner's eyes: never share it.
    pub fn raw_value_for_owner_only(&self) -> f64 {
        *self.value
    }
}

/// Returns a bound on the error of a value that is published with as many bits as its error bound allows: the bound before
/// rounding and half a step.
///
/// ```
/// // The step is 2^-6, the finest that is no finer than the error.
/// assert_eq!(sotto_decrypt::rounded_error(0.01), 0.01 + 1.0 / 128.0);
/// ```
pub fn rounded_error(error: f64) -> f64 {
    error + (-f64::from(publishable_bits(error))).exp2() / 2.0
}

fn publishable_bits(error: f64) -> i32 {
    if error <= 0.0 {
        return 52;
    }
    let bits = (-error.log2()).floor().clamp(-1000.0, 52.0) as i32;
    // log2 rounds, so the last bit is checked.
    if (-f64::from(bits)).exp2() < error { bits - 1 } else { bits }
}

fn step(bits: i32, error: f64) -> Result<f64, PublishError> {
    // A coarser step would be infinite and the result not a number. At 2^1022, everything rounds to zero.
    let step = (-f64::from(bits.max(-1022))).exp2();
    if step < error {
        let coarsest = (-f64::from(publishable_bits(error))).exp2();
        return Err(PublishError::TooFine { step, error, coarsest });
    }
    Ok(step)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn publishing_rounds_and_refuses_what_noise_would_show_through() {
        let decrypted = || Decrypted::new(vec![0.7, -1.3], 0.01, 0, KeyId([0; 16]));
        assert_eq!(decrypted().publish(2).unwrap(), [0.75, -1.25]);
        assert_eq!(decrypted().publishable_bits(), 6);
        assert!(decrypted().publish(6).is_ok());
        assert!(matches!(decrypted().publish(7), Err(PublishError::TooFine { .. })));
        for coarse in [-10, -1000, -1024, i32::MIN] {
            assert_eq!(decrypted().publish(coarse).unwrap(), [0.0, 0.0], "{coarse}");
        }
        assert!((decrypted().published_error(2) - 0.135).abs() < 1e-12);
        assert_eq!(decrypted().within(0.001).publishable_bits(), 9);
        assert_eq!(decrypted().within(0.1).publishable_bits(), 6, "the smaller bound counts");
    }

    #[test]
    fn what_may_have_wrapped_around_is_not_called_exact() {
        let decrypted = || Decrypted::new(vec![3, -8], 0.0, 17, KeyId([0; 16]));
        assert_eq!(decrypted().into_exact(8.0).unwrap(), [3, -8]);
        for magnitude in [8.5, 1e300, f64::INFINITY, f64::NAN] {
            let refused = decrypted().into_exact(magnitude).unwrap_err();
            assert!(refused.to_string().contains("modulo 17 only values up to ±8"), "{refused}");
        }
        assert_eq!(decrypted().into_residues(), [3, -8]);
        assert!(Decrypted::new(3, 0.0, 17, KeyId([0; 16])).into_exact(9.0).is_err());
    }

    #[test]
    fn values_beyond_the_plans_magnitude_are_refused() {
        let integers = |values: Vec<i64>| Decrypted::new(values, 0.0, 1001, KeyId([0; 16]));
        for value in [-40, 40] {
            assert!(integers(vec![0, value]).into_exact(40.0).is_ok());
            assert_eq!(integers(vec![0, value]).into_exact(39.5), Err(RangeError::Beyond));
            assert_eq!(
                Decrypted::new(value, 0.0, 1001, KeyId([0; 16])).into_exact(39.0),
                Err(RangeError::Beyond)
            );
        }
        assert!(integers(vec![5, 0, 0]).zero_from(1).is_ok() && integers(vec![5]).zero_from(3).is_ok());
        assert_eq!(integers(vec![5, 0, 1]).zero_from(1).err(), Some(RangeError::Beyond));

        let reals =
            |value: f64| Decrypted::new(vec![0.0, value], 0.01, 0, KeyId([0; 16])).within_magnitude(2.0);
        for value in [2.009, -2.009] {
            assert!(reals(value).is_ok(), "{value}");
        }
        for value in [2.011, -2.011, f64::INFINITY, f64::NAN] {
            assert_eq!(reals(value).err(), Some(RangeError::Beyond), "{value}");
        }
        assert!(Decrypted::new(2.011, 0.01, 0, KeyId([0; 16])).within_magnitude(2.0).is_err());
    }
}
