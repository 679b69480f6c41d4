//! Finds the earlier upload of an envelope, or one in conflict with it.

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_api::uploads::Receipt;
use sotto_wire::{STREAM_TAG_BYTES, SignedHeader, StreamTag, WireError};

use super::error::damaged;
use super::sealed::runs;
use super::upload::{Upload, mask_bytes};
use super::{Folder, Store, StoreError, TakenTick, forget, log, rolled, ticks};
use crate::id::Id;
use sotto_segment::Kind;

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
    /// It replaces the window of this number, of which a sum is kept in its place.
    RolledUp(u64),
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
    pub(super) fn is_refused(&self) -> bool {
        !matches!(self, Self::New(_) | Self::Duplicate(_))
    }
}

impl Store {
    /// Returns a number that grows with every change of the database.
    pub(crate) fn changes(&self) -> u64 {
        self.connection().total_changes()
    }

    /// Returns the earlier row of an upload: the upload itself, or one in conflict with it.
    pub(crate) fn earlier(&self, upload: &Upload) -> Result<Option<EarlierUpload>, StoreError> {
        let connection = self.connection();
        match self.earlier_in(&connection, upload)? {
            None => self.tick_taken(&connection, upload),
            earlier => Ok(earlier),
        }
    }

    pub(super) fn tick_taken(
        &self,
        connection: &Connection,
        upload: &Upload,
    ) -> Result<Option<EarlierUpload>, StoreError> {
        let signed = upload.envelope.signed_header();
        if let Some(number) = rolled::replaced(connection, signed)? {
            return Ok(Some(EarlierUpload::RolledUp(number)));
        }
        let taken = ticks::taken(self, connection, signed)?;
        Ok(taken.map(EarlierUpload::TickTaken))
    }

    pub(super) fn earlier_in(
        &self,
        connection: &Connection,
        upload: &Upload,
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
        if let Some(earlier) = self.earlier_sealed(connection, upload)? {
            return Ok(Some(earlier));
        }
        let mut by_sequence = connection.prepare_cached(
            "SELECT id, digest, stored_at FROM envelopes WHERE device = ?1 AND stream = ?2 AND sequence = ?3",
        )?;
        let sequence = header.sequence as i64;
        match by_sequence.query_row(params![header.device, header.stream, sequence], row).optional()? {
            Some(found) if self.is_same(connection, &found, upload)? => {
                // Restore a lost body before anybody gets a receipt for it.
                if found.digest == upload.digest && !upload.is_in_row() {
                    self.bodies.write_if_missing(Folder::Envelopes, &found.id.to_string(), &upload.bytes)?;
                }
                return receipt(found);
            }
            Some(_) => return Ok(Some(EarlierUpload::SequenceTaken)),
            None => {}
        }
        // Older versions accepted arbitrary idempotency keys. Those of windows in rows are their numbers.
        let mut by_key = connection.prepare_cached(
            "SELECT id, digest, stored_at FROM envelopes
             WHERE device = ?1 AND idempotency_key = ?2 AND message IS NULL",
        )?;
        match by_key.query_row(params![header.device, upload.idempotency_key], row).optional()? {
            Some(found) if found.digest == upload.digest => return receipt(found),
            Some(_) => return Ok(Some(EarlierUpload::KeyReused)),
            None => {}
        }
        let forgotten = forget::forgotten(connection, &header.device, &header.stream)?;
        Ok(forgotten.filter(|forgotten| header.ended_at < forgotten.until).map(|_| EarlierUpload::Forgotten))
    }

    /// Returns the window in a segment that is this upload, or in conflict with it: by its pads, or by its number.
    fn earlier_sealed(
        &self,
        connection: &Connection,
        upload: &Upload,
    ) -> Result<Option<EarlierUpload>, StoreError> {
        let (header, envelope) = (upload.envelope.header(), &upload.envelope);
        let Some(log) = runs::log_of(connection, &header.device, &header.stream)? else { return Ok(None) };
        let is_same = |other: &SignedHeader| other.window_digest() == envelope.window_digest();
        if let Some(mask) = envelope.mask().filter(|_| upload.is_in_row())
            && let Some(run) = runs::run_of_pad(connection, log, &mask)?
        {
            let number = run.number + (mask.sequence - run.pads.sequence);
            let other = self.sealed_in(connection, &run, number)?.signed()?;
            if !is_same(&other) {
                return Ok(Some(EarlierUpload::of_mask(&other, envelope.signed_header())));
            }
        }
        let Some(run) = runs::run_of(connection, log, header.sequence)? else { return Ok(None) };
        if run.kind == Kind::Deleted {
            return Ok(Some(EarlierUpload::Forgotten));
        }
        let other = self.sealed_in(connection, &run, header.sequence)?;
        let (Some(id), true) = (other.id(), is_same(&other.signed()?)) else {
            return Ok(Some(EarlierUpload::SequenceTaken));
        };
        let (stored_at, position) = (other.stored_at(), other.position().cast_signed());
        Ok(Some(EarlierUpload::Duplicate(upload.receipt(id, stored_at, position, true))))
    }

    /// Returns true if a stored envelope is this upload: the same bytes, or the same window under another signature,
    /// alone or in a group.
    fn is_same(&self, connection: &Connection, found: &Found, upload: &Upload) -> Result<bool, StoreError> {
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
        let stored = self.signed_window(connection, found.id, &found.digest, stream)?;
        Ok(stored.window_digest() == upload.envelope.window_digest())
    }

    /// Returns the refusal of an upload whose mask is that of a stored envelope.
    fn mask_repeated(
        &self,
        connection: &Connection,
        found: &Found,
        upload: &Upload,
    ) -> Result<EarlierUpload, StoreError> {
        if !upload.envelope.body().is_of_sums() {
            return Ok(EarlierUpload::MaskRepeated(None));
        }
        let mut by_id = connection.prepare_cached("SELECT stream_tag FROM envelopes WHERE id = ?1")?;
        let tag: Option<[u8; STREAM_TAG_BYTES]> = by_id.query_row([found.id], |row| row.get(0))?;
        let Some(tag) = tag.map(StreamTag) else { return Ok(EarlierUpload::MaskRepeated(None)) };
        let stream = self.streams.get(connection, tag)?;
        let stream = stream.ok_or_else(|| damaged(WireError::UnknownStream(tag)))?;
        let other = self.signed_window(connection, found.id, &found.digest, &stream)?;
        Ok(EarlierUpload::of_mask(&other, upload.envelope.signed_header()))
    }
}

/// Returns the conflict of an upload with those before it that are new.
pub(super) fn tick_taken_by_one(
    before: &[&Upload],
    found: &[Option<EarlierUpload>],
    upload: &Upload,
) -> Option<EarlierUpload> {
    let new = before.iter().zip(found).filter(|(_, found)| found.is_none());
    let (mut others, signed) = (new.map(|(other, _)| &other.envelope), upload.envelope.signed_header());
    let taken = others.find_map(|other| ticks::taken_by(other.signed_header(), signed));
    taken.map(EarlierUpload::TickTaken)
}
