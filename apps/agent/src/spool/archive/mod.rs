//! Messages that the cloud has confirmed, kept for a time: a cloud that was restored from an older backup lacks them.
//!
//! They lie in the folder `confirmed/` of the spool, as they were sent. No other part of the spool reads it: a message there
//! does not wait, and its number and ticks were counted before it was sent. Of one file at least a block of the disk is counted.
//!
//! To keep is best effort. A message comes into the folder after its receipt and before it leaves the queue, so a crash
//! leaves it waiting, kept, or both; [`Archive::has`] tells the last. Where the disk is full the oldest are deleted, for
//! newer ones and for messages that wait.

mod file;
mod followed;
mod forget;
mod message;

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sotto_wire::{Envelope, StreamHeader};

use super::durable::{self, Audience};
use super::entry::Entry;
use super::error::SpoolError;
use super::private;
use super::reserve::is_full;
pub use file::ArchivedFile;
pub use message::ArchivedMessage;

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

/// The counts of the messages that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveTotals {
    /// Number of windows.
    pub windows: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// When the oldest was confirmed: milliseconds since 1970.
    pub since: Option<i64>,
}

impl Archive {
    /// Opens the folder in a spool, and deletes what is kept no more. `now` is in milliseconds since 1970.
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

    /// Keeps a message that was sent alone: moves its file out of the queue. Returns false if it stays there.
    pub(super) fn keep_alone(&self, path: &Path, entry: &Entry, now: i64) -> bool {
        let Entry { stream, sequence, bytes, .. } = entry;
        let file = ArchivedFile::alone(now, stream, *sequence, *bytes);
        if !self.takes(&file) {
            return false;
        }
        let to = self.folder.join(file.name());
        let moved = || fs::rename(path, &to).and_then(|()| durable::sync_folder_of(&to));
        self.kept(file, now, moved)
    }

    /// Keeps a group as it was sent. Returns false if it is not kept.
    pub(super) fn keep_group(
        &self,
        stream: &StreamHeader,
        entries: &[Entry],
        group: &[u8],
        now: i64,
    ) -> bool {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return false };
        let bytes = message::group_bytes(stream, group);
        let numbers = (first.sequence, last.sequence);
        let count = entries.len() as u64;
        let file = ArchivedFile::group(now, &first.stream, numbers, count, bytes.len() as u64);
        let to = self.folder.join(file.name());
        self.takes(&file) && self.kept(file, now, || durable::write(&to, &bytes, Audience::Owner))
    }

    /// Returns true if a file is within the bounds by itself.
    fn takes(&self, file: &ArchivedFile) -> bool {
        self.keep.time > 0 && counted(file) <= self.keep.bytes
    }

    /// Adds a file by an attempt that is repeated on a full disk as long as there is an older one to delete.
    fn kept(&self, file: ArchivedFile, now: i64, attempt: impl Fn() -> std::io::Result<()>) -> bool {
        loop {
            match attempt() {
                Ok(()) => break,
                Err(error) if is_full(&error) && self.delete_oldest() => {}
                Err(error) => {
                    let said = std::mem::replace(&mut self.lock().said, true);
                    if !said {
                        let folder = self.folder.display();
                        tracing::warn!(%folder, %error, "a confirmed message is not kept");
                    }
                    return false;
                }
            }
        }
        let mut kept = self.lock();
        kept.bytes += counted(&file);
        kept.files.push_back(file);
        drop(kept);
        self.trim(now);
        true
    }

    /// Deletes files that are older than the time, and the oldest beyond the bytes.
    fn trim(&self, now: i64) {
        let is_over = |kept: &Kept| {
            let oldest = kept.files.front()?;
            let is_old = oldest.confirmed_at.saturating_add(self.keep.time) <= now;
            (is_old || self.keep.time == 0 || kept.bytes > self.keep.bytes).then_some(())
        };
        while is_over(&self.lock()).is_some() {
            self.delete_oldest();
        }
    }

    /// Deletes the oldest file. Returns false if there is none.
    pub(super) fn delete_oldest(&self) -> bool {
        let mut kept = self.lock();
        let Some(oldest) = kept.files.pop_front() else { return false };
        kept.bytes -= counted(&oldest);
        let path = self.folder.join(oldest.name());
        if let Err(error) = durable::remove_if_there(&path) {
            tracing::warn!(path = %path.display(), %error, "a message that was kept cannot be deleted");
        }
        true
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be deleted.
    pub fn delete(&self, file: &ArchivedFile) -> Result<(), SpoolError> {
        let path = self.folder.join(file.name());
        durable::remove_if_there(&path).map_err(SpoolError::io(&path))?;
        let mut kept = self.lock();
        if let Some(place) = kept.files.iter().position(|other| other == file) {
            kept.files.remove(place);
            kept.bytes -= counted(file);
        }
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
        files.iter().any(|file| {
            self.read(file).is_ok_and(|message| message.windows().iter().any(|window| is_it(window)))
        })
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

impl ArchiveTotals {
    fn of<'f>(files: impl Iterator<Item = &'f ArchivedFile>) -> Self {
        files.fold(Self::default(), |all, file| Self {
            windows: all.windows + file.windows,
            bytes: all.bytes + file.bytes,
            since: Some(all.since.map_or(file.confirmed_at, |since| since.min(file.confirmed_at))),
        })
    }

    /// Reads the counts of a spool without locking it. A folder that is missing has none.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder cannot be read.
    pub fn read(spool: &Path) -> Result<Self, SpoolError> {
        let folder = spool.join(CONFIRMED);
        if !folder.exists() {
            return Ok(Self::default());
        }
        Ok(Self::of(file::files(&folder).map_err(SpoolError::io(&folder))?.iter()))
    }
}

/// Returns the bytes that a file counts.
fn counted(file: &ArchivedFile) -> u64 {
    file.bytes.max(BLOCK)
}

#[cfg(test)]
mod tests;
