//! Stores each envelope once.

use std::sync::atomic::Ordering;

use rusqlite::{Connection, params};
use sotto_api::uploads::Receipt;
use sotto_wire::{Envelope, MaskName, SignedHeader};

use super::error::damaged;
use super::{Device, Store, StoreError, device, log, now};
use crate::id::Id;

/// An upload that passed all checks.
pub(crate) struct Upload {
    pub(crate) envelope: Envelope,
    pub(crate) idempotency_key: String,
    /// The envelope as stored: as uploaded, or as a member of the uploaded group.
    pub(crate) bytes: Vec<u8>,
    /// Digest of `bytes`: equal digests mean the same upload. The same window under another signature has a different
    /// one.
    pub(crate) digest: [u8; 32],
    /// The digest in the receipt: of the envelope as uploaded, or of the window in a group.
    pub(crate) receipt_digest: [u8; 32],
}

impl Upload {
    /// Returns the bytes that lists, sums and quotas count: those uploaded, without the proof that is stored with a
    /// member of a group.
    pub(crate) fn counted_bytes(&self) -> u64 {
        let came_alone = self.receipt_digest == self.digest;
        self.envelope.member_bytes().filter(|_| !came_alone).unwrap_or(self.bytes.len()) as u64
    }

    /// Returns true if its bytes are in its row, not in a file: windows of sums, until a segment has them.
    pub(super) fn is_in_row(&self) -> bool {
        self.envelope.body().is_of_sums()
    }

    /// Returns its id. That of a window of sums is made of its stream and its number, so that it can be found in a segment.
    pub(super) fn new_id(&self) -> Result<Id, StoreError> {
        match self.envelope.window().filter(|_| self.is_in_row()) {
            Some((stream, _)) => Ok(Id::of_window(stream.id().tag(), self.envelope.header().sequence)),
            None => Ok(Id::random()?),
        }
    }

    fn row(&self) -> NewRow<'_> {
        NewRow {
            signed: self.envelope.signed_header(),
            idempotency_key: &self.idempotency_key,
            digest: self.digest,
            bytes: self.counted_bytes(),
            message: self.is_in_row().then_some(&self.bytes),
        }
    }

    /// Returns an unsigned receipt.
    pub(super) fn receipt(&self, id: Id, stored_at: i64, position: i64, duplicate: bool) -> Receipt {
        let (id, digest) = (id.to_string(), hex::encode(self.receipt_digest));
        let position = position.unsigned_abs();
        Receipt { id, digest, stored_at, duplicate, position, signature: String::new() }
    }
}

/// Returns true if the device of an upload still has the key of the upload's signature and of its ciphertext.
pub(super) fn still_accepted(device: Option<&Device>, upload: &Upload, verifying_key: &[u8; 32]) -> bool {
    let header = upload.envelope.header();
    device.is_some_and(|device| {
        !device.revoked
            && device.verifying_key == *verifying_key
            && device.keys.contains(&(header.parameters, header.key))
    })
}

/// Returns true if a device, revoked or not, is registered with the key of a window, and was ever registered with its
/// signature.
pub(super) fn was_registered(connection: &Connection, signed: &SignedHeader) -> Result<bool, StoreError> {
    let header = signed.header();
    let device = device::device(connection, &header.device)?;
    if !device.is_some_and(|device| device.keys.contains(&(header.parameters, header.key))) {
        return Ok(false);
    }
    Ok(device::is_signed(signed, &device::verifying_keys(connection, &header.device)?))
}

impl Store {
    /// Stores windows without any check, for benchmarks.
    pub(crate) fn insert_all(&self, mut windows: impl Iterator<Item = Envelope>) -> Result<(), StoreError> {
        loop {
            let some: Vec<Envelope> = windows.by_ref().take(4096).collect();
            if some.is_empty() {
                return Ok(());
            }
            self.transaction(|transaction| {
                for envelope in some {
                    let (idempotency_key, bytes) = (envelope.header().upload_key(), envelope.write());
                    let digest = sotto_wire::message_digest(&bytes).map_err(damaged)?;
                    let upload = Upload { envelope, idempotency_key, bytes, digest, receipt_digest: digest };
                    let header = upload.envelope.header();
                    let position = log::next_position(transaction, &header.device, &header.stream)?;
                    insert(self, transaction, upload.new_id()?, &upload, position)?;
                }
                Ok(())
            })?;
            self.seal(super::Sealing::IfMany)?;
        }
    }
}

/// Inserts the row of an envelope and appends it to the log of its stream.
pub(super) fn insert(
    store: &Store,
    connection: &Connection,
    id: Id,
    upload: &Upload,
    position: i64,
) -> Result<Receipt, StoreError> {
    let stored_at = insert_row(connection, id, &upload.row())?;
    if upload.is_in_row() {
        store.waiting_windows.fetch_add(1, Ordering::Relaxed);
        store.waiting_bytes.fetch_add(upload.bytes.len() as u64, Ordering::Relaxed);
    }
    let position = log::append_at(connection, id, upload.envelope.signed_header(), position)?;
    Ok(upload.receipt(id, stored_at, position, false))
}

/// Rebuilds the row of an envelope. It is appended to its log later, together with all others that are in none, in the
/// order of their sequence numbers.
pub(super) fn insert_again(
    connection: &Connection,
    id: Id,
    upload: &Upload,
    in_row: bool,
) -> Result<(), StoreError> {
    let row = upload.row();
    // Otherwise its bytes are in a file.
    let message = row.message.filter(|_| in_row);
    insert_row(connection, id, &NewRow { message, ..row })?;
    Ok(())
}

/// The facts in the row of an envelope.
pub(super) struct NewRow<'r> {
    pub(super) signed: &'r SignedHeader,
    pub(super) idempotency_key: &'r str,
    /// The digest of the message.
    pub(super) digest: [u8; 32],
    /// The bytes that lists, sums and quotas count.
    pub(super) bytes: u64,
    /// The message, unless a file has it.
    pub(super) message: Option<&'r Vec<u8>>,
}

/// Inserts the row of an envelope; returns the time of storage.
pub(super) fn insert_row(connection: &Connection, id: Id, row: &NewRow<'_>) -> Result<i64, StoreError> {
    let (header, stored_at) = (row.signed.header(), now());
    let (layout, tag) = match row.signed.window_head() {
        Some((stream, head)) => (head, Some(stream.id().tag().0)),
        None => (header.layout.as_slice(), None),
    };
    let mut insert = connection.prepare_cached(
        "INSERT INTO envelopes (id, digest, idempotency_key, device, stream, sequence, parameter_id, key_id,
         started_at, ended_at, readings, layout, bytes, stored_at, stream_tag, mask, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    insert.execute(params![
        id,
        row.digest,
        // That of a window of sums is made of columns.
        if row.message.is_none() { row.idempotency_key } else { "" },
        header.device,
        header.stream,
        header.sequence as i64,
        header.parameters.0,
        header.key.0,
        header.started_at,
        header.ended_at,
        header.readings,
        layout,
        row.bytes as i64,
        stored_at,
        tag,
        row.signed.mask().map(mask_bytes),
        row.message
    ])?;
    Ok(stored_at)
}

pub(super) fn mask_bytes(mask: MaskName) -> Vec<u8> {
    [&mask.salt[..], &mask.sequence.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests;
