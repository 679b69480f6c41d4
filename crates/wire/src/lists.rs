//! Lists of a window's head: ticks with readings, readings left out, windows that are replaced.

use alloc::vec::Vec;

use sotto_pack::{LeftOut, MOST_REPLACED, Presence, Reason, Replaces};

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
    let reasons = reader.varint()?;
    read_reasons(reader, reasons)
}

fn read_reasons(reader: &mut Reader<'_>, reasons: u64) -> Result<LeftOut, WireError> {
    let mut left_out = LeftOut::default();
    for (at, reason) in Reason::ALL.into_iter().enumerate() {
        if reasons >> at & 1 == 1 {
            left_out.add(reason, reader.varint()?);
        }
    }
    Ok(left_out)
}

const ALL_ROUNDED: u64 = 1;
const SOME_ROUNDED: u64 = 2;

/// Writes the counts of a channel with `readings` readings in a stream that counts those that were `rounded`: the bit mask of
/// the reasons times 4, with 1 if all readings were rounded, or 2 if some were; then their number, if it was some; then the
/// count of each reason.
pub(crate) fn write_counts(out: &mut Vec<u8>, left_out: Option<&LeftOut>, rounded: u32, readings: u32) {
    let mut reasons = Vec::new();
    left_out.into_iter().for_each(|left_out| write_left_out(&mut reasons, left_out));
    let mut counts = Reader::new(&reasons);
    // `reasons` begins with a number, if it is not empty.
    let mask = counts.varint().unwrap_or_default();
    let code = match rounded {
        0 => 0,
        rounded if rounded == readings => ALL_ROUNDED,
        _ => SOME_ROUNDED,
    };
    write_varint(out, mask << 2 | code);
    if code == SOME_ROUNDED {
        write_varint(out, rounded.into());
    }
    out.extend_from_slice(counts.rest());
}

/// Reads what [`write_counts`] wrote. Returns the readings left out, and the number of those that were rounded.
pub(crate) fn read_counts(reader: &mut Reader<'_>, readings: u32) -> Result<(LeftOut, u32), WireError> {
    let wrong = WireError::Value("a window counts as rounded some of its readings, or all");
    let mask = reader.varint()?;
    let rounded = match mask & 3 {
        0 => 0,
        ALL_ROUNDED => readings,
        SOME_ROUNDED => u32::try_from(reader.varint()?).unwrap_or(u32::MAX),
        _ => return Err(wrong),
    };
    if rounded > readings {
        return Err(wrong);
    }
    Ok((read_reasons(reader, mask >> 2)?, rounded))
}

/// Writes the number of windows that the window `sequence` replaces, the distance from it back to the last of them, from
/// each to the one before, and the columns: a bit each, the lowest first.
pub(crate) fn write_replaces(out: &mut Vec<u8>, sequence: u64, replaces: &Replaces) -> Result<(), WireError> {
    let Replaces { windows, channels } = replaces;
    write_varint(out, windows.len() as u64);
    let mut later = sequence;
    for window in windows.iter().rev() {
        let back = later.checked_sub(*window).filter(|back| *back > 0).ok_or(LATER)?;
        write_varint(out, back);
        later = *window;
    }
    let columns = channels.last().map_or(0, |last| usize::from(*last) / 8 + 1);
    write_varint(out, columns as u64);
    let first = out.len();
    out.resize(first + columns, 0);
    channels.iter().for_each(|column| out[first + usize::from(column / 8)] |= 1 << (column % 8));
    Ok(())
}

const LATER: WireError = WireError::Value("a window replaces windows before it");

/// Reads what [`write_replaces`] wrote, for a stream of `channels` channels.
pub(crate) fn read_replaces(
    reader: &mut Reader<'_>,
    sequence: u64,
    channels: usize,
) -> Result<Replaces, WireError> {
    let count = reader.varint()?;
    if count > MOST_REPLACED as u64 {
        return Err(WireError::Value("a window replaces at most 4096 windows"));
    }
    let (mut windows, mut later) = (Vec::new(), sequence);
    for _ in 0..count {
        later = later.checked_sub(reader.varint()?).ok_or(LATER)?;
        windows.push(later);
    }
    windows.reverse();
    let bytes = reader.varint()?;
    if bytes > channels.div_ceil(8) as u64 {
        return Err(WireError::Value("a window replaces readings of channels of its stream"));
    }
    let bits = reader.take(bytes as usize)?;
    let is_set = |column: &u16| bits[usize::from(column / 8)] >> (column % 8) & 1 == 1;
    let channels = (0..8 * bits.len() as u16).filter(is_set).collect();
    Ok(Replaces { windows, channels })
}
