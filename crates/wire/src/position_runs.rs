//! Runs of positions in a log, as orders name windows.

use alloc::vec::Vec;

use crate::error::WireError;
use crate::reader::{Reader, write_varint};

/// Most runs of positions in an [`Order`](crate::Order): more are named by further orders.
pub const MOST_RUNS: usize = 2048;

pub(crate) const TOO_MANY_RUNS: WireError = WireError::Value("an order names at most 2048 runs of windows");
const WRONG_RUNS: WireError =
    WireError::Value("the runs of an order ascend, are apart from each other, and end within the log");

/// Writes runs of positions in a log of `size` windows: each the windows between it and the one before, less one, and its
/// windows, less one.
pub(crate) fn write_runs(out: &mut Vec<u8>, runs: &[(u64, u64)], size: u64) -> Result<(), WireError> {
    let mut end = None;
    for (from, to) in runs {
        // Runs that touch would have a second form.
        let behind = end.map_or(Some(0), |end: u64| end.checked_add(1)).and_then(|end| from.checked_sub(end));
        let (Some(gap), Some(more)) = (behind, to.checked_sub(from.saturating_add(1))) else {
            return Err(WRONG_RUNS);
        };
        if *to > size {
            return Err(WRONG_RUNS);
        }
        write_varint(out, gap);
        write_varint(out, more);
        end = Some(*to);
    }
    Ok(())
}

/// Reads `count` runs, at most [`MOST_RUNS`].
pub(crate) fn parse_runs(
    reader: &mut Reader<'_>,
    count: usize,
    size: u64,
) -> Result<Vec<(u64, u64)>, WireError> {
    if count > MOST_RUNS {
        return Err(TOO_MANY_RUNS);
    }
    // A run takes two bytes at least: a count beyond the bytes reserves nothing for them.
    let (mut runs, mut next) = (Vec::with_capacity(count.min(reader.left() / 2)), 0_u64);
    for _ in 0..count {
        let from = next.checked_add(reader.varint()?).ok_or(WRONG_RUNS)?;
        let to = from.checked_add(reader.varint()?).and_then(|last| last.checked_add(1)).ok_or(WRONG_RUNS)?;
        if to > size {
            return Err(WRONG_RUNS);
        }
        runs.push((from, to));
        next = to.checked_add(1).ok_or(WRONG_RUNS)?;
    }
    Ok(runs)
}
