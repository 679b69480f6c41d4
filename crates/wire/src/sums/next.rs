//! Heads of windows that follow another one in a group, as differences to it.

use alloc::vec::Vec;

use super::head::{Numbers, SumsHead};
use super::header::SumsHeader;
use crate::counts::{Counted, count};
use crate::error::WireError;
use crate::lists::{unzigzag, zigzag};
use crate::reader::{Reader, write_varint};

const SKIPPED: u8 = 16;
const OTHER_SALT: u8 = 32;
const OTHER_START: u8 = 64;
const OTHER_TICKS: u8 = 128;

impl SumsHead {
    /// Returns the start of the next window, in milliseconds, if no time lies between the windows.
    fn next_start(&self, header: &SumsHeader) -> i64 {
        self.start.wrapping_add(header.stream().period.milliseconds(self.ticks))
    }

    /// Appends the head as differences to that of the window before, whose number is lower.
    pub(super) fn write_next(&self, out: &mut Vec<u8>, header: &SumsHeader, before: &Self) {
        let skipped = self.sequence.wrapping_sub(before.sequence).wrapping_sub(1);
        let late = self.start.wrapping_sub(before.next_start(header));
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = self.flags()
            | flag(skipped > 0, SKIPPED)
            | flag(self.pad.salt != before.pad.salt, OTHER_SALT)
            | flag(late != 0, OTHER_START)
            | flag(self.ticks != before.ticks, OTHER_TICKS);
        out.push(flags);
        if flags & SKIPPED != 0 {
            write_varint(out, skipped);
        }
        if flags & OTHER_SALT != 0 {
            out.extend_from_slice(&self.pad.salt);
        }
        if flags & OTHER_START != 0 {
            write_varint(out, zigzag(late));
        }
        if flags & OTHER_TICKS != 0 {
            write_varint(out, self.ticks.into());
        }
        self.write_lists(out, flags);
    }

    /// Reads the head of a window that follows another one.
    pub(super) fn parse_next(
        reader: &mut Reader<'_>,
        header: &SumsHeader,
        before: &Self,
    ) -> Result<Self, WireError> {
        count(Counted::Parse);
        let all = reader.rest();
        let flags = reader.u8()?;
        let skipped = if flags & SKIPPED == 0 { 0 } else { reader.varint()? };
        let sequence = before.sequence.checked_add(skipped).and_then(|sequence| sequence.checked_add(1));
        let sequence = sequence.ok_or(WireError::Value("a window's number has 64 bits"))?;
        let salt = if flags & OTHER_SALT == 0 { before.pad.salt } else { reader.array()? };
        let late = if flags & OTHER_START == 0 { 0 } else { unzigzag(reader.varint()?) };
        let start = before.next_start(header).wrapping_add(late);
        let ticks = if flags & OTHER_TICKS == 0 { before.ticks.into() } else { reader.varint()? };
        let read = Self::read_lists(reader, header, flags, Numbers { salt, sequence, start, ticks })?;
        // The encoding is canonical.
        let mut again = Vec::new();
        read.write_next(&mut again, header, before);
        if again != all[..all.len() - reader.left()] {
            return Err(WireError::Value("the window is not in its canonical form"));
        }
        Ok(read)
    }
}
