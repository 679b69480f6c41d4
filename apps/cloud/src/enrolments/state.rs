//! The files of the enrolment folder that were read, so that only new and changed ones are read again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

/// State of the files read so far.
#[derive(Default)]
pub(crate) struct Enrolments {
    /// By device. At most as many as are listed, plus one per request. Not locked while a file is read.
    files: Mutex<HashMap<String, Seen>>,
    /// Locked while the folder is listed.
    pub(super) listing: Mutex<Listing>,
    applied: AtomicU64,
}

#[derive(Default)]
pub(super) struct Listing {
    pub(super) last: Option<Instant>,
    /// The last error about the folder itself, so that it is logged only once.
    pub(super) complaint: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) stamp: Stamp,
    /// True if the next listing tries the file again even if it has not changed.
    pub(super) again: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) modified: SystemTime,
    pub(super) bytes: u64,
}

impl Enrolments {
    /// Returns the number of files applied since the start. While it stays the same, no enrolment has changed a
    /// registration.
    pub(crate) fn applied(&self) -> u64 {
        self.applied.load(Ordering::SeqCst)
    }

    /// Counts a file that was applied.
    pub(super) fn count_applied(&self) {
        self.applied.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn files(&self) -> MutexGuard<'_, HashMap<String, Seen>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
