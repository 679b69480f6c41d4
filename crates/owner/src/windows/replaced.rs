//! Windows of a log in whose place others come (docs/adr/0020).

use std::collections::BTreeSet;

use super::mirror::Entry;

/// The windows of a stream that are replaced.
#[derive(Debug, Default)]
pub(crate) struct Replaced(sotto_pack::Replaced);

impl Replaced {
    /// Reads the numbers that the windows of a stream's log name.
    pub(crate) fn of<'e>(entries: impl IntoIterator<Item = Entry<'e>>) -> Self {
        let mut all = sotto_pack::Replaced::default();
        for entry in entries.into_iter().filter(Entry::replaces) {
            if let Some(description) = entry.description() {
                all.add(entry.sequence(), &description);
            }
        }
        Self(all)
    }

    /// Returns true if one of these windows is named.
    pub(crate) fn has_any(&self, numbers: std::ops::Range<u64>) -> bool {
        self.0.has_any(numbers)
    }

    /// Returns the channels of a window whose readings do not count.
    pub(crate) fn channels(&self, entry: &Entry<'_>) -> BTreeSet<&str> {
        let sequence = entry.sequence();
        if self.0.is_empty() || !(entry.replaces() || self.0.has_any(sequence..sequence.saturating_add(1))) {
            return BTreeSet::new();
        }
        entry.description().map(|description| self.0.channels(sequence, &description)).unwrap_or_default()
    }
}
