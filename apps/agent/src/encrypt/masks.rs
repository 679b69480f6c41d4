//! Names of the masks that belong to one stream alone. No name is given twice.

use std::cell::Cell;

use rand_core::Rng as _;
use sotto_wire::{MaskName, SALT_BYTES};

use super::error::EncryptError;

/// The masks of a stream's own windows: named by a random salt and the sequence number.
pub(super) struct OwnMasks {
    salt: [u8; SALT_BYTES],
    /// The sequence number of the last window.
    last: Cell<Option<u64>>,
}

impl OwnMasks {
    /// Draws a salt. A new one at each start lets a copied or restored spool continue without repeating a mask.
    ///
    /// # Errors
    /// [`EncryptError::Randomness`] if the system gives no randomness.
    pub(super) fn new() -> Result<Self, EncryptError> {
        Ok(Self { salt: draw_salt()?, last: Cell::new(None) })
    }

    /// Returns the name of the mask for the window with this sequence number.
    ///
    /// # Errors
    /// [`EncryptError::RepeatedMask`] unless `sequence` is larger than all before.
    pub(super) fn name(&self, sequence: u64) -> Result<MaskName, EncryptError> {
        if self.last.get().is_some_and(|last| sequence <= last) {
            return Err(EncryptError::RepeatedMask { sequence });
        }
        self.last.set(Some(sequence));
        Ok(MaskName { salt: self.salt, sequence })
    }
}

/// Draws the salt of a start.
///
/// # Errors
/// [`EncryptError::Randomness`] if the system gives no randomness.
pub(super) fn draw_salt() -> Result<[u8; SALT_BYTES], EncryptError> {
    let mut salt = [0; SALT_BYTES];
    sotto_ring::secure_rng()?.fill_bytes(&mut salt);
    Ok(salt)
}
