//! Provisional windows whose readings another window has: their bodies are dropped.
//!
//! A device sends pieces of a window that is still open, and at its end the whole window, which names them. Then the file
//! of a piece keeps its signed header alone: `"head" ‖ digest of the message 32 ‖ signed header without its stream`. Its row
//! and its leaf in the log stay. No envelope begins with these four bytes: they would be the length of its header.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{
    Digest, SignedHeader, StreamHeader, StreamTag, WireError, message_digest, stream_tag, window_description,
};

use super::bodies::Folder;
use super::error::damaged;
use super::sealed::{Rewriting, runs};
use super::{Store, StoreError, removal};
use crate::id::Id;
use sotto_segment::Kind;

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

/// Reads the message of a window of this stream.
pub(super) fn of_message(bytes: Vec<u8>, stream: &Arc<StreamHeader>) -> Result<StoredBytes, StoreError> {
    let Some((digest, bare)) = split(&bytes) else { return Ok(StoredBytes::Whole(bytes)) };
    Head::read(*digest, bare, stream).map(|head| StoredBytes::Head(Box::new(head)))
}

/// Reads the bytes of an envelope; `header` finds the header of a stream.
pub(super) fn parsed(
    bytes: Vec<u8>,
    header: impl FnOnce(StreamTag) -> Result<Option<Arc<StreamHeader>>, StoreError>,
) -> Result<StoredBytes, StoreError> {
    let Some((_, bare)) = split(&bytes) else { return Ok(StoredBytes::Whole(bytes)) };
    let tag = stream_tag(bare).map_err(damaged)?.ok_or_else(|| damaged(WireError::Magic))?;
    let stream = header(tag)?.ok_or_else(|| damaged(WireError::UnknownStream(tag)))?;
    of_message(bytes, &stream)
}

/// Returns the message in the row of an envelope; `None` where it is a file.
fn message(connection: &Connection, id: Id) -> Result<Option<Vec<u8>>, StoreError> {
    let mut query = connection.prepare_cached("SELECT message FROM envelopes WHERE id = ?1")?;
    Ok(query.query_row([id], |row| row.get(0)).optional()?.flatten())
}

impl Store {
    /// Reads the file of an envelope.
    pub(super) fn stored_bytes_of(&self, name: &str) -> Result<StoredBytes, StoreError> {
        parsed(self.bodies.read(Folder::Envelopes, name)?, |tag| self.stream(tag))
    }

    /// Reads an envelope from its row or its file.
    pub(super) fn envelope_bytes(&self, id: Id) -> Result<StoredBytes, StoreError> {
        let message = message(&self.connection(), id)?;
        match message {
            Some(bytes) => parsed(bytes, |tag| self.stream(tag)),
            None => self.stored_bytes_of(&id.to_string()),
        }
    }

    /// Like [`Store::envelope_bytes`], on a connection that is locked.
    pub(super) fn stored_bytes_on(&self, connection: &Connection, id: Id) -> Result<StoredBytes, StoreError> {
        let bytes = match message(connection, id)? {
            Some(bytes) => bytes,
            None => self.bodies.read(Folder::Envelopes, &id.to_string())?,
        };
        parsed(bytes, |tag| self.streams.get(connection, tag))
    }

    /// Reads the signed part of a stored window of a stream, whose message has this digest.
    pub(super) fn signed_window(
        &self,
        connection: &Connection,
        id: Id,
        digest: &Digest,
        stream: &Arc<StreamHeader>,
    ) -> Result<SignedHeader, StoreError> {
        match self.checked_bytes_on(connection, id, digest)? {
            StoredBytes::Whole(bytes) => SignedHeader::of_window(&bytes, stream).map_err(damaged),
            StoredBytes::Head(head) => Ok(head.signed),
        }
    }

    /// Replaces a window in a segment by its signed header.
    fn drop_sealed_body(&self, id: Id) -> Result<(), StoreError> {
        let _sealing = self.sealing();
        self.transaction(|transaction| {
            let (tag, number) = id.window();
            let Some(header) = self.streams.get(transaction, tag)? else { return Ok(()) };
            let Some(log) = runs::log_of(transaction, header.device(), header.stream())? else {
                return Ok(());
            };
            let run = runs::run_of(transaction, log, number)?;
            let Some(run) = run.filter(|run| run.kind == Kind::Whole && run.tag == tag) else {
                return Ok(());
            };
            let mut rewriting = Rewriting::default();
            rewriting.add(&run, number, Kind::Head);
            self.rewrite(transaction, &rewriting)
        })
    }

    /// Replaces a window by its signed header, if it is there and has a body.
    pub(super) fn drop_body(&self, name: &str) -> Result<(), StoreError> {
        let Some(id) = Id::parse(name) else { return Ok(()) };
        let row = "SELECT message IS NOT NULL FROM envelopes WHERE id = ?1";
        let in_row: Option<bool> = self.connection().query_row(row, [id], |row| row.get(0)).optional()?;
        let Some(in_row) = in_row else { return self.drop_sealed_body(id) };
        let bytes = match self.envelope_bytes(id) {
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
        let bytes = head.len() as i64;
        let changed = if in_row {
            let update = "UPDATE envelopes SET bytes = min(bytes, ?2), message = ?3 WHERE id = ?1";
            self.connection().execute(update, params![id, bytes, head])?
        } else {
            self.bodies.write(Folder::Envelopes, name, &head)?;
            let update = "UPDATE envelopes SET bytes = min(bytes, ?2) WHERE id = ?1";
            self.connection().execute(update, params![id, bytes])?
        };
        if changed > 0 {
            return Ok(());
        }
        // It was sealed meanwhile, or deleted.
        self.bodies.remove(Folder::Envelopes, name);
        self.drop_sealed_body(id)
    }

    /// Returns the error about the body of a window that is in no sum any more, if it was provisional.
    pub(crate) fn dropped(
        &self,
        stream: &StreamHeader,
        sequence: u64,
    ) -> Result<Option<StoreError>, StoreError> {
        let Ok(number) = i64::try_from(sequence) else { return Ok(None) };
        let connection = self.connection();
        let found = piece(self, &connection, stream, number)?;
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
    for sequence in replaces.windows.iter().filter_map(|number| i64::try_from(*number).ok()) {
        if let Some(id) = piece(store, connection, stream, sequence)? {
            removal::note_body(connection, &id.to_string())?;
        }
    }
    Ok(())
}

/// Returns the provisional window of a stream with this number.
fn piece(
    store: &Store,
    connection: &Connection,
    stream: &StreamHeader,
    sequence: i64,
) -> Result<Option<Id>, StoreError> {
    let mut find = connection.prepare_cached(
        "SELECT id, layout FROM envelopes WHERE device = ?1 AND stream = ?2 AND sequence = ?3 AND stream_tag = ?4",
    )?;
    let of = params![stream.device(), stream.stream(), sequence, stream.id().tag().0];
    let found = find.query_row(of, |row| Ok((row.get::<_, Id>(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
    let found = match found {
        None => {
            let sealed =
                store.sealed(connection, stream.device(), stream.stream(), sequence.cast_unsigned())?;
            let sealed = sealed.filter(|sealed| sealed.block.tag(sealed.row) == Some(stream.id().tag()));
            sealed
                .and_then(|sealed| Some((sealed.id()?, sealed.head())))
                .map(|(id, head)| Ok::<_, StoreError>((id, head?)))
        }
        Some(found) => Some(Ok(found)),
    };
    let Some((id, head)) = found.transpose()? else { return Ok(None) };
    let window = window_description(&head, stream).map_err(damaged)?;
    Ok(window.provisional.then_some(id))
}
