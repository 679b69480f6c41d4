//! Heads of windows of sums that follow another one in a group, as differences to it: `flags ‖ skipped numbers ‖ salt ‖
//! milliseconds after the end of the window before ‖ ticks ‖ lists`, each but the flags only if its flag is set.

use alloc::vec::Vec;

use crate::error::WireError;
use crate::lists::{unzigzag, zigzag};
use crate::reader::{Reader, write_varint};
use crate::signed::SignedWindow;
use crate::stream::StreamHeader;
use crate::window::{HeadNumbers, WindowHead};

// Beside the flags of a head, the lowest four.
const SKIPPED: u8 = 16;
const OTHER_SALT: u8 = 32;
const OTHER_START: u8 = 64;
const OTHER_TICKS: u8 = 128;

/// Appends a window as differences to the one before, whose number is lower.
pub(crate) fn write_next(out: &mut Vec<u8>, before: &SignedWindow, window: &SignedWindow) {
    let SignedWindow { stream, numbers, bytes, .. } = window;
    let skipped = numbers.sequence.wrapping_sub(before.numbers.sequence).wrapping_sub(1);
    let late = numbers.start.wrapping_sub(before.numbers.next_start(stream));
    let (head_flags, lists) = numbers.lists_in(bytes);
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let flags = head_flags
        | flag(skipped > 0, SKIPPED)
        | flag(numbers.mask.salt != before.numbers.mask.salt, OTHER_SALT)
        | flag(late != 0, OTHER_START)
        | flag(numbers.length != before.numbers.length, OTHER_TICKS);
    out.push(flags);
    if flags & SKIPPED != 0 {
        write_varint(out, skipped);
    }
    if flags & OTHER_SALT != 0 {
        out.extend_from_slice(&numbers.mask.salt);
    }
    if flags & OTHER_START != 0 {
        write_varint(out, zigzag(late));
    }
    if flags & OTHER_TICKS != 0 {
        write_varint(out, numbers.length.into());
    }
    out.extend_from_slice(lists);
}

/// Reads the head of a window that follows another one.
pub(crate) fn parse_next(
    reader: &mut Reader<'_>,
    stream: &StreamHeader,
    before: &SignedWindow,
) -> Result<WindowHead, WireError> {
    let numbers: &HeadNumbers = &before.numbers;
    let flags = reader.u8()?;
    let skipped = if flags & SKIPPED == 0 { 0 } else { nonzero(reader.varint()?)? };
    let sequence = numbers.sequence.checked_add(skipped).and_then(|sequence| sequence.checked_add(1));
    let sequence = sequence.ok_or(WireError::Value("a window's number has 64 bits"))?;
    let salt = if flags & OTHER_SALT == 0 { numbers.mask.salt } else { reader.array()? };
    let late = if flags & OTHER_START == 0 { 0 } else { unzigzag(nonzero(reader.varint()?)?) };
    let start = numbers.next_start(stream).wrapping_add(late);
    let length = if flags & OTHER_TICKS == 0 { numbers.length.into() } else { reader.varint()? };
    let repeats = (flags & OTHER_SALT != 0 && salt == numbers.mask.salt)
        || (flags & OTHER_TICKS != 0 && length == u64::from(numbers.length));
    if repeats {
        return Err(not_canonical());
    }
    let flags = flags & (SKIPPED - 1);
    WindowHead::parse_lists(reader, stream, salt, sequence, start, flags, length)
}

fn nonzero(number: u64) -> Result<u64, WireError> {
    if number == 0 { Err(not_canonical()) } else { Ok(number) }
}

fn not_canonical() -> WireError {
    WireError::Value("the window is not in its canonical form")
}
