//! One window in a segment.

use std::sync::Arc;

use rusqlite::Connection;
use sotto_wire::{Digest, Envelope, LogItem, SignedHeader, StreamHeader, StreamTag};

use super::super::error::damaged;
use super::super::{Store, StoreError};
use super::runs::{self, SealedRun};
use crate::id::Id;
use sotto_segment::{Block, Kind, Row, SegmentError};

/// A window in a segment. It stays readable when the segment is replaced.
#[derive(Clone, Debug)]
pub(in super::super) struct Sealed {
    pub(in super::super) block: Arc<Block>,
    pub(in super::super) row: usize,
    /// The stream's header; None of a deleted window.
    pub(in super::super) stream: Option<Arc<StreamHeader>>,
}

/// `.map_err(unread)`
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn unread(error: SegmentError) -> StoreError {
    StoreError::Damaged(format!("a segment: {error}"))
}

impl Sealed {
    pub(in super::super) fn sequence(&self) -> u64 {
        self.block.sequence(self.row)
    }

    pub(in super::super) fn kind(&self) -> Kind {
        self.block.kind(self.row)
    }

    pub(in super::super) fn position(&self) -> u64 {
        self.block.position(self.row)
    }

    fn header(&self) -> Result<&Arc<StreamHeader>, StoreError> {
        self.stream.as_ref().ok_or_else(|| StoreError::Damaged("the window is deleted".to_owned()))
    }

    /// Returns the id; None of a deleted window.
    pub(in super::super) fn id(&self) -> Option<Id> {
        Some(Id::of_window(self.stream.as_ref()?.id().tag(), self.sequence()))
    }

    /// Returns the head, as a window alone writes it.
    pub(in super::super) fn head(&self) -> Result<Vec<u8>, StoreError> {
        Ok(self.block.head(self.row, self.header()?))
    }

    pub(in super::super) fn signed(&self) -> Result<SignedHeader, StoreError> {
        self.block.signed(self.row, self.header()?).map_err(unread)
    }

    /// Returns the window, or its whole group from it on if that has at most so many windows which follow each other in the log, as
    /// an item of a page, and their bytes. Returns None for other windows.
    pub(in super::super) fn item(&self, most: usize) -> Result<Option<(LogItem, u64)>, StoreError> {
        let (Some(stream), Kind::Whole | Kind::Head) = (&self.stream, self.kind()) else { return Ok(None) };
        let Some(item) = self.block.item(self.row, stream).map_err(unread)? else { return Ok(None) };
        let mut rows = self.row..self.row + item.windows();
        let follows = |row: usize| {
            let ahead = (row - self.row) as u64;
            self.block.position(row) == self.position().wrapping_add(ahead)
                && self.block.sequence(row) == self.sequence().wrapping_add(ahead)
                && self.block.tag(row) == Some(stream.id().tag())
        };
        let bytes = rows.clone().map(|row| self.block.counted_bytes(row)).sum();
        Ok((item.windows() <= most && rows.all(follows)).then_some((item, bytes)))
    }

    /// Returns the bytes of the roll-up whose first window it is; empty if there is none.
    pub(in super::super) fn sum(&self) -> &[u8] {
        if self.kind() == Kind::Head { self.block.parts(self.row) } else { &[] }
    }

    pub(in super::super) fn leaf(&self) -> Result<Digest, StoreError> {
        self.block.leaf(self.row, self.stream.as_ref()).map_err(unread)
    }

    /// Returns the times of the first and the last reading.
    pub(in super::super) fn times(&self) -> (i64, i64) {
        self.block.times(self.row)
    }

    pub(in super::super) fn stored_at(&self) -> i64 {
        self.block.stored_at(self.row)
    }

    /// Returns the bytes that lists and quotas count.
    pub(in super::super) fn counted_bytes(&self) -> u64 {
        self.block.counted_bytes(self.row)
    }

    /// Returns the window as a row of another segment.
    pub(super) fn row(&self) -> Result<Row, StoreError> {
        self.block.row(self.row, self.stream.as_ref()).map_err(unread)
    }

    /// Returns the window without its body, or without everything but its leaf, as a row of another segment. With `true` the parts
    /// stay whose values do not add.
    pub(super) fn reduced(&self, to: (Kind, bool)) -> Result<Row, StoreError> {
        self.block.reduced(self.row, to, self.header()?).map_err(unread)
    }

    pub(in super::super) fn envelope(&self) -> Result<Envelope, StoreError> {
        let header = self.header()?;
        if self.kind() == Kind::Head {
            let (stream, sequence) = (header.stream().to_owned(), self.sequence());
            return Err(StoreError::Dropped { stream, sequence });
        }
        self.block.envelope(self.row, header).map_err(unread)
    }
}

/// A run whose block is in memory. It stays readable when the segment is replaced.
pub(in super::super) struct OpenRun<'r> {
    run: &'r SealedRun,
    block: Arc<Block>,
    stream: Option<Arc<StreamHeader>>,
}

impl<'r> OpenRun<'r> {
    /// `stream` is the header of the run's windows, unless they are deleted.
    pub(super) fn new(run: &'r SealedRun, block: Arc<Block>, stream: Option<Arc<StreamHeader>>) -> Self {
        Self { run, block, stream }
    }

    /// Returns the window with a number of the run.
    pub(in super::super) fn at(&self, number: u64) -> Result<Sealed, StoreError> {
        let (run, block, row) = (self.run, &self.block, self.run.row_of(number));
        let is_there = row < block.rows()
            && block.sequence(row) == number
            && block.position(row) == run.position.wrapping_add(number.wrapping_sub(run.number));
        if !is_there {
            return Err(StoreError::Damaged("a segment is not as its catalogue says".to_owned()));
        }
        Ok(Sealed { block: Arc::clone(block), row, stream: self.stream.clone() })
    }
}

impl Store {
    /// Reads the block of a run, with the bodies if they are wanted.
    pub(in super::super) fn open_run<'r>(
        &self,
        connection: &Connection,
        run: &'r SealedRun,
        with_bodies: bool,
    ) -> Result<OpenRun<'r>, StoreError> {
        let block = self.block(connection, run, with_bodies)?;
        let stream = match run.kind {
            Kind::Deleted => None,
            Kind::Whole | Kind::Head => Some(self.header_of(connection, run.tag)?),
        };
        Ok(OpenRun::new(run, block, stream))
    }

    /// Returns the window of a run with a number, with its body.
    pub(in super::super) fn sealed_in(
        &self,
        connection: &Connection,
        run: &SealedRun,
        number: u64,
    ) -> Result<Sealed, StoreError> {
        self.open_run(connection, run, true)?.at(number)
    }

    /// Returns the header of a stream that a stored window names.
    pub(in super::super) fn header_of(
        &self,
        connection: &Connection,
        tag: StreamTag,
    ) -> Result<Arc<StreamHeader>, StoreError> {
        let header = self.streams.get(connection, tag)?;
        header.ok_or_else(|| damaged(sotto_wire::WireError::UnknownStream(tag)))
    }

    /// Returns the window of a log with a number, if it is in a segment.
    pub(in super::super) fn sealed(
        &self,
        connection: &Connection,
        device: &str,
        stream: &str,
        number: u64,
    ) -> Result<Option<Sealed>, StoreError> {
        let Some(log) = runs::log_of(connection, device, stream)? else { return Ok(None) };
        let run = runs::run_of(connection, log, number)?;
        run.map(|run| self.sealed_in(connection, &run, number)).transpose()
    }

    /// Returns the window with an id, if it is in a segment and not deleted.
    pub(in super::super) fn sealed_of(
        &self,
        connection: &Connection,
        id: Id,
    ) -> Result<Option<Sealed>, StoreError> {
        let (tag, number) = id.window();
        let Some(header) = self.streams.get(connection, tag)? else { return Ok(None) };
        let found = self.sealed(connection, header.device(), header.stream(), number)?;
        Ok(found.filter(|found| found.id() == Some(id)))
    }
}
