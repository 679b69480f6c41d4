//! Messages that come in the place of others: when the numbers of these change, the lists of numbers change with them.

use std::collections::BTreeMap;

use sotto_wire::{Envelope, WireError};

use super::contents::contents;
use super::entry::Entry;
use super::folder::{REFUSED, entries, read};
use super::names::Names;
use super::refusals::{NAMES_REFUSED, reason};
use super::{Contents, Cuts, Spool, SpoolError};

/// The new numbers of a stream's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewNames(BTreeMap<u64, Option<u64>>);

impl NewNames {
    /// Returns the number of a message by its number before; `None` if the message was deleted.
    #[must_use]
    pub fn of(&self, number: u64) -> Option<u64> {
        self.0.get(&number).copied().unwrap_or(Some(number))
    }

    pub(super) fn add(&mut self, before: u64, now: Option<u64>) {
        self.0.insert(before, now);
    }

    /// Returns true if a message with these names has to be signed again.
    pub(super) fn change(&self, names: &Names) -> bool {
        names.windows.iter().any(|window| self.0.contains_key(window))
    }

    /// Returns the names as they are now.
    pub(super) fn names(&self, names: &Names) -> Names {
        let mut windows: Vec<u64> = names.windows.iter().filter_map(|window| self.of(*window)).collect();
        windows.sort_unstable();
        windows.dedup();
        Names { windows, channels: names.channels.clone() }
    }
}

/// A message that is signed again.
pub(super) struct Again<'e> {
    pub(super) entry: &'e Entry,
    pub(super) envelope: Envelope,
    pub(super) contents: Contents,
    /// True if its number is another window's.
    pub(super) is_taken: bool,
    /// True if the spool knows the other window by this number.
    pub(super) is_known: bool,
}

impl Spool {
    /// Puts a message into the queue with other names, under its number if that is free and above all that it names, else
    /// under the stream's next one. Leaves the file of before. Returns the number.
    pub(super) fn put_again(
        &self,
        again: Again<'_>,
        names: &NewNames,
        sign: &impl Fn(Envelope, u64, &NewNames) -> Result<Vec<u8>, WireError>,
    ) -> Result<u64, SpoolError> {
        let Again { entry, envelope, contents, is_taken, is_known } = again;
        let Entry { stream, sequence, .. } = entry;
        let named = names.names(&contents.names);
        let is_below = named.windows.last().is_some_and(|last| last >= sequence);
        let number = if is_taken || is_below { self.next_sequence(stream)? } else { *sequence };
        let bytes = sign(envelope, number, names)
            .map_err(|reason| SpoolError::Damaged { path: self.path(entry), reason })?;
        // The readings were counted when the message first entered the spool.
        let contents = Contents { totals: super::Totals::default(), names: named, ..contents };
        let cleared = self.lock().sequences.cleared_by(stream, &contents);
        let moved = (number != *sequence && !is_known).then_some(*sequence);
        self.put(stream, number, &bytes, &Contents { cleared, moved, ..contents })?;
        Ok(number)
    }

    /// Returns the waiting messages of a stream that name others with new numbers, in order, with their contents.
    pub(super) fn waiting_for(&self, stream: &str, cuts: &Cuts) -> Vec<(Entry, Envelope, Contents)> {
        let mut waiting: Vec<Entry> =
            self.lock().waiting.iter().filter(|entry| entry.stream == stream).cloned().collect();
        waiting.sort_by_key(|entry| entry.sequence);
        let naming = |entry: Entry| {
            let contents =
                contents(&self.folder, &entry, cuts).filter(|contents| !contents.names.is_empty())?;
            let (_, envelope) = read(&self.folder, &entry).ok()?;
            Some((entry, envelope, contents))
        };
        waiting.into_iter().filter_map(naming).collect()
    }

    /// Returns a number among these that was put aside because the cloud has another window under it, or because it names such
    /// a one: a message that names it would replace the other window.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder cannot be read.
    pub fn taken_among(&self, stream: &str, names: &[u64]) -> Result<Option<u64>, SpoolError> {
        if names.is_empty() {
            return Ok(None);
        }
        let refused = self.folder.join(REFUSED);
        let is_taken = |entry: &Entry| {
            let reason = reason(&refused, entry);
            entry.stream == stream
                && names.contains(&entry.sequence)
                && reason.is_some_and(|reason| {
                    [sotto_api::reason::SEQUENCE_TAKEN, NAMES_REFUSED].contains(&&*reason)
                })
        };
        Ok(entries(&refused)?.into_iter().find(is_taken).map(|entry| entry.sequence))
    }
}
