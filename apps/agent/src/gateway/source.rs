//! The source of a device whose rows are pushed to it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sotto_pack::Channel;
use zeroize::Zeroizing;

use super::rows::{Cell, Reader};
use crate::source::{Row, Source, SourceError};

/// Bytes of rows that wait for one device, at most.
const MOST_OF_DEVICE: usize = 256 << 10;
/// Bytes of rows that wait for all devices, at most. Further ones wait in the journal.
const MOST_OF_ALL: usize = 8 << 20;

/// Rows that wait for a device, in few bytes. Clones share them.
#[derive(Clone)]
pub(crate) struct Queue(Arc<Shared>);

struct Shared {
    batches: Mutex<VecDeque<(u64, Zeroizing<Vec<u8>>)>>,
    bytes: AtomicUsize,
    /// Bytes that wait for all devices.
    of_all: Arc<AtomicUsize>,
}

impl Queue {
    /// Creates an empty queue. `of_all` counts the bytes of all queues.
    pub(crate) fn new(of_all: Arc<AtomicUsize>) -> Self {
        Self(Arc::new(Shared { batches: Mutex::default(), bytes: AtomicUsize::new(0), of_all }))
    }

    /// Adds the rows of a batch. Returns false, and adds nothing, if there is no room.
    pub(crate) fn push(&self, batch: u64, rows: Zeroizing<Vec<u8>>) -> bool {
        let Shared { bytes, of_all, .. } = &*self.0;
        let (waiting, added) = (bytes.load(Ordering::Relaxed), rows.len());
        // One batch always fits: otherwise a long one would never be taken.
        let fits = waiting == 0 || waiting + added <= MOST_OF_DEVICE;
        if !fits || (waiting > 0 && of_all.load(Ordering::Relaxed) + added > MOST_OF_ALL) {
            return false;
        }
        self.count(added);
        self.lock().push_back((batch, rows));
        true
    }

    /// Returns true if nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.bytes.load(Ordering::Relaxed) == 0
    }

    /// Drops all that waits.
    pub(crate) fn clear(&self) {
        while self.pop().is_some() {}
    }

    fn pop(&self) -> Option<(u64, Zeroizing<Vec<u8>>)> {
        let popped = self.lock().pop_front()?;
        let bytes = popped.1.len();
        self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.of_all.fetch_sub(bytes, Ordering::Relaxed);
        Some(popped)
    }

    fn count(&self, bytes: usize) {
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.0.of_all.fetch_add(bytes, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u64, Zeroizing<Vec<u8>>)>> {
        self.0.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.of_all.fetch_sub(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// A source that takes its rows from a queue. Its marks are the numbers of batches, counted from 1; 0 before the first one.
pub(crate) struct Pushed {
    channels: Arc<[Channel]>,
    queue: Queue,
    /// The number of the batch and its rows, once there is one.
    batch: Option<(u64, Zeroizing<Vec<u8>>)>,
    reader: Reader,
    cells: Vec<Cell>,
}

impl Pushed {
    pub(crate) fn new(channels: Arc<[Channel]>, queue: Queue) -> Self {
        Self { channels, queue, batch: None, reader: Reader::default(), cells: Vec::new() }
    }
}

impl Source for Pushed {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let at = loop {
            let rows = self.batch.as_ref().map_or(&[][..], |(_, rows)| rows);
            match self.reader.next(rows, &mut self.cells) {
                Some(at) => break at,
                None => {
                    let next = self.queue.pop().ok_or(SourceError::Waiting)?;
                    (self.batch, self.reader) = (Some(next), Reader::default());
                }
            }
        };
        let channels = self.channels.len();
        let (mut values, mut missing) = (Zeroizing::new(vec![None; channels]), vec![None; channels]);
        for (channel, cell) in self.cells.drain(..) {
            let channel = usize::from(channel);
            match cell {
                _ if channel >= channels => {}
                Ok(value) => values[channel] = Some(value),
                Err(reason) => missing[channel] = Some(reason),
            }
        }
        Ok(Row { at, values, missing })
    }

    fn next_row_before(&mut self, _at: i64) -> Result<Option<Row>, SourceError> {
        self.next_row().map(Some)
    }

    fn paced(&self) -> bool {
        true
    }

    fn mark(&self) -> u64 {
        self.batch.as_ref().map_or(0, |(number, _)| number + 1)
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        Err(SourceError::Ended)
    }
}
