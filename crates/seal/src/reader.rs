//! A bounded cursor over bytes.

use crate::error::SealError;

/// The unread rest of a file's bytes.
///
/// Example: [`crate::read_plaintext`]
#[derive(Debug)]
pub struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the next `count` bytes. `count` comes from a file and may be any number.
    pub(crate) fn take(&mut self, count: u64) -> Result<&'b [u8], SealError> {
        let found = self.bytes.len() as u64;
        let split = usize::try_from(count).ok().and_then(|count| self.bytes.split_at_checked(count));
        let (taken, rest) = split.ok_or(SealError::Truncated { expected: count, found })?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], SealError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, SealError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, SealError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, SealError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self) -> Result<f64, SealError> {
        self.array().map(f64::from_le_bytes)
    }

    /// Refuses a number other than `expected`, which the parameters give.
    pub(crate) fn expect(&mut self, expected: u64) -> Result<(), SealError> {
        let found = self.u64()?;
        if found == expected { Ok(()) } else { Err(SealError::Length { expected, found }) }
    }

    pub(crate) fn finish(&self) -> Result<(), SealError> {
        if self.left() == 0 { Ok(()) } else { Err(SealError::Trailing { extra: self.left() as u64 }) }
    }
}
