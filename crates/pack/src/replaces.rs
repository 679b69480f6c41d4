//! Windows in whose place another one comes.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Largest number of windows that one window replaces.
pub const MOST_REPLACED: usize = 4096;

/// The windows of a stream in whose place a window comes, and the channels. Readings of other channels go on to count.
///
/// Of two windows that replace one, the one with the higher number counts. A window that is replaced goes on to replace
/// what it named.
///
/// Example: [`crate::Window`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replaces {
    /// Their numbers, ascending: 1 to [`MOST_REPLACED`].
    pub windows: Vec<u64>,
    /// The columns of the channels, ascending: at least one.
    pub channels: Vec<u16>,
}

impl Replaces {
    /// Returns true if a window of a stream with `channels` channels can replace these.
    #[must_use]
    pub fn fits(&self, channels: usize) -> bool {
        let Self { windows, channels: columns } = self;
        let is_known = columns.last().is_some_and(|last| usize::from(*last) < channels);
        let ascend = windows.is_sorted_by(|a, b| a < b) && columns.is_sorted_by(|a, b| a < b);
        (1..=MOST_REPLACED).contains(&windows.len()) && is_known && ascend
    }
}
