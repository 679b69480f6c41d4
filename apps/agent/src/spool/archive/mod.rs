//! Messages that the cloud has confirmed, kept for a time: a cloud that was restored from an older backup lacks them.
//!
//! They lie in the folder `confirmed/` of the spool, as they were sent. No other part of the spool reads it: a message there
//! does not wait, and its number and ticks were counted before it was sent.
//!
//! To keep is best effort. A message comes into the folder after its receipt and before it leaves the queue. A crash leaves it
//! waiting, kept, or both: then the next start takes it out of the queue. Where the disk is full the oldest are deleted, for
//! newer ones and for messages that wait.

mod file;
mod followed;
mod forget;
mod keep;
mod message;
mod totals;

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sotto_wire::Envelope;

use super::durable;
use super::error::SpoolError;
use super::private;
pub use file::ArchivedFile;
pub use message::ArchivedMessage;
pub use totals::ArchiveTotals;

/// The folder in the spool.
pub const CONFIRMED: &str = "confirmed";

/// Bytes that a file counts at least: a block of most file systems.
const BLOCK: u64 = 4096;

/// For how long confirmed messages are kept, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Milliseconds after the receipt; 0 keeps none.
    pub time: i64,
    /// Maximum bytes of all of them; each counts at least 4,096.
    pub bytes: u64,
}

/// The messages that are kept.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    keep: Keep,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Oldest first.
    files: VecDeque<ArchivedFile>,
    /// Bytes that they count.
    bytes: u64,
    /// True once a message could not be kept in this run: one warning is enough.
    said: bool,
}

impl Archive {
    /// Opens the folder in a spool, and deletes messages beyond the bounds. `now` is in milliseconds since 1970.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder cannot be used.
    pub fn open(spool: &Path, keep: Keep, now: i64) -> Result<Self, SpoolError> {
        let folder = spool.join(CONFIRMED);
        private::make_folder(&folder)
            .and_then(|()| private::close(&folder))
            .and_then(|()| durable::remove_leftovers(&folder))
            .map_err(SpoolError::io(&folder))?;
        let archive = Self { folder, keep, kept: Mutex::default() };
        archive.list()?;
        archive.trim(now);
        Ok(archive)
    }

    /// Reads the names of the files again.
    fn list(&self) -> Result<(), SpoolError> {
        let files = file::files(&self.folder).map_err(SpoolError::io(&self.folder))?;
        let mut kept = self.lock();
        kept.bytes = files.iter().map(counted).sum();
        kept.files = files.into();
        Ok(())
    }

    /// Returns the streams of the messages.
    #[must_use]
    pub fn streams(&self) -> BTreeSet<String> {
        self.lock().files.iter().map(|file| file.stream.clone()).collect()
    }

    /// Returns the files of a stream, oldest first.
    #[must_use]
    pub fn files_of(&self, stream: &str) -> Vec<ArchivedFile> {
        self.lock().files.iter().filter(|file| file.stream == stream).cloned().collect()
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`SpoolError::Damaged`] if it is not the message that was written, [`SpoolError::Io`].
    pub fn read(&self, file: &ArchivedFile) -> Result<ArchivedMessage, SpoolError> {
        message::read(&self.folder, file)
    }

    /// Returns true if this window is kept, also under another signature.
    pub(super) fn has(&self, envelope: &Envelope) -> bool {
        let header = envelope.header();
        let may_have = |file: &&ArchivedFile| file.stream == header.stream && file.has(header.sequence);
        let files: Vec<ArchivedFile> = self.lock().files.iter().filter(may_have).cloned().collect();
        let is_it = |other: &Envelope| match envelope.window_digest() {
            Some(digest) => other.window_digest() == Some(digest),
            None => other.write() == envelope.write(),
        };
        files.iter().any(|file| self.read(file).is_ok_and(|message| message.windows().iter().any(&is_it)))
    }

    /// Returns the counts.
    #[must_use]
    pub fn totals(&self) -> ArchiveTotals {
        ArchiveTotals::of(self.lock().files.iter())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the bytes that a file counts.
fn counted(file: &ArchivedFile) -> u64 {
    file.bytes.max(BLOCK)
}

#[cfg(test)]
mod tests;
