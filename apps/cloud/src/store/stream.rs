//! Headers of streams, which are needed to read envelopes of version 2.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{
    Envelope, EnvelopeHeader, LARGEST_ENVELOPE, SignedHeader, StreamHeader, StreamTag, WireError, stream_tag,
};

use super::error::damaged;
use super::{Store, StoreError};

/// Maximum number of headers held in memory.
const MOST_HELD: usize = 4096;

/// Cache of headers, which never change.
#[derive(Default)]
pub(super) struct Streams(Mutex<HashMap<StreamTag, Arc<StreamHeader>>>);

impl Streams {
    fn headers(&self) -> MutexGuard<'_, HashMap<StreamTag, Arc<StreamHeader>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the header with this tag if it is in memory.
    fn held(&self, tag: StreamTag) -> Option<Arc<StreamHeader>> {
        self.headers().get(&tag).map(Arc::clone)
    }

    /// Returns the header with this tag.
    pub(super) fn get(
        &self,
        connection: &Connection,
        tag: StreamTag,
    ) -> Result<Option<Arc<StreamHeader>>, StoreError> {
        if let Some(header) = self.held(tag) {
            return Ok(Some(header));
        }
        let mut query = connection.prepare_cached("SELECT header FROM streams WHERE tag = ?1")?;
        let frame: Option<Vec<u8>> = query.query_row([tag.0], |row| row.get(0)).optional()?;
        let Some(frame) = frame else { return Ok(None) };
        let header = Arc::new(StreamHeader::read_stored(&frame).map_err(damaged)?);
        let mut held = self.headers();
        if held.len() >= MOST_HELD {
            held.clear();
        }
        held.insert(tag, Arc::clone(&header));
        Ok(Some(header))
    }

    /// Returns the header of an envelope of version 2, from the head in its row.
    pub(super) fn header(
        &self,
        connection: &Connection,
        tag: StreamTag,
        head: &[u8],
    ) -> Result<EnvelopeHeader, StoreError> {
        let stream = self.get(connection, tag)?.ok_or_else(|| damaged(WireError::UnknownStream(tag)))?;
        EnvelopeHeader::of_window(head, &stream).map_err(damaged)
    }
}

/// Stores the header of a stream unless it is already stored.
pub(super) fn keep(connection: &Connection, header: &StreamHeader) -> Result<(), StoreError> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO streams (tag, device, header) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    insert.execute(params![header.id().tag().0, header.device(), header.write()])?;
    Ok(())
}

impl Store {
    /// Returns the headers of all streams that a device was ever registered with.
    pub(crate) fn streams_of(&self, device: &str) -> Result<Vec<StreamHeader>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached("SELECT header FROM streams WHERE device = ?1")?;
        let frames = query.query_map([device], |row| row.get::<_, Vec<u8>>(0))?;
        frames.map(|frame| StreamHeader::read_stored(&frame?).map_err(damaged)).collect()
    }

    /// Returns the header of a registered stream if it is in memory.
    pub(crate) fn held_stream(&self, tag: StreamTag) -> Option<Arc<StreamHeader>> {
        self.streams.held(tag)
    }

    /// Returns the header of a registered stream.
    pub(crate) fn stream(&self, tag: StreamTag) -> Result<Option<Arc<StreamHeader>>, StoreError> {
        match self.streams.held(tag) {
            Some(header) => Ok(Some(header)),
            None => self.streams.get(&self.connection(), tag),
        }
    }

    /// Reads a stored envelope of either version.
    pub(super) fn read_envelope(&self, bytes: &[u8]) -> Result<Result<Envelope, WireError>, StoreError> {
        Ok(match self.stream_of(bytes)? {
            Ok(Some(stream)) => Envelope::read_window(bytes, &stream),
            Ok(None) => Envelope::read(bytes, LARGEST_ENVELOPE),
            Err(error) => Err(error),
        })
    }

    /// Reads the signed part of a stored envelope of either version, also of a window of places.
    pub(super) fn read_signed(&self, bytes: &[u8]) -> Result<Result<SignedHeader, WireError>, StoreError> {
        Ok(match self.stream_of(bytes)? {
            Ok(Some(stream)) => SignedHeader::of_window(bytes, &stream),
            Ok(None) => SignedHeader::of_kept(bytes, LARGEST_ENVELOPE),
            Err(error) => Err(error),
        })
    }

    /// Returns the stream of a stored envelope; `None` for version 1.
    fn stream_of(&self, bytes: &[u8]) -> Result<Result<Option<Arc<StreamHeader>>, WireError>, StoreError> {
        let tag = match stream_tag(bytes) {
            Ok(Some(tag)) => tag,
            Ok(None) => return Ok(Ok(None)),
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.stream(tag)?.map(Some).ok_or(WireError::UnknownStream(tag)))
    }
}
