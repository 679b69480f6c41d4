//! Lists of a window's head: ticks with readings, and readings left out.

use alloc::vec::Vec;

use sotto_pack::{LeftOut, Presence, Reason};

use crate::error::WireError;
use crate::reader::{Reader, write_varint};

pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Writes the number of runs of ticks with readings, and for each run the length of the gap before it and its own
/// length.
pub(crate) fn write_runs(out: &mut Vec<u8>, presence: &Presence) {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    let mut end = 0;
    for tick in presence.iter() {
        match runs.last_mut() {
            Some((_, run)) if tick == end => *run += 1,
            _ => runs.push((tick - end, 1)),
        }
        end = tick + 1;
    }
    write_varint(out, runs.len() as u64);
    for (gap, run) in runs {
        write_varint(out, gap.into());
        write_varint(out, run.into());
    }
}

pub(crate) fn read_runs(reader: &mut Reader<'_>, length: u32) -> Result<Presence, WireError> {
    let outside = || WireError::Value("a reading lies outside its window");
    let (mut presence, mut end) = (Presence::default(), 0_u64);
    let count = reader.varint()?;
    if count > u64::from(length) {
        return Err(outside());
    }
    for _ in 0..count {
        let (gap, run) = (reader.varint()?, reader.varint()?);
        let first = end.checked_add(gap).ok_or_else(outside)?;
        end = first.checked_add(run).filter(|end| *end <= u64::from(length)).ok_or_else(outside)?;
        // `tick` is below the length, which has 32 bits.
        (first..end).for_each(|tick| presence.insert(tick as u32));
    }
    Ok(presence)
}

/// Writes a bit mask of the reasons that occur, in the order of [`Reason::ALL`], and the count of each.
pub(crate) fn write_left_out(out: &mut Vec<u8>, left_out: &LeftOut) {
    let reasons = Reason::ALL.iter().enumerate().filter(|(_, reason)| left_out.count(**reason) > 0);
    write_varint(out, reasons.clone().map(|(at, _)| 1 << at).sum());
    reasons.for_each(|(_, reason)| write_varint(out, left_out.count(*reason)));
}

pub(crate) fn read_left_out(reader: &mut Reader<'_>) -> Result<LeftOut, WireError> {
    let (reasons, mut left_out) = (reader.varint()?, LeftOut::default());
    for (at, reason) in Reason::ALL.into_iter().enumerate() {
        if reasons >> at & 1 == 1 {
            left_out.add(reason, reader.varint()?);
        }
    }
    Ok(left_out)
}
