//! Adds messages to a spool.

use std::time::Instant;

use super::Spool;
use super::archive::Archive;
use super::contents::Contents;
use super::durable::{self, Audience};
use super::entry::Entry;
use super::error::SpoolError;
use super::reserve::is_full;
use crate::stop::Stop;

impl Spool {
    /// Returns the sequence number of a stream's next message. The number counts as used once a message with it is in
    /// the spool.
    ///
    /// # Errors
    /// [`SpoolError::NoneLeft`] after the last one.
    pub fn next_sequence(&self, stream: &str) -> Result<u64, SpoolError> {
        self.lock().sequences.next(stream)
    }

    /// Refuses messages that an empty spool has no room for.
    fn check_size(&self, needed: u64) -> Result<(), SpoolError> {
        if needed > self.limit {
            return Err(SpoolError::TooSmall { limit: self.limit, needed });
        }
        Ok(())
    }

    /// Returns true if the spool has room for `needed` more bytes.
    ///
    /// # Errors
    /// [`SpoolError::TooSmall`] if `needed` exceeds the spool's limit.
    pub fn has_room(&self, needed: u64) -> Result<bool, SpoolError> {
        self.check_size(needed)?;
        Ok(self.lock().bytes + needed <= self.limit)
    }

    /// Waits until the spool has room for `needed` more bytes; logs one warning if it has to wait. Returns false if a
    /// stop was requested meanwhile.
    ///
    /// # Errors
    /// [`SpoolError::TooSmall`] if `needed` exceeds the spool's limit.
    pub fn wait_for_room(&self, needed: u64, stop: &Stop) -> Result<bool, SpoolError> {
        self.check_size(needed)?;
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
                // Messages that wait come before those that the cloud has.
                Err(SpoolError::Io { error, .. })
                    if is_full(&error) && self.archive().is_some_and(Archive::delete_oldest) => {}
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
        state.shown = Some(Instant::now());
        self.changed.notify_all();
    }

    /// Announces that no more messages come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn next_order(&self) -> u64 {
        let mut state = self.lock();
        let order = state.order;
        // After u64::MAX, messages share the last order number; their sequence numbers tell them apart.
        state.order = order.saturating_add(1);
        order
    }
}
