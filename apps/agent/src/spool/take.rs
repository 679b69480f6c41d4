//! Gives a spool's messages to the sender, and takes those out that the cloud has or has refused.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sotto_wire::{Envelope, StreamHeader};

use super::archive::Archive;
use super::entry::Entry;
use super::error::SpoolError;
use super::folder::{REFUSED, entries, problem_name, read, refused_bytes};
use super::reserve::{Reserve, is_full};
use super::{Spool, State, durable};
use crate::source::now;
use crate::stop::Stop;

/// Time without a new message after which those that wait are sent.
const QUIET: Duration = Duration::from_millis(50);
/// Maximum time that a message waits for others while they arrive.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

impl Spool {
    /// Returns true once no more messages come.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Returns the oldest message; `None` if none waits.
    #[must_use]
    pub fn first(&self) -> Option<Entry> {
        self.lock().waiting.front().cloned()
    }

    /// Waits for the oldest message. Returns `None` if the spool is closed and empty, or a stop was requested.
    #[must_use]
    pub fn oldest(&self, stop: &Stop) -> Option<Entry> {
        let mut state = self.lock();
        loop {
            if stop.is_asked() {
                return None;
            }
            if let Some(entry) = state.waiting.front() {
                return Some(entry.clone());
            }
            if state.closed {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Returns the oldest messages of a stream with ascending sequence numbers: at most `most`, in files of at most
    /// `bytes` together. While messages still arrive it waits for more of them, up to half a second, so that few
    /// travel alone because the sender was faster than the disk.
    #[must_use]
    pub fn oldest_of(&self, stream: &str, most: usize, bytes: u64, stop: &Stop) -> Vec<Entry> {
        let (mut state, begin) = (self.lock(), Instant::now());
        loop {
            let (oldest, full) = state.oldest_of(stream, most, bytes);
            let arrives = state.shown.is_some_and(|shown| shown.elapsed() < QUIET);
            if full || state.closed || !arrives || begin.elapsed() >= LONGEST_WAIT || stop.is_asked() {
                return oldest;
            }
            state = self.wait(state);
        }
    }

    /// Reads a message and checks its digest. Returns its bytes in the upload format, and the envelope.
    ///
    /// # Errors
    /// [`SpoolError::Damaged`] or [`SpoolError::Renamed`] if it is not the message that was written,
    /// [`SpoolError::Io`].
    pub fn read(&self, entry: &Entry) -> Result<(Vec<u8>, Envelope), SpoolError> {
        read(&self.folder, entry)
    }

    /// Takes a message that the cloud has out of the queue: keeps it, or deletes it. If a crash undoes this, the message is
    /// sent again and the cloud recognises it.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be deleted.
    pub fn delivered(&self, entry: &Entry) -> Result<(), SpoolError> {
        if let Some(archive) = &self.archive {
            archive.keep_alone(&self.path(entry), entry, now());
        }
        self.discard(entry)
    }

    /// Like [`Spool::delivered`], for the messages that the cloud took as a group of windows of this stream, in these bytes.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if one cannot be deleted.
    pub fn delivered_group(
        &self,
        entries: &[Entry],
        stream: &StreamHeader,
        group: &[u8],
    ) -> Result<(), SpoolError> {
        if let Some(archive) = &self.archive {
            archive.keep_group(stream, entries, group, now());
        }
        entries.iter().try_for_each(|entry| self.discard(entry))
    }

    /// Returns the confirmed messages; `None` for a spool that keeps none.
    #[must_use]
    pub fn archive(&self) -> Option<&Archive> {
        self.archive.as_ref()
    }

    /// Deletes a message, if it is still in the queue.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be deleted.
    pub fn discard(&self, entry: &Entry) -> Result<(), SpoolError> {
        let path = self.path(entry);
        durable::remove_if_there(&path).map_err(SpoolError::io(&path))?;
        self.forget(entry);
        // There may be space now for the snapshot that the start could not write.
        self.lock().sequences.settle()
    }

    /// Puts a message aside, with a document that states the reason. Returns false, and leaves the message, if there is
    /// no room.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be moved.
    pub fn refuse(&self, entry: &Entry, document: &[u8]) -> Result<bool, SpoolError> {
        let (path, refused) = (self.path(entry), self.folder.join(REFUSED));
        if refused_bytes(&refused)? + entry.bytes > self.limit {
            return Ok(false);
        }
        let reserve = Reserve::in_folder(&self.folder);
        let (moved, beside) = (refused.join(entry.file_name()), refused.join(problem_name(entry)));
        let put_aside = || {
            reserve.write(&beside, document)?;
            fs::rename(&path, &moved)?;
            durable::sync_folder_of(&moved)?;
            durable::sync_folder_of(&path)
        };
        match put_aside() {
            Err(error) if is_full(&error) => return Ok(false),
            done => done.map_err(SpoolError::io(&moved))?,
        }
        self.forget(entry);
        Ok(true)
    }

    /// Returns the folder of the messages put aside.
    #[must_use]
    pub fn refused_folder(&self) -> PathBuf {
        self.folder.join(REFUSED)
    }

    /// Returns the number of messages put aside, in this run or an earlier one.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder cannot be read.
    pub fn refused(&self) -> Result<usize, SpoolError> {
        Ok(entries(&self.folder.join(REFUSED))?.len())
    }

    /// Returns the number of waiting messages.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    pub(super) fn forget(&self, entry: &Entry) {
        let mut state = self.lock();
        if let Some(position) = state.waiting.iter().position(|other| other == entry) {
            state.waiting.remove(position);
            state.bytes -= entry.bytes;
        }
        self.changed.notify_all();
    }
}

impl State {
    /// Returns the oldest messages of a stream that fit these limits, and true if no further one can join them.
    fn oldest_of(&self, stream: &str, most: usize, bytes: u64) -> (Vec<Entry>, bool) {
        let (mut oldest, mut left): (Vec<Entry>, _) = (Vec::new(), bytes);
        for entry in self.waiting.iter().filter(|entry| entry.stream == stream) {
            let ascends = oldest.last().is_none_or(|last| last.sequence < entry.sequence);
            let rest = left.checked_sub(entry.bytes).filter(|_| ascends && oldest.len() < most);
            let Some(rest) = rest else { return (oldest, true) };
            left = rest;
            oldest.push(entry.clone());
        }
        let full = oldest.len() >= most;
        (oldest, full)
    }
}
