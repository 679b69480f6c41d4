//! Opens a spool, and counts messages that a killed process did not.

use std::path::Path;
use std::sync::{Condvar, Mutex};

use sotto_wire::MOST_GROUPED;

use super::archive::{Archive, Keep};
use super::contents::contents;
use super::cuts::Cuts;
use super::entry::Entry;
use super::error::SpoolError;
use super::folder::{self, REFUSED, entries};
use super::reserve::is_full;
use super::sequences::Sequences;
use super::{Spool, State, durable, private};

impl Spool {
    /// Opens or makes a folder, and removes partial files left by a killed process.
    ///
    /// # Errors
    /// [`SpoolError`] if the folder cannot be used, is in use, or belongs to another device.
    pub fn open(folder: &Path, device: &str, limit: u64, cuts: &Cuts) -> Result<Self, SpoolError> {
        let refused = folder.join(REFUSED);
        for folder in [folder, &refused] {
            private::make_folder(folder)
                .and_then(|()| private::close(folder))
                .map_err(SpoolError::io(folder))?;
        }
        let lock = folder::lock(folder)?;
        let mut sequences = Sequences::open(folder, device)?;
        let new = sequences.is_new();
        durable::remove_leftovers(folder).map_err(SpoolError::io(folder))?;
        durable::remove_leftovers(&refused).map_err(SpoolError::io(&refused))?;
        let mut waiting = entries(folder)?;
        waiting.sort();
        let (mut order, put_aside) = (0, entries(&refused)?);
        let mut uncounted = Vec::new();
        let found = waiting.iter().map(|entry| (folder, entry));
        for (folder, entry) in found.chain(put_aside.iter().map(|entry| (refused.as_path(), entry))) {
            order = order.max(entry.order.saturating_add(1));
            let Entry { stream, sequence, .. } = entry;
            if !sequences.is_used(stream, *sequence) {
                uncounted.push((
                    stream.clone(),
                    *sequence,
                    contents(folder, entry, cuts).unwrap_or_default(),
                ));
            } else if sequences.sent_until(stream).is_none() && cuts.of(stream).is_some() {
                // An agent that wrote no ends has counted the message.
                let until = contents(folder, entry, cuts).and_then(|contents| contents.until);
                until.into_iter().for_each(|until| sequences.sent_before(stream, until));
            }
        }
        uncounted.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        let is_exact = sequences.recover(uncounted)?;
        let bytes = waiting.iter().map(|entry| entry.bytes).sum();
        let state = State { sequences, waiting: waiting.into(), bytes, order, shown: None, closed: false };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let archive = None;
        let spool = Self { folder: folder.to_owned(), limit, new, state, changed, archive, _lock: lock };
        match if is_exact { Ok(()) } else { spool.doubt() } {
            Err(SpoolError::Io { error, .. }) if is_full(&error) => {}
            noted => noted?,
        }
        Ok(spool)
    }

    /// Keeps messages that the cloud confirms; none, with a warning, if their folder cannot be used. Takes those out of the queue
    /// that are kept already: a process was killed between the two. `now` is in milliseconds since 1970.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if a message cannot be taken out of the queue.
    pub fn keeping(mut self, keep: Keep, now: i64) -> Result<Self, SpoolError> {
        let archive = match Archive::open(&self.folder, keep, now) {
            Ok(archive) => archive,
            Err(error) => {
                tracing::warn!(%error, "confirmed messages are not kept");
                return Ok(self);
            }
        };
        for stream in archive.streams() {
            let is_of_stream = |entry: &&Entry| entry.stream == stream;
            let oldest: Vec<Entry> =
                self.lock().waiting.iter().filter(is_of_stream).take(MOST_GROUPED).cloned().collect();
            for entry in oldest {
                if self.read(&entry).is_ok_and(|(_, envelope)| archive.has(&envelope)) {
                    self.discard(&entry)?;
                }
            }
        }
        self.archive = Some(archive);
        Ok(self)
    }

    /// Returns true if the folder had no `state.json`: the positions of the device's streams are unknown.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.new
    }

    /// Sets a stream's next sequence number, and the time before which every tick counts as sent, in memory only.
    /// Neither value decreases.
    ///
    /// # Errors
    /// [`SpoolError::NoneLeft`] if the stream has no sequence number from `next` on.
    pub fn resume(&self, stream: &str, next: u64, until: Option<i64>) -> Result<(), SpoolError> {
        let mut state = self.lock();
        if let Some(last) = next.checked_sub(1) {
            state.sequences.used(stream, last);
        }
        until.into_iter().for_each(|until| state.sequences.sent_before(stream, until));
        state.sequences.next(stream).map(drop)
    }

    /// Writes the state to disk.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be written.
    pub fn begin(&self) -> Result<(), SpoolError> {
        self.lock().sequences.write()
    }
}
