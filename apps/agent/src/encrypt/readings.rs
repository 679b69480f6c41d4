//! Readings as the values of a scheme's slots.

use sotto_pack::Slots;
use sotto_rlwe::{Bfv, Bgv, Ckks, Scheme};
use zeroize::{Zeroize, Zeroizing};

use super::error::EncryptError;

/// A scheme that takes readings as slots.
pub(super) trait TakesReadings: Scheme<Value: Zeroize> {
    /// Returns the values of slots.
    ///
    /// # Errors
    /// [`EncryptError::Encoding`] for whole numbers in CKKS, or reals in BFV or BGV.
    fn values(slots: Slots) -> Result<Zeroizing<Vec<Self::Value>>, EncryptError>;
}

impl TakesReadings for Bfv {
    fn values(slots: Slots) -> Result<Zeroizing<Vec<i64>>, EncryptError> {
        integers::<Self>(slots)
    }
}

impl TakesReadings for Bgv {
    fn values(slots: Slots) -> Result<Zeroizing<Vec<i64>>, EncryptError> {
        integers::<Self>(slots)
    }
}

impl TakesReadings for Ckks {
    fn values(slots: Slots) -> Result<Zeroizing<Vec<f64>>, EncryptError> {
        match slots {
            Slots::Reals(reals) => Ok(Zeroizing::new(reals)),
            Slots::Integers(_) => Err(EncryptError::Encoding { scheme: Self::ID }),
        }
    }
}

fn integers<S: Scheme>(slots: Slots) -> Result<Zeroizing<Vec<i64>>, EncryptError> {
    match slots {
        Slots::Integers(integers) => Ok(Zeroizing::new(integers)),
        Slots::Reals(_) => Err(EncryptError::Encoding { scheme: S::ID }),
    }
}
