//! A pass over a source, which can be read again.

use std::collections::{BTreeMap, BTreeSet};

/// A pass over a source that can be read again.
pub(super) struct Pass {
    /// Earlier passes have taken everything before this time.
    pub(super) from: i64,
    /// Everything from this time on is for the next pass.
    pub(super) to: i64,
    pub(super) is_first: bool,
    /// Number of cells of this pass.
    pub(super) cells: u64,
    /// The windows that were taken before all rows were read, by this or an earlier pass: their end, and the number of cells
    /// read before.
    pub(super) taken: BTreeMap<i64, (i64, u64)>,
    /// Windows that were taken and have further rows.
    pub(super) again: BTreeSet<i64>,
    /// True once rows are out of order: the oldest windows are kept, and all others are left for the next pass.
    pub(super) is_shuffled: bool,
}

impl Pass {
    pub(super) fn first() -> Self {
        Self {
            from: i64::MIN,
            to: i64::MAX,
            is_first: true,
            cells: 0,
            taken: BTreeMap::new(),
            again: BTreeSet::new(),
            is_shuffled: false,
        }
    }

    /// Returns true if an earlier pass has taken a window with this cell.
    pub(super) fn was_taken(&self, at: i64) -> bool {
        let Self { is_first, taken, cells, .. } = self;
        let window = || taken.range(..=at).next_back().map(|(_, window)| window);
        !is_first && window().is_some_and(|(end, before)| at < *end && cells <= before)
    }
}
