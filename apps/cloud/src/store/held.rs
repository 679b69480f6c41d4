//! Open segments and blocks in memory, and which windows are sealed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sotto_segment::{Block, Segment};

/// Maximum number of blocks in memory: about 1 MiB each.
pub(super) const MOST_BLOCKS: usize = 32;
/// Maximum number of open segments.
pub(super) const MOST_OPEN: usize = 256;

/// Segments and blocks that were read last.
#[derive(Default)]
pub(super) struct Held(Mutex<Read>);

#[derive(Default)]
pub(super) struct Read {
    pub(super) segments: HashMap<i64, Arc<Segment>>,
    /// The last one read is the last.
    pub(super) blocks: VecDeque<((i64, u32), Arc<Block>)>,
}

impl Held {
    pub(super) fn read(&self) -> MutexGuard<'_, Read> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a segment that is replaced.
    pub(super) fn forget(&self, segment: i64) {
        let mut read = self.read();
        read.segments.remove(&segment);
        read.blocks.retain(|((of, _), _)| *of != segment);
    }
}

/// Which windows are sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sealing {
    /// All, if they are many.
    IfMany,
    /// All but pieces of windows that are still open.
    All,
    /// All, before the process ends.
    Everything,
}
