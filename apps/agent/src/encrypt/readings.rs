//! Readings as the values of a scheme's slots.

use sotto_pack::Slots;
use sotto_rlwe::{Scheme, SlotValue};
use zeroize::Zeroizing;

use super::error::EncryptError;

/// A slot's value that readings become.
pub(super) trait Reading: SlotValue {
    /// Returns the values of slots; None for slots of the other kind.
    fn of(slots: Slots) -> Option<Zeroizing<Vec<Self>>>;
}

impl Reading for i64 {
    fn of(slots: Slots) -> Option<Zeroizing<Vec<Self>>> {
        if let Slots::Integers(integers) = slots { Some(Zeroizing::new(integers)) } else { None }
    }
}

impl Reading for f64 {
    fn of(slots: Slots) -> Option<Zeroizing<Vec<Self>>> {
        if let Slots::Reals(reals) = slots { Some(Zeroizing::new(reals)) } else { None }
    }
}

/// Returns the values of slots.
///
/// # Errors
/// [`EncryptError::Encoding`] for whole numbers in a scheme of reals, or reals in one of integers.
pub(super) fn values<S: Scheme<Value: Reading>>(
    slots: Slots,
) -> Result<Zeroizing<Vec<S::Value>>, EncryptError> {
    S::Value::of(slots).ok_or(EncryptError::Encoding { scheme: S::ID })
}
