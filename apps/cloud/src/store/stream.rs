//! Headers of streams: envelopes of version 2 cannot be read without them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{
    Envelope, EnvelopeHeader, LARGEST_ENVELOPE, StreamHeader, StreamTag, WireError, stream_tag,
};

use super::{Store, StoreError, fleet};

/// Headers that are held in memory.
const MOST_HELD: usize = 4096;

/// Headers that were read. They never change.
#[derive(Default)]
pub(super) struct Streams(Mutex<HashMap<StreamTag, Arc<StreamHeader>>>);

impl Streams {
    /// The header of this tag.
    pub(super) fn get(
        &self,
        connection: &Connection,
        tag: StreamTag,
    ) -> Result<Option<Arc<StreamHeader>>, StoreError> {
        let held = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(header) = held().get(&tag) {
            return Ok(Some(Arc::clone(header)));
        }
        let mut query = connection.prepare_cached("SELECT header FROM streams WHERE tag = ?1")?;
        let frame: Option<Vec<u8>> = query.query_row([tag.0], |row| row.get(0)).optional()?;
        let Some(frame) = frame else { return Ok(None) };
        let header = Arc::new(StreamHeader::read(&frame).map_err(damaged)?);
        let mut held = held();
        if held.len() >= MOST_HELD {
            held.clear();
        }
        held.insert(tag, Arc::clone(&header));
        Ok(Some(header))
    }

    /// The header of an envelope of version 2, from the head that its row has.
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

/// Keeps the header of a stream; one that is there already stays.
pub(super) fn keep(connection: &Connection, header: &StreamHeader) -> Result<(), StoreError> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO streams (tag, device, header) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    insert.execute(params![header.id().tag().0, header.device(), header.write()])?;
    fleet::keep(connection, header)
}

impl Store {
    /// The header of a stream that a device of the owner's was registered with.
    pub(crate) fn stream(&self, tag: StreamTag) -> Result<Option<Arc<StreamHeader>>, StoreError> {
        self.streams.get(&self.connection(), tag)
    }

    /// Reads an envelope that is stored, of either version.
    pub(super) fn read_envelope(&self, bytes: &[u8]) -> Result<Result<Envelope, WireError>, StoreError> {
        let tag = match stream_tag(bytes) {
            Ok(Some(tag)) => tag,
            Ok(None) => return Ok(Envelope::read(bytes, LARGEST_ENVELOPE)),
            Err(error) => return Ok(Err(error)),
        };
        Ok(match self.stream(tag)? {
            Some(stream) => Envelope::read_window(bytes, &stream),
            None => Err(WireError::UnknownStream(tag)),
        })
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn damaged(error: WireError) -> StoreError {
    StoreError::Damaged(error.to_string())
}
