//! The queue of messages that the cloud does not have yet: a folder with one durable file per message.
//!
//! Other content of the folder:
//! - `state.json`: the device's name, and for each stream the next sequence number, the time up to which it is sent,
//!   and the sum of its windows, as of the last snapshot.
//! - `sent.journal`: the ticks that are sent, by stream and channel, and a line for each message since that snapshot.
//! - `in-doubt`: there if the cloud has refused a message because of a window that this spool does not know. The next start
//!   asks the cloud for the windows that it has.
//! - `refused/`: messages that the cloud has refused, each with a document that states the reason.
//! - `lock`: keeps other processes out.
//! - `reserve`: disk space kept for `state.json` and the documents.
//!
//! A message is deleted only after the cloud's receipt. The spool is bounded: when it is full, reading stops until
//! there is room, and nothing is dropped. Refused messages have a limit of their own: when they reach it, further ones
//! stay in the spool.
//!
//! A full disk stops reading but not sending: to send and delete a message, nothing has to be written.
//!
//! A message is added in three steps: its file is written, then its line in the journal, then the sender sees it. After
//! a crash between the first two, [`Spool::open`] counts the message from its own header, and takes out the ticks of the
//! windows that it names. So no window is lost or made twice, no tick is sent twice, and no sequence number that was sent is
//! used again.

mod confirmed;
mod contents;
mod cuts;
pub mod durable;
mod entry;
mod error;
mod folder;
mod inventory;
pub mod kept;
mod learn;
mod names;
mod new_names;
mod numbers;
mod places;
mod places_wait;
mod private;
mod put_back;
mod refusals;
mod reserve;
mod runs;
mod sent;
mod sent_journal;
mod sequences;
mod state;
mod totals;
mod window_ticks;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sotto_wire::Envelope;

pub use contents::Contents;
pub use cuts::Cuts;
pub use entry::Entry;
pub use error::SpoolError;
pub use folder::REFUSED;
pub use inventory::{Inventory, RefusedMessage, StreamInventory};
pub use learn::Learnt;
pub use names::Names;
pub use new_names::NewNames;
pub use numbers::SentWindows;
pub use places::refuse_places;
pub use places_wait::PlacesWait;
pub use put_back::PutBack;
pub(crate) use refusals::NAMES_REFUSED;
pub use runs::{NotRuns, Runs};
pub use sent::Sent;
pub use totals::{ChannelTotals, Totals};
pub use window_ticks::WindowTicks;

use crate::stop::Stop;
use contents::contents;
use durable::Audience;
use folder::{entries, problem_name, read, refused_bytes};
use reserve::{Reserve, is_full};
use sequences::Sequences;

/// Interval at which a wait checks for a stop, and for room that a person made by hand.
const LOOK: Duration = Duration::from_millis(50);

/// A spool, shared by the thread that fills it and the one that empties it.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    limit: u64,
    /// True if the folder had no `state.json`: the positions of the streams are unknown.
    new: bool,
    state: Mutex<State>,
    changed: Condvar,
    /// The file lock, held as long as this value exists.
    _lock: File,
}

#[derive(Debug)]
struct State {
    sequences: Sequences,
    waiting: VecDeque<Entry>,
    /// Bytes of the waiting messages.
    bytes: u64,
    /// The order number of the next message.
    order: u64,
    closed: bool,
}

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
        let state = State { sequences, waiting: waiting.into(), bytes, order, closed: false };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let spool = Self { folder: folder.to_owned(), limit, new, state, changed, _lock: lock };
        match if is_exact { Ok(()) } else { spool.doubt() } {
            Err(SpoolError::Io { error, .. }) if is_full(&error) => {}
            noted => noted?,
        }
        Ok(spool)
    }

    /// Returns the sequence number of a stream's next message. The number counts as used once a message with it is in
    /// the spool.
    ///
    /// # Errors
    /// [`SpoolError::NoneLeft`] after the last one.
    pub fn next_sequence(&self, stream: &str) -> Result<u64, SpoolError> {
        self.lock().sequences.next(stream)
    }

    /// Returns the end of a stream's last window in the spool, in milliseconds since 1970; `None` before the first one.
    #[must_use]
    pub fn sent_until(&self, stream: &str) -> Option<i64> {
        self.lock().sequences.sent_until(stream)
    }

    /// Waits until the spool has room for `needed` more bytes; logs one warning if it has to wait. Returns false if a
    /// stop was requested meanwhile.
    ///
    /// # Errors
    /// [`SpoolError::TooSmall`] if `needed` exceeds the spool's limit.
    pub fn wait_for_room(&self, needed: u64, stop: &Stop) -> Result<bool, SpoolError> {
        if needed > self.limit {
            return Err(SpoolError::TooSmall { limit: self.limit, needed });
        }
        let mut said = false;
        let mut state = self.lock();
        loop {
            if state.bytes + needed <= self.limit {
                return Ok(true);
            }
            if !said {
                let (waiting, limit) = (state.bytes, self.limit);
                tracing::warn!(waiting, limit, "the spool is full: reading stops until there is room");
                said = true;
            }
            if stop.is_asked() {
                return Ok(false);
            }
            state = self.wait(state);
        }
    }

    /// Returns true if the folder had no `state.json`: the positions of the device's streams are unknown.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.new
    }

    /// Returns the ticks that a stream has sent.
    #[must_use]
    pub fn sent(&self, stream: &str) -> Sent {
        self.lock().sequences.sent(stream)
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

    /// Adds a message durably, with the end, counts and ticks that it adds to the state of its stream.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be written, [`SpoolError::TooManyStreams`] if the next start could not read the
    /// state.
    pub fn put(
        &self,
        stream: &str,
        sequence: u64,
        message: &[u8],
        contents: &Contents,
    ) -> Result<Entry, SpoolError> {
        self.lock().sequences.check(stream, contents)?;
        let entry = self.write(stream, sequence, message)?;
        self.record(&entry, contents)?;
        self.show(entry.clone());
        Ok(entry)
    }

    /// Like [`Spool::put`], but waits while the disk is full. Returns `None` if a stop ended that wait.
    ///
    /// # Errors
    /// Those of [`Spool::put`], except for a full disk.
    pub fn put_when_there_is_space(
        &self,
        stream: &str,
        sequence: u64,
        message: &[u8],
        contents: &Contents,
        stop: &Stop,
    ) -> Result<Option<Entry>, SpoolError> {
        self.lock().sequences.check(stream, contents)?;
        let Some(entry) = self.when_there_is_space(stop, || self.write(stream, sequence, message))? else {
            return Ok(None);
        };
        // The message is durable: if a stop comes now, the next start counts it.
        if self.when_there_is_space(stop, || self.record(&entry, contents))?.is_none() {
            return Ok(None);
        }
        self.show(entry.clone());
        Ok(Some(entry))
    }

    /// Repeats a write while the disk is full, until a stop is requested. Logs one warning. Messages sent meanwhile
    /// free space.
    pub(crate) fn when_there_is_space<T>(
        &self,
        stop: &Stop,
        mut write: impl FnMut() -> Result<T, SpoolError>,
    ) -> Result<Option<T>, SpoolError> {
        let mut said = false;
        loop {
            match write() {
                Err(SpoolError::Io { path, error }) if is_full(&error) => {
                    if !said {
                        let path = path.display();
                        tracing::warn!(%path, "the disk is full: reading stops until there is space");
                        said = true;
                    }
                    if stop.is_asked() {
                        tracing::warn!("the disk is full: readings of windows that were open are not sent");
                        return Ok(None);
                    }
                    drop(self.wait(self.lock()));
                }
                written => return written.map(Some),
            }
        }
    }

    /// First step of [`Spool::put`]: writes the message's file durably.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be written.
    pub fn write(&self, stream: &str, sequence: u64, message: &[u8]) -> Result<Entry, SpoolError> {
        let order = self.next_order();
        let entry = Entry { order, stream: stream.to_owned(), sequence, bytes: message.len() as u64 };
        let path = self.path(&entry);
        durable::write(&path, message, Audience::Owner).map_err(SpoolError::io(&path))?;
        Ok(entry)
    }

    /// Second step of [`Spool::put`]: records the next sequence number, the window's end, its readings and their ticks.
    ///
    /// # Errors
    /// Those of [`Spool::put`].
    pub fn record(&self, entry: &Entry, contents: &Contents) -> Result<(), SpoolError> {
        self.lock().sequences.record(&entry.stream, entry.sequence, contents)
    }

    /// Third step of [`Spool::put`]: shows the message to the sender.
    pub fn show(&self, entry: Entry) {
        let mut state = self.lock();
        state.bytes += entry.bytes;
        state.waiting.push_back(entry);
        self.changed.notify_all();
    }

    /// Announces that no more messages come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Returns true once no more messages come.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().closed
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
    /// `bytes` together.
    #[must_use]
    pub fn oldest_of(&self, stream: &str, most: usize, bytes: u64) -> Vec<Entry> {
        let state = self.lock();
        let (mut oldest, mut left): (Vec<Entry>, _) = (Vec::new(), bytes);
        for entry in state.waiting.iter().filter(|entry| entry.stream == stream).take(most) {
            let ascends = oldest.last().is_none_or(|last| last.sequence < entry.sequence);
            let Some(rest) = left.checked_sub(entry.bytes).filter(|_| ascends) else { break };
            left = rest;
            oldest.push(entry.clone());
        }
        oldest
    }

    /// Reads a message and checks its digest. Returns its bytes in the upload format, and the envelope.
    ///
    /// # Errors
    /// [`SpoolError::Damaged`] or [`SpoolError::Renamed`] if it is not the message that was written,
    /// [`SpoolError::Io`].
    pub fn read(&self, entry: &Entry) -> Result<(Vec<u8>, Envelope), SpoolError> {
        read(&self.folder, entry)
    }

    /// Deletes a message that the cloud has. If a crash undoes this, the message is sent again and the cloud recognises
    /// it.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be deleted.
    pub fn delivered(&self, entry: &Entry) -> Result<(), SpoolError> {
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

    fn next_order(&self) -> u64 {
        let mut state = self.lock();
        let order = state.order;
        // After u64::MAX, messages share the last order number; their sequence numbers tell them apart.
        state.order = order.saturating_add(1);
        order
    }

    fn forget(&self, entry: &Entry) {
        let mut state = self.lock();
        if let Some(position) = state.waiting.iter().position(|other| other == entry) {
            state.waiting.remove(position);
            state.bytes -= entry.bytes;
        }
        self.changed.notify_all();
    }

    fn path(&self, entry: &Entry) -> PathBuf {
        self.folder.join(entry.file_name())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
    }
}
