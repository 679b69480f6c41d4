//! The windows of a row of sums, found in the log of their stream.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Replaced, WindowDescription};
use sotto_sums::SALT_BYTES;
use sotto_wire::{StreamId, WindowNames};

use super::row::SummedColumns;
use super::streams::Stream;
use crate::windows::Entry;

/// A window with the name of its pads.
pub(super) struct Named {
    pub(super) salt: [u8; SALT_BYTES],
    pub(super) pad: u64,
    pub(super) window: WindowDescription,
    /// The channels whose readings a later window replaces.
    pub(super) replaced: Vec<String>,
}

impl Named {
    /// Returns true if readings of a channel count.
    pub(super) fn counts(&self) -> bool {
        self.window.layout.channels().iter().any(|channel| !self.replaced.contains(&channel.name))
    }
}

/// Returns the windows of a row of sums under a header: those of its start between its numbers, if they are as many as it says.
pub(super) fn named(row: &SummedColumns, header: &StreamId, stream: &Stream) -> Option<Vec<Named>> {
    let of_row = |first: &Entry<'_>| {
        let salt = first.mask().map(|mask| mask.salt);
        first.is_signed() && first.stream().is_some_and(|of| of.id() == *header) && salt == Some(row.salt)
    };
    let (least, largest) = row.numbers;
    let mut all = Vec::new();
    for (first, count) in stream.log.pieces().filter(|(first, _)| of_row(first)) {
        // The numbers of a piece follow each other.
        let ahead = |number: u64| number.saturating_sub(first.sequence());
        let end = if largest < first.sequence() { 0 } else { ahead(largest).saturating_add(1).min(count) };
        let inside = (ahead(least)..end).map(|index| first.nth(index));
        let kept = inside.filter(|entry| stream.rolled.at(entry.position).is_none());
        all.extend(kept.filter_map(|entry| of_entry(&entry, &stream.replaced)));
    }
    let (current, others): (Vec<Named>, Vec<Named>) = all.into_iter().partition(Named::counts);
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
pub(super) fn named_by(names: &WindowNames, stream: &Stream) -> Option<Vec<Named>> {
    let salts: BTreeSet<_> = names.starts().iter().collect();
    let mut all = BTreeMap::new();
    for (first, count) in stream.log.pieces() {
        if first.is_signed() && first.mask().is_some_and(|mask| salts.contains(&mask.salt)) {
            for entry in first.all(count) {
                all.extend(entry.mask().map(|mask| ((mask.salt, mask.sequence), entry)));
            }
        }
    }
    // Taken out of the map: a window counts once.
    names.iter().map(|name| of_entry(&all.remove(&(name.salt, name.sequence))?, &stream.replaced)).collect()
}

fn of_entry(entry: &Entry<'_>, replaced: &Replaced) -> Option<Named> {
    let (window, mask) = entry.description().zip(entry.mask())?;
    let replaced = replaced.channels(entry.sequence()).into_iter().map(str::to_owned).collect();
    Some(Named { salt: mask.salt, pad: mask.sequence, window, replaced })
}
