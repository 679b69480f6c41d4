//! The windows of a row of sums, found in the log of their stream.

use sotto_pack::WindowDescription;

use super::row::SummedRow;
use crate::windows::{Entry, Replaced, RollUps, StreamLog};

/// A window with the number of its pads.
pub(super) struct Named {
    pub(super) pad: u64,
    pub(super) window: WindowDescription,
    /// The channels whose readings a later window replaces.
    pub(super) replaced: Vec<String>,
}

/// Returns the windows of a row: those of its start between its numbers, if they are as many as it says.
pub(super) fn named(row: &SummedRow, log: &StreamLog, rolled: &RollUps) -> Option<Vec<Named>> {
    let replaced = Replaced::of(log.pieces().map(|(first, _)| first));
    let of_row = |first: &Entry<'_>| {
        let header = first.stream().map(|header| hex::encode(header.id().0));
        let salt = first.mask().map(|mask| mask.salt);
        first.is_signed() && header.as_ref() == Some(&row.header) && salt == Some(row.salt)
    };
    let mut all = Vec::new();
    for (first, count) in log.pieces().filter(|(first, _)| of_row(first)) {
        for entry in first.all(count) {
            let number = entry.sequence();
            if number < row.numbers.0 || number > row.numbers.1 || rolled.at(entry.position).is_some() {
                continue;
            }
            let Some((window, mask)) = entry.description().zip(entry.mask()) else { continue };
            let replaced = replaced.channels(&entry).into_iter().map(str::to_owned).collect();
            all.push(Named { pad: mask.sequence, window, replaced });
        }
    }
    let is_current = |named: &Named| {
        let channels = named.window.layout.channels();
        !channels.iter().all(|channel| named.replaced.contains(&channel.name))
    };
    let (current, others): (Vec<Named>, Vec<Named>) = all.into_iter().partition(is_current);
    let in_time =
        |named: &Named| row.starts.is_none_or(|(first, last)| (first..=last).contains(&named.window.start));
    let count = |windows: usize| windows as u64 == row.windows;
    if count(current.iter().filter(|named| in_time(named)).count()) {
        Some(current.into_iter().filter(in_time).collect())
    } else if count(current.len()) {
        Some(current)
    } else {
        // A window may have been replaced since the export.
        count(current.len() + others.len()).then(|| current.into_iter().chain(others).collect())
    }
}
