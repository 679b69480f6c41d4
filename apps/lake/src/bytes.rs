//! Reads the bytes of groups that are not complete.

use crate::LakeError;

/// The bytes that are left to read. Numbers have their lowest byte first.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'b>(pub(crate) &'b [u8]);

/// The end came too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Torn;

impl From<Torn> for LakeError {
    fn from(Torn: Torn) -> Self {
        Self::Plan("a group that is not complete is damaged".to_owned())
    }
}

impl<'b> Bytes<'b> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Torn> {
        let (array, rest) = self.0.split_first_chunk().ok_or(Torn)?;
        self.0 = rest;
        Ok(*array)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Torn> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Torn> {
        self.array().map(u64::from_le_bytes)
    }

    /// Returns the bytes behind their length, which has 4.
    pub(crate) fn sized(&mut self) -> Result<&'b [u8], Torn> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Torn)?;
        self.0 = rest;
        Ok(bytes)
    }
}
