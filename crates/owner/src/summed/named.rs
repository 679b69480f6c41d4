//! The windows of a row of sums, found in the log of their stream.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Replaced, WindowDescription};
use sotto_sums::SALT_BYTES;
use sotto_wire::WindowNames;

use super::row::SummedColumns;
use crate::windows::{Entry, RollUps, StreamLog, replaced};

/// A window with the name of its pads.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) salt: [u8; SALT_BYTES],
    pub(super) pad: u64,
    pub(super) window: WindowDescription,
    /// The channels whose readings a later window replaces.
    pub(super) replaced: Vec<String>,
}

/// Returns the windows of a row: those of its start between its numbers, if they are as many as it says.
pub(super) fn named(row: &SummedColumns, log: &StreamLog, rolled: &RollUps) -> Option<Vec<Named>> {
    let replaced = replaced(log);
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
            all.extend(of_entry(&entry, &replaced));
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

/// Returns the windows of an answer's frame, in its order; None if the log lacks one, or the frame has one twice.
pub(super) fn named_by(names: &WindowNames, log: &StreamLog) -> Option<Vec<Named>> {
    let replaced = replaced(log);
    let salts: BTreeSet<_> = names.starts().iter().collect();
    let mut all = BTreeMap::new();
    for (first, count) in log.pieces() {
        if first.is_signed() && first.mask().is_some_and(|mask| salts.contains(&mask.salt)) {
            for entry in first.all(count) {
                all.extend(entry.mask().map(|mask| ((mask.salt, mask.sequence), entry)));
            }
        }
    }
    // Taken out of the map: a window counts once.
    names.iter().map(|name| of_entry(&all.remove(&(name.salt, name.sequence))?, &replaced)).collect()
}

fn of_entry(entry: &Entry<'_>, replaced: &Replaced) -> Option<Named> {
    let (window, mask) = entry.description().zip(entry.mask())?;
    let replaced = replaced.channels(entry.sequence()).into_iter().map(str::to_owned).collect();
    Some(Named { salt: mask.salt, pad: mask.sequence, window, replaced })
}
