//! Provisional windows whose readings another window has: their bodies are dropped.
//!
//! A device sends pieces of a window that is still open, and at its end the whole window, which names them. Then the file
//! of a piece keeps its signed header alone: `"head" ‖ digest of the message 32 ‖ signed header without its stream`. Its row
//! and its leaf in the log stay. No envelope begins with these four bytes: they would be the length of its header.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{
    Digest, SignedHeader, StreamHeader, WireError, message_digest, stream_tag, window_description,
};

use super::bodies::Folder;
use super::error::damaged;
use super::{Store, StoreError, removal, sums};
use crate::id::Id;

const MAGIC: &[u8] = b"head";

/// The bytes of a file of an envelope.
pub(super) enum StoredBytes {
    /// The envelope.
    Whole(Vec<u8>),
    /// What stays of a window whose body is dropped.
    Head(Box<Head>),
}

/// What stays of a window whose body is dropped.
pub(super) struct Head {
    /// The digest of the message that was stored.
    pub(super) digest: Digest,
    pub(super) signed: SignedHeader,
}

impl Head {
    fn read(digest: Digest, bare: &[u8], stream: &Arc<StreamHeader>) -> Result<Self, StoreError> {
        let signed = SignedHeader::read_bare(bare, stream).map_err(damaged)?;
        Ok(Self { digest, signed })
    }

    fn write(&self) -> Vec<u8> {
        [MAGIC, &self.digest, &self.signed.write_bare()].concat()
    }

    /// Returns the length of its file.
    pub(super) fn bytes(&self) -> u64 {
        self.write().len() as u64
    }

    /// Returns the error about its body.
    pub(super) fn dropped(&self) -> StoreError {
        let header = self.signed.header();
        StoreError::Dropped { stream: header.stream.clone(), sequence: header.sequence }
    }
}

/// Returns the digest and the signed header in a file without a body.
fn split(bytes: &[u8]) -> Option<(&Digest, &[u8])> {
    bytes.strip_prefix(MAGIC)?.split_first_chunk()
}

impl Store {
    /// Reads the file of an envelope.
    pub(super) fn stored_bytes_of(&self, name: &str) -> Result<StoredBytes, StoreError> {
        let bytes = self.bodies.read(Folder::Envelopes, name)?;
        let Some((digest, bare)) = split(&bytes) else { return Ok(StoredBytes::Whole(bytes)) };
        let tag = stream_tag(bare).map_err(damaged)?.ok_or_else(|| damaged(WireError::Magic))?;
        let stream = self.stream(tag)?.ok_or_else(|| damaged(WireError::UnknownStream(tag)))?;
        Head::read(*digest, bare, &stream).map(|head| StoredBytes::Head(Box::new(head)))
    }

    /// Reads the signed part of a stored window of a stream, whose message has this digest. Locks nothing.
    pub(super) fn signed_window(
        &self,
        id: Id,
        digest: &Digest,
        stream: &Arc<StreamHeader>,
    ) -> Result<SignedHeader, StoreError> {
        let bytes = self.bodies.read(Folder::Envelopes, &id.to_string())?;
        let (found, signed) = match split(&bytes) {
            Some((digest, bare)) => (*digest, Head::read(*digest, bare, stream)?.signed),
            None => {
                let found = message_digest(&bytes).map_err(damaged)?;
                (found, SignedHeader::of_window(&bytes, stream).map_err(damaged)?)
            }
        };
        if found != *digest {
            return Err(StoreError::Damaged(format!("envelopes/{id} is not the envelope that was stored")));
        }
        Ok(signed)
    }

    /// Replaces the file of a window by its signed header, if it is there and has a body.
    pub(super) fn drop_body(&self, name: &str) -> Result<(), StoreError> {
        let bytes = match self.stored_bytes_of(name) {
            Ok(StoredBytes::Whole(bytes)) => bytes,
            Ok(StoredBytes::Head(_)) => return Ok(()),
            Err(error @ StoreError::Files { .. }) => return Err(error),
            Err(error) => {
                tracing::error!(name, %error, "the body of this window cannot be dropped");
                return Ok(());
            }
        };
        let digest = message_digest(&bytes).map_err(damaged)?;
        let signed = self.read_signed(&bytes)?.map_err(damaged)?;
        let head = Head { digest, signed }.write();
        self.bodies.write(Folder::Envelopes, name, &head)?;
        let update = "UPDATE envelopes SET bytes = min(bytes, ?2) WHERE id = ?1";
        self.connection().execute(update, params![Id::parse(name), head.len() as i64])?;
        Ok(())
    }

    /// Returns the error about the body of a window that is in no sum any more, if it was provisional.
    pub(crate) fn dropped(
        &self,
        stream: &StreamHeader,
        sequence: u64,
    ) -> Result<Option<StoreError>, StoreError> {
        let Ok(number) = i64::try_from(sequence) else { return Ok(None) };
        let found = piece(&self.connection(), stream, number)?;
        Ok(found.map(|_| StoreError::Dropped { stream: stream.stream().to_owned(), sequence }))
    }
}

/// Notes that the bodies of provisional windows are to be dropped which a new window replaces for all channels, and takes
/// them out of sums.
pub(super) fn drop_replaced(
    store: &Store,
    connection: &Connection,
    signed: &SignedHeader,
) -> Result<(), StoreError> {
    if !signed.replaces() {
        return Ok(());
    }
    let (Some(stream), Some(description)) = (signed.stream(), signed.description()) else { return Ok(()) };
    let Some(replaces) = description.replaces else { return Ok(()) };
    if replaces.channels.len() < description.layout.channels().len() {
        return Ok(());
    }
    let mut of_sums = Vec::new();
    for sequence in replaces.windows.iter().filter_map(|number| i64::try_from(*number).ok()) {
        let Some(id) = piece(connection, stream, sequence)? else { continue };
        removal::note_body(connection, &id.to_string())?;
        of_sums.push((stream.id().tag().0, sequence));
    }
    if stream.is_of_sums() {
        sums::remove(connection, &store.streams, &of_sums)?;
    }
    Ok(())
}

/// Returns the provisional window of a stream with this number.
fn piece(connection: &Connection, stream: &StreamHeader, sequence: i64) -> Result<Option<Id>, StoreError> {
    let mut find = connection.prepare_cached(
        "SELECT id, layout FROM envelopes WHERE device = ?1 AND stream = ?2 AND sequence = ?3 AND stream_tag = ?4",
    )?;
    let of = params![stream.device(), stream.stream(), sequence, stream.id().tag().0];
    let found = find.query_row(of, |row| Ok((row.get::<_, Id>(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
    let Some((id, head)) = found else { return Ok(None) };
    let window = window_description(&head, stream).map_err(damaged)?;
    Ok(window.provisional.then_some(id))
}
