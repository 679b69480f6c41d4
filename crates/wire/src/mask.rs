//! The names of masks and pads.

use alloc::vec::Vec;

pub use sotto_sums::SALT_BYTES;

use crate::error::WireError;
use crate::reader::Reader;

/// The name of a window's mask or pads.
///
/// Example: [`SlotsWindow`](crate::SlotsWindow)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaskName {
    /// The salt that the device drew at its start.
    pub salt: [u8; SALT_BYTES],
    /// The window's sequence number in its stream when it was encrypted.
    pub sequence: u64,
}

impl MaskName {
    pub(crate) const BYTES: usize = SALT_BYTES + 8;

    /// Returns the name that lies so many numbers ahead, under the same salt.
    #[must_use]
    pub fn ahead(self, numbers: u64) -> Self {
        Self { sequence: self.sequence.wrapping_add(numbers), ..self }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.salt);
        out.extend_from_slice(&self.sequence.to_le_bytes());
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self { salt: reader.array()?, sequence: reader.u64()? })
    }
}
