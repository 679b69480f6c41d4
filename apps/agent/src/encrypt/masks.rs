//! Names of the masks of one start of the program: none serves twice.

use std::cell::Cell;

use rand_core::Rng as _;
use sotto_wire::{MaskName, SALT_BYTES};

use super::EncryptError;

/// The masks that a stream's windows have of their own.
pub(super) struct OwnMasks {
    salt: [u8; SALT_BYTES],
    /// The number of the last window.
    last: Cell<Option<u64>>,
}

impl OwnMasks {
    /// Draws a salt: new at each start, so a spool that was copied or restored counts on under masks of its own.
    ///
    /// # Errors
    /// [`EncryptError::Randomness`].
    pub(super) fn new() -> Result<Self, EncryptError> {
        let mut salt = [0; SALT_BYTES];
        sotto_ring::secure_rng()?.fill_bytes(&mut salt);
        Ok(Self { salt, last: Cell::new(None) })
    }

    /// The mask of the window of this number.
    ///
    /// # Errors
    /// [`EncryptError::RepeatedMask`] for a number that is not larger than all before.
    pub(super) fn name(&self, sequence: u64) -> Result<MaskName, EncryptError> {
        if self.last.get().is_some_and(|last| sequence <= last) {
            return Err(EncryptError::RepeatedMask { sequence });
        }
        self.last.set(Some(sequence));
        Ok(MaskName { salt: self.salt, sequence })
    }
}
