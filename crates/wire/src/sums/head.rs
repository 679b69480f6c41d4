//! The facts of a window of a stream of sums, before its parts.

use alloc::vec::Vec;

use sotto_pack::{LeftOut, Presence, Reason};
use sotto_sums::SALT_BYTES;

use super::codec::VERSION;
use super::header::SumsHeader;
use crate::counts::{Counted, count};
use crate::error::WireError;
use crate::lists::{read_left_out, read_runs, unzigzag, write_left_out, write_runs, zigzag};
use crate::reader::{Reader, write_varint};
use crate::tag::StreamTag;

const GENERATED: u8 = 1;
const GAPS: u8 = 2;
const LEFT_OUT: u8 = 4;
const RENUMBERED: u8 = 8;

/// The name of a window's pads: the salt of the device's start, and the pad number.
///
/// Example: [`SumsWindow`](crate::SumsWindow)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PadName {
    /// The salt that the device drew when it started.
    pub salt: [u8; SALT_BYTES],
    /// The pad number. A window that is numbered anew keeps it.
    pub number: u64,
}

/// The public facts of a window of sums.
///
/// Example: [`SumsWindow`](crate::SumsWindow)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsHead {
    /// The window's number in its stream.
    pub sequence: u64,
    /// Its pads, with a number that is not above `sequence`.
    pub pad: PadName,
    /// The start of the first tick, in milliseconds since 1970.
    pub start: i64,
    /// The ticks that the window covers, at least 1.
    pub ticks: u32,
    /// For each column the ticks with a reading.
    pub presence: Vec<Presence>,
    /// For each column the readings left out, each count below 2^16. Empty if there are none.
    pub left_out: Vec<LeftOut>,
    /// True if a generator made the readings up.
    pub generated: bool,
}

impl SumsHead {
    /// Makes the head of a window without gaps.
    #[must_use]
    pub fn whole(header: &SumsHeader, sequence: u64, pad: PadName, start: i64, ticks: u32) -> Self {
        let presence = vec![Presence::first(ticks); header.stream().columns.len()];
        Self { sequence, pad, start, ticks, presence, left_out: Vec::new(), generated: false }
    }

    /// Returns the ticks that the parts have: up to the last reading.
    #[must_use]
    pub fn sent_ticks(&self) -> u32 {
        self.presence.iter().map(Presence::end).max().unwrap_or_default()
    }

    /// Returns true if each column has a reading at each tick.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.presence.iter().all(|presence| presence.count() == self.ticks)
    }

    /// Refuses a head that no window of this stream has.
    pub(super) fn check(&self, header: &SumsHeader) -> Result<(), WireError> {
        let columns = header.stream().columns.len();
        if !(1..=header.stream().ticks).contains(&self.ticks) {
            return Err(WireError::Value("a window has from 1 tick to as many as its stream says"));
        }
        if self.presence.len() != columns || (!self.left_out.is_empty() && self.left_out.len() != columns) {
            return Err(WireError::Value("the lists of a window are not those of its stream's columns"));
        }
        if self.sent_ticks() > self.ticks {
            return Err(WireError::Value("a reading lies outside its window"));
        }
        if self.pad.number > self.sequence {
            return Err(WireError::Value("a window's pads have a number that comes after the window's"));
        }
        let count =
            |all: &LeftOut| Reason::ALL.iter().map(|reason| all.count(*reason)).max().unwrap_or_default();
        if self.left_out.iter().any(|all| count(all) > u16::MAX.into()) {
            return Err(WireError::Value("a window counts at most 65535 readings left out for one reason"));
        }
        Ok(())
    }

    /// Returns the flags that any window has.
    pub(super) fn flags(&self) -> u8 {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        flag(self.generated, GENERATED)
            | flag(!self.is_whole(), GAPS)
            | flag(self.left_out.iter().any(|left_out| !left_out.is_empty()), LEFT_OUT)
            | flag(self.pad.number < self.sequence, RENUMBERED)
    }

    /// Appends the lists of these flags.
    pub(super) fn write_lists(&self, out: &mut Vec<u8>, flags: u8) {
        if flags & RENUMBERED != 0 {
            write_varint(out, self.sequence - self.pad.number);
        }
        if flags & GAPS != 0 {
            self.presence.iter().for_each(|presence| write_runs(out, presence));
        }
        if flags & LEFT_OUT != 0 {
            self.left_out.iter().for_each(|left_out| write_left_out(out, left_out));
        }
    }

    /// Reads the lists of these flags, behind the other fields of a window's head.
    pub(super) fn read_lists(
        reader: &mut Reader<'_>,
        header: &SumsHeader,
        flags: u8,
        Numbers { salt, sequence, start, ticks }: Numbers,
    ) -> Result<Self, WireError> {
        // Before anything is allocated for them.
        if !(1..=u64::from(header.stream().ticks)).contains(&ticks) {
            return Err(WireError::Value("a window has from 1 tick to as many as its stream says"));
        }
        let ticks = ticks as u32;
        let back = if flags & RENUMBERED == 0 { 0 } else { reader.varint()? };
        let number = sequence.checked_sub(back);
        let number =
            number.ok_or(WireError::Value("a window's pads have a number that comes after the window's"))?;
        let columns = 0..header.stream().columns.len();
        let presence = columns
            .clone()
            .map(|_| if flags & GAPS == 0 { Ok(Presence::first(ticks)) } else { read_runs(reader, ticks) })
            .collect::<Result<_, _>>()?;
        let left_out = if flags & LEFT_OUT == 0 {
            Vec::new()
        } else {
            columns.map(|_| read_left_out(reader)).collect::<Result<_, _>>()?
        };
        let pad = PadName { salt, number };
        let read =
            Self { sequence, pad, start, ticks, presence, left_out, generated: flags & GENERATED != 0 };
        read.check(header)?;
        Ok(read)
    }

    /// Returns the bytes of a head that was checked.
    pub(super) fn bytes(&self, header: &SumsHeader) -> Vec<u8> {
        let (mut out, flags) = (Vec::with_capacity(64), self.flags());
        out.push(VERSION);
        out.extend_from_slice(&header.id().tag().0);
        out.extend_from_slice(&self.pad.salt);
        write_varint(&mut out, self.sequence);
        write_varint(&mut out, zigzag(self.start));
        out.push(flags);
        write_varint(&mut out, self.ticks.into());
        self.write_lists(&mut out, flags);
        out
    }

    /// Reads the head of a window of this stream. The reader then stands at the window's parts.
    pub(super) fn parse(reader: &mut Reader<'_>, header: &SumsHeader) -> Result<Self, WireError> {
        count(Counted::Parse);
        let all = reader.rest();
        let version = reader.u8()?;
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let tag = StreamTag(reader.array()?);
        if tag != header.id().tag() {
            return Err(WireError::UnknownStream(tag));
        }
        let salt = reader.array()?;
        let (sequence, start) = (reader.varint()?, unzigzag(reader.varint()?));
        let flags = reader.u8()?;
        let numbers = Numbers { salt, sequence, start, ticks: reader.varint()? };
        let read = Self::read_lists(reader, header, flags, numbers)?;
        // The encoding is canonical.
        if read.bytes(header) != all[..all.len() - reader.left()] {
            return Err(WireError::Value("the window is not in its canonical form"));
        }
        Ok(read)
    }
}

/// Fields of a window's head before its lists.
pub(super) struct Numbers {
    pub(super) salt: [u8; SALT_BYTES],
    pub(super) sequence: u64,
    pub(super) start: i64,
    pub(super) ticks: u64,
}
