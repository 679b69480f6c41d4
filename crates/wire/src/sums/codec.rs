//! Fields that several objects of a stream of sums have.

use alloc::vec::Vec;
use core::ops::Range;

use crate::error::WireError;
use crate::reader::Reader;

/// Appends a length byte and a text.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) -> Result<(), WireError> {
    let length = u8::try_from(text.len()).map_err(|_| WireError::Value("a text has at most 255 bytes"))?;
    out.push(length);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Appends the number of a list's items in two bytes.
pub(super) fn write_count(out: &mut Vec<u8>, count: usize) -> Result<(), WireError> {
    let count = u16::try_from(count).map_err(|_| WireError::Value("a list has at most 65535 items"))?;
    out.extend_from_slice(&count.to_le_bytes());
    Ok(())
}

/// Reads the number of a list's items, and checks that the remaining bytes suffice for as many of `bytes` bytes.
pub(super) fn read_count(reader: &mut Reader<'_>, bytes: usize) -> Result<Range<u16>, WireError> {
    let count = reader.u16()?;
    let expected = usize::from(count) * bytes;
    if reader.left() < expected {
        return Err(WireError::Truncated { expected: expected as u64, found: reader.left() as u64 });
    }
    Ok(0..count)
}
