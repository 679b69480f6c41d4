//! One window in a segment.

use std::sync::Arc;

use rusqlite::Connection;
use sotto_wire::{Digest, Envelope, SignedHeader, StreamHeader, StreamTag};

use super::super::error::damaged;
use super::super::{Store, StoreError};
use super::runs::{self, SealedRun};
use crate::id::Id;
use crate::segment::{Block, Kind, SegmentError};

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

    pub(in super::super) fn leaf(&self) -> Result<Digest, StoreError> {
        self.block.leaf(self.row, self.stream.as_ref()).map_err(unread)
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

impl Store {
    /// Returns the window of a run with a number.
    pub(in super::super) fn sealed_in(
        &self,
        connection: &Connection,
        run: &SealedRun,
        number: u64,
        with_body: bool,
    ) -> Result<Sealed, StoreError> {
        let block = self.block(connection, run, with_body)?;
        let row = run.row_of(number);
        let wrong = || StoreError::Damaged("a segment is not as its catalogue says".to_owned());
        if row >= block.rows() || block.sequence(row) != number {
            return Err(wrong());
        }
        let stream = match block.tag(row) {
            Some(tag) => Some(self.header_of(connection, tag)?),
            None => None,
        };
        Ok(Sealed { block, row, stream })
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
        run.map(|run| self.sealed_in(connection, &run, number, true)).transpose()
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
