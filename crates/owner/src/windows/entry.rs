//! The log of a stream.

use std::collections::BTreeSet;

use sotto_wire::{Digest, Frontier, SignedHeader};

/// A gap of at least this many sequence numbers may be a new count: a device that lost its spool while the cloud was away
/// begins one far above.
pub(super) const NEW_COUNT: u64 = 1 << 32;

/// A window in the log of its stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The envelope's id in the cloud, 32 hexadecimal digits; empty if it was deleted.
    pub(crate) id: String,
    /// Size of the window as it was sent, in bytes.
    pub(crate) bytes: u64,
    /// The sequence number; only the cloud's claim if `signed` is None.
    pub(crate) sequence: u64,
    /// The digest of its signed header.
    pub(crate) leaf: Digest,
    /// The signed header, already verified. None for a window that was deleted, or that the cloud cannot read.
    pub(crate) signed: Option<SignedHeader>,
    /// True if this plant's owner deleted it.
    pub(crate) deleted_here: bool,
}

/// Returns the Merkle tree of windows that are a log from its beginning.
pub(super) fn tree_of(entries: &[Entry]) -> Frontier {
    Frontier::of(entries.iter().map(|entry| entry.leaf))
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StreamLog {
    pub(crate) entries: Vec<Entry>,
    pub(super) tree: Frontier,
    /// Size of its file in bytes.
    pub(super) bytes: u64,
}

impl StreamLog {
    /// Returns the missing sequence numbers before and between the windows, as inclusive ranges.
    pub(crate) fn gaps(&self) -> Vec<(u64, u64)> {
        let numbers: BTreeSet<u64> = self.entries.iter().map(|entry| entry.sequence).collect();
        let first = numbers.first().copied().unwrap_or_default();
        // Devices count from 0.
        let beginning = (first > 0).then(|| (0, first - 1));
        let numbers: Vec<u64> = numbers.into_iter().collect();
        let gap = |pair: &[u64]| (pair[1] - pair[0] > 1).then(|| (pair[0] + 1, pair[1] - 1));
        beginning.into_iter().chain(numbers.windows(2).filter_map(gap)).collect()
    }
}
