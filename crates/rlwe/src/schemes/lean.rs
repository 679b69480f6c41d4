//! The choice of the scheme for devices without parameters in memory.

use crate::error::EncodeError;
use crate::lean::{LeanEncoding as _, LeanInjection, SlotValues};
use crate::parameters::ParameterSpec;
use crate::schemes::with_scheme;

impl LeanInjection {
    /// Encodes. Range for CKKS: magnitudes of at most `largest`, which must be below 2^61/Δ.
    ///
    /// # Errors
    /// [`EncodeError`] if there are too many values, one is out of range or of the other kind, or t has no slots.
    pub fn new(spec: &ParameterSpec, values: SlotValues<'_>, largest: f64) -> Result<Self, EncodeError> {
        with_scheme!(spec.scheme, S => S::lean_injection(spec, values, largest))
    }
}
