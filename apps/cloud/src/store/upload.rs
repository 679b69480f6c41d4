//! Stores each envelope once.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_api::uploads::Receipt;
use sotto_wire::{Envelope, MaskName, STREAM_TAG_BYTES, SignedHeader, StreamTag, WireError};

use super::error::damaged;
use super::{Folder, Store, StoreError, TakenTick, device, dropped, forget, log, now, sums, ticks};
use crate::id::Id;

/// An upload that passed all checks.
pub(crate) struct Upload<'u> {
    pub(crate) envelope: &'u Envelope,
    pub(crate) idempotency_key: &'u str,
    /// The envelope as stored: as uploaded, or as a member of the uploaded group.
    pub(crate) bytes: Cow<'u, [u8]>,
    /// Digest of `bytes`: equal digests mean the same upload. The same window under another signature has a different
    /// one.
    pub(crate) digest: [u8; 32],
    /// The digest in the receipt: of the envelope as uploaded, or of the window in a group.
    pub(crate) receipt_digest: [u8; 32],
}

impl Upload<'_> {
    /// Returns the bytes that lists, sums and quotas count: those uploaded, without the proof that is stored with a
    /// member of a group.
    pub(crate) fn counted_bytes(&self) -> u64 {
        let came_alone = self.receipt_digest == self.digest;
        self.envelope.member_bytes().filter(|_| !came_alone).unwrap_or(self.bytes.len()) as u64
    }

    fn row(&self) -> NewRow<'_> {
        NewRow {
            signed: self.envelope.signed_header(),
            idempotency_key: self.idempotency_key,
            digest: self.digest,
            bytes: self.counted_bytes(),
        }
    }

    /// Returns an unsigned receipt.
    fn receipt(&self, id: Id, stored_at: i64, position: i64, duplicate: bool) -> Receipt {
        let (id, digest) = (id.to_string(), hex::encode(self.receipt_digest));
        let position = position.unsigned_abs();
        Receipt { id, digest, stored_at, duplicate, position, signature: String::new() }
    }
}

/// Outcome of an upload.
pub(crate) enum EarlierUpload {
    New(Receipt),
    Duplicate(Receipt),
    /// The device sent another body with this idempotency key.
    KeyReused,
    /// The device sent another body with this stream and sequence number.
    SequenceTaken,
    /// Another window of the stream has a reading of a channel at a tick of this one.
    TickTaken(TakenTick),
    /// Another window has the same mask: the two would reveal their difference. For streams of sums, the signed part of
    /// that window.
    MaskRepeated(Option<Box<SignedHeader>>),
    /// The same window of sums, under the same pads, is stored with this number.
    StoredUnder(u64),
    /// The owner has deleted windows of this time.
    Forgotten,
    /// The device or the key was withdrawn while the upload was checked.
    NoLongerAccepted,
}

/// A row that may be this upload.
struct Found {
    id: Id,
    digest: [u8; 32],
    stored_at: i64,
}

impl EarlierUpload {
    /// Returns the refusal of a window whose mask is that of another one.
    pub(crate) fn of_mask(other: &SignedHeader, upload: &SignedHeader) -> Self {
        let of_sums = upload.stream().is_some_and(|stream| stream.is_of_sums());
        if !of_sums || other.stream() != upload.stream() {
            return Self::MaskRepeated(None);
        }
        if other.is_same_encryption(upload) {
            return Self::StoredUnder(other.header().sequence);
        }
        Self::MaskRepeated(Some(Box::new(other.clone())))
    }

    /// Returns true if the upload is not stored, neither now nor before.
    fn is_refused(&self) -> bool {
        !matches!(self, Self::New(_) | Self::Duplicate(_))
    }
}

impl Store {
    /// Returns a number that grows with every change of the database.
    pub(crate) fn changes(&self) -> u64 {
        self.connection().total_changes()
    }

    /// Returns the earlier row of an upload: the upload itself, or one in conflict with it.
    pub(crate) fn earlier(&self, upload: &Upload<'_>) -> Result<Option<EarlierUpload>, StoreError> {
        let connection = self.connection();
        match self.earlier_in(&connection, upload)? {
            None => self.tick_taken(&connection, upload),
            earlier => Ok(earlier),
        }
    }

    fn tick_taken(
        &self,
        connection: &Connection,
        upload: &Upload<'_>,
    ) -> Result<Option<EarlierUpload>, StoreError> {
        let taken = ticks::taken(connection, &self.streams, upload.envelope.signed_header())?;
        Ok(taken.map(EarlierUpload::TickTaken))
    }

    /// Writes the bodies durably, then commits their rows in one transaction. `verifying_key` is the key of their
    /// signatures. Returns the outcomes in the order of the uploads. If an upload is refused, returns its index and the
    /// refusal, and nothing is stored. `checked_at` is the number of changes at which [`Store::earlier`] found none of them.
    pub(crate) fn keep_envelopes(
        &self,
        uploads: &[&Upload<'_>],
        verifying_key: &[u8; 32],
        checked_at: u64,
    ) -> Result<Result<Vec<EarlierUpload>, (usize, EarlierUpload)>, StoreError> {
        let ids = uploads.iter().map(|_| Id::random()).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<String> = ids.iter().map(Id::to_string).collect();
        let files = names.iter().map(String::as_str).zip(uploads.iter().map(|upload| upload.bytes.as_ref()));
        let kept = self.bodies.write_all(Folder::Envelopes, files).and_then(|()| {
            self.transaction(|transaction| {
                let is_changed = transaction.total_changes() != checked_at;
                let mut found = Vec::with_capacity(uploads.len());
                for (index, upload) in uploads.iter().enumerate() {
                    let earlier = match self.earlier_in(transaction, upload)? {
                        None if !still_accepted(transaction, upload, verifying_key)? => {
                            Some(EarlierUpload::NoLongerAccepted)
                        }
                        None => match tick_taken_by_one(&uploads[..index], &found, upload) {
                            None if is_changed => self.tick_taken(transaction, upload)?,
                            taken => taken,
                        },
                        earlier => earlier,
                    };
                    match earlier {
                        Some(refused) if refused.is_refused() => return Ok(Err((index, refused))),
                        earlier => found.push(earlier),
                    }
                }
                let insert =
                    |((id, upload), earlier): ((&Id, &&Upload<'_>), Option<EarlierUpload>)| match earlier {
                        Some(earlier) => Ok(earlier),
                        None => insert(transaction, *id, upload).map(EarlierUpload::New),
                    };
                let kept = ids.iter().zip(uploads).zip(found).map(insert);
                let kept = kept.collect::<Result<Vec<_>, _>>()?;
                for upload in uploads {
                    dropped::drop_replaced(self, transaction, upload.envelope.signed_header())?;
                }
                Ok(Ok(kept))
            })
        });
        let is_kept =
            |at: usize| matches!(&kept, Ok(Ok(kept)) if matches!(kept.get(at), Some(EarlierUpload::New(_))));
        for (at, name) in names.iter().enumerate() {
            if !is_kept(at) {
                self.bodies.remove(Folder::Envelopes, name);
            }
        }
        if matches!(kept, Ok(Ok(_)))
            && uploads.iter().any(|upload| upload.envelope.replaces())
            && let Err(error) = self.finish_removals()
        {
            // The window is stored. The next one, or the next start, drops them.
            tracing::error!(%error, "bodies that are replaced cannot be dropped");
        }
        kept
    }

    pub(super) fn earlier_in(
        &self,
        connection: &Connection,
        upload: &Upload<'_>,
    ) -> Result<Option<EarlierUpload>, StoreError> {
        let header = upload.envelope.header();
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Found { id: row.get(0)?, digest: row.get(1)?, stored_at: row.get(2)? })
        };
        let receipt = |Found { id, stored_at, .. }: Found| {
            let position = log::position(connection, id, upload.envelope.signed_header())?;
            Ok(Some(EarlierUpload::Duplicate(upload.receipt(id, stored_at, position, true))))
        };
        if let Some(mask) = upload.envelope.mask().map(mask_bytes) {
            let mut by_mask = connection.prepare_cached(
                "SELECT id, digest, stored_at FROM envelopes WHERE key_id = ?1 AND stream = ?2 AND mask = ?3",
            )?;
            let found = by_mask.query_row(params![header.key.0, header.stream, mask], row).optional()?;
            if let Some(found) = found
                && !self.is_same(connection, &found, upload)?
            {
                return self.mask_repeated(connection, &found, upload).map(Some);
            }
        }
        let mut by_sequence = connection.prepare_cached(
            "SELECT id, digest, stored_at FROM envelopes WHERE device = ?1 AND stream = ?2 AND sequence = ?3",
        )?;
        let sequence = header.sequence as i64;
        match by_sequence.query_row(params![header.device, header.stream, sequence], row).optional()? {
            Some(found) if self.is_same(connection, &found, upload)? => {
                // Restore a lost body before anybody gets a receipt for it.
                if found.digest == upload.digest {
                    self.bodies.write_if_missing(Folder::Envelopes, &found.id.to_string(), &upload.bytes)?;
                }
                return receipt(found);
            }
            Some(_) => return Ok(Some(EarlierUpload::SequenceTaken)),
            None => {}
        }
        // Older versions accepted arbitrary idempotency keys.
        let mut by_key = connection.prepare_cached(
            "SELECT id, digest, stored_at FROM envelopes WHERE device = ?1 AND idempotency_key = ?2",
        )?;
        match by_key.query_row(params![header.device, upload.idempotency_key], row).optional()? {
            Some(found) if found.digest == upload.digest => return receipt(found),
            Some(_) => return Ok(Some(EarlierUpload::KeyReused)),
            None => {}
        }
        let forgotten = forget::forgotten(connection, &header.device, &header.stream)?;
        Ok(forgotten.filter(|forgotten| header.ended_at < forgotten.until).map(|_| EarlierUpload::Forgotten))
    }

    /// Returns true if a stored envelope is this upload: the same bytes, or the same window under another signature,
    /// alone or in a group.
    fn is_same(
        &self,
        connection: &Connection,
        found: &Found,
        upload: &Upload<'_>,
    ) -> Result<bool, StoreError> {
        if found.digest == upload.digest {
            return Ok(true);
        }
        let Some((stream, head)) = upload.envelope.window() else { return Ok(false) };
        let mut by_id =
            connection.prepare_cached("SELECT layout, stream_tag FROM envelopes WHERE id = ?1")?;
        let (layout, tag): (Vec<u8>, Option<[u8; STREAM_TAG_BYTES]>) =
            by_id.query_row([found.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if (layout.as_slice(), tag) != (head, Some(stream.id().tag().0)) {
            return Ok(false);
        }
        let stored = self.signed_window(found.id, &found.digest, stream)?;
        Ok(stored.window_digest() == upload.envelope.window_digest())
    }

    /// Returns the refusal of an upload whose mask is that of a stored envelope.
    fn mask_repeated(
        &self,
        connection: &Connection,
        found: &Found,
        upload: &Upload<'_>,
    ) -> Result<EarlierUpload, StoreError> {
        if !upload.envelope.body().is_of_sums() {
            return Ok(EarlierUpload::MaskRepeated(None));
        }
        let mut by_id = connection.prepare_cached("SELECT stream_tag FROM envelopes WHERE id = ?1")?;
        let tag: Option<[u8; STREAM_TAG_BYTES]> = by_id.query_row([found.id], |row| row.get(0))?;
        let Some(tag) = tag.map(StreamTag) else { return Ok(EarlierUpload::MaskRepeated(None)) };
        let stream = self.streams.get(connection, tag)?;
        let stream = stream.ok_or_else(|| damaged(WireError::UnknownStream(tag)))?;
        let other = self.signed_window(found.id, &found.digest, &stream)?;
        Ok(EarlierUpload::of_mask(&other, upload.envelope.signed_header()))
    }
}

/// Returns the conflict of an upload with those before it that are new.
fn tick_taken_by_one(
    before: &[&Upload<'_>],
    found: &[Option<EarlierUpload>],
    upload: &Upload<'_>,
) -> Option<EarlierUpload> {
    let new = before.iter().zip(found).filter(|(_, found)| found.is_none());
    let (mut others, signed) = (new.map(|(other, _)| other.envelope), upload.envelope.signed_header());
    let taken = others.find_map(|other| ticks::taken_by(other.signed_header(), signed));
    taken.map(EarlierUpload::TickTaken)
}

/// Returns true if the device of an upload still has the key of the upload's signature and of its ciphertext.
fn still_accepted(
    connection: &Connection,
    upload: &Upload<'_>,
    verifying_key: &[u8; 32],
) -> Result<bool, StoreError> {
    let header = upload.envelope.header();
    let device = device::device(connection, &header.device)?;
    Ok(device.is_some_and(|device| {
        !device.revoked
            && device.verifying_key == *verifying_key
            && device.keys.contains(&(header.parameters, header.key))
    }))
}

/// Returns true if a device, revoked or not, is registered with the key of a window, and was ever registered with its
/// signature.
pub(super) fn was_registered(connection: &Connection, signed: &SignedHeader) -> Result<bool, StoreError> {
    let header = signed.header();
    let device = device::device(connection, &header.device)?;
    if !device.is_some_and(|device| device.keys.contains(&(header.parameters, header.key))) {
        return Ok(false);
    }
    let mut query =
        connection.prepare_cached("SELECT verifying_key FROM verifying_keys WHERE device = ?1")?;
    let keys = query.query_map([&header.device], |row| row.get::<_, [u8; 32]>(0))?;
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    Ok(keys.iter().any(|key| signed.verify(key).is_ok()))
}

/// Inserts the row of an envelope and appends it to the log of its stream.
fn insert(connection: &Connection, id: Id, upload: &Upload<'_>) -> Result<Receipt, StoreError> {
    let stored_at = insert_row(connection, id, &upload.row())?;
    sums::insert(connection, upload.envelope)?;
    let position = log::append(connection, id, upload.envelope.signed_header())?;
    Ok(upload.receipt(id, stored_at, position, false))
}

/// Rebuilds the row of an envelope. It is appended to its log later, together with all others that are in none, in the
/// order of their sequence numbers.
pub(super) fn insert_again(connection: &Connection, id: Id, upload: &Upload<'_>) -> Result<(), StoreError> {
    insert_row(connection, id, &upload.row())?;
    sums::insert(connection, upload.envelope)
}

/// The facts in the row of an envelope.
pub(super) struct NewRow<'r> {
    pub(super) signed: &'r SignedHeader,
    pub(super) idempotency_key: &'r str,
    /// The digest of the message.
    pub(super) digest: [u8; 32],
    /// The bytes that lists, sums and quotas count.
    pub(super) bytes: u64,
}

/// Inserts the row of an envelope; returns the time of storage.
pub(super) fn insert_row(connection: &Connection, id: Id, row: &NewRow<'_>) -> Result<i64, StoreError> {
    let (header, stored_at) = (row.signed.header(), now());
    let (layout, tag) = match row.signed.window_head() {
        Some((stream, head)) => (head, Some(stream.id().tag().0)),
        None => (header.layout.as_slice(), None),
    };
    connection.execute(
        "INSERT INTO envelopes (id, digest, idempotency_key, device, stream, sequence, parameter_id, key_id,
         started_at, ended_at, readings, layout, bytes, stored_at, stream_tag, mask)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        params![
            id,
            row.digest,
            row.idempotency_key,
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
            row.signed.mask().map(mask_bytes)
        ],
    )?;
    Ok(stored_at)
}

fn mask_bytes(mask: MaskName) -> Vec<u8> {
    [&mask.salt[..], &mask.sequence.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests;
