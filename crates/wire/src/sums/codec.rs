//! Fields that several objects of a stream of sums have.

use alloc::vec::Vec;
use core::ops::Range;

use sotto_sums::{FormError, PartError};

use crate::error::WireError;
use crate::reader::Reader;

/// The first byte of a window of sums. Neither a frame nor an envelope starts with it.
pub(super) const VERSION: u8 = 5;
/// The first byte of a group of windows of sums.
pub(super) const GROUP: u8 = 6;
/// The first byte of a member of a group.
pub(super) const MEMBER: u8 = 7;

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

/// Returns the refusal of a part of a window or of a sum.
pub(super) fn part_refused(error: PartError) -> WireError {
    match error {
        PartError::Length { expected, found } => {
            WireError::Length { expected: expected as u64, found: found as u64 }
        }
        PartError::Padding => WireError::Padding,
        PartError::Tag => WireError::Value("a tag is below 2^61 - 1"),
        PartError::Ticks { .. } => WireError::Value("a window has more ticks than its stream allows"),
    }
}

/// Returns the refusal of a form.
pub(super) fn form_refused(error: FormError) -> WireError {
    WireError::Value(match error {
        FormError::Width => "a place of a stream of sums has 1 to 60 bits; split a wider quantity in two",
        FormError::Range => "the bits of a place do not tell all values of its quantity apart",
        FormError::Places => "a part of a window has 1 to 65536 places",
        FormError::Counts => "a part of a window has at most 65536 counts",
    })
}
