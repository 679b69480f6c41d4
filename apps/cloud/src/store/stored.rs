//! Stored envelopes as their devices signed them.

use rusqlite::{Connection, Row};
use serde_json::Value;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{Digest, Envelope, SignedHeader, message_digest, stream_tag};

use super::dropped::{self, StoredBytes};
use super::error::damaged;
use super::sealed::Sealed;
use super::{Store, StoreError};
use crate::id::Id;

/// A stored envelope, by its rows.
#[derive(Clone, Debug)]
pub(crate) struct StoredRow {
    pub(crate) id: Id,
    pub(crate) parameters: ParameterId,
    pub(crate) key: KeyId,
    place: Place,
}

/// Where an envelope is.
#[derive(Clone, Debug)]
enum Place {
    /// It has a row.
    Row {
        /// The digest of its bytes.
        digest: Digest,
        /// Its leaf in the log of its stream.
        leaf: Option<Digest>,
    },
    Segment(Sealed),
}

impl StoredRow {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(id) = row.get(1)? else { return Ok(None) };
        let (parameters, key) = (ParameterId(row.get(2)?), KeyId(row.get(3)?));
        let place = Place::Row { digest: row.get(4)?, leaf: row.get(5)? };
        Ok(Some(Self { id, parameters, key, place }))
    }

    /// Returns the row of a window in a segment; None if it is deleted.
    pub(super) fn of_sealed(sealed: Sealed) -> Option<Self> {
        let (id, header) = (sealed.id()?, sealed.stream.as_ref()?);
        let (parameters, key) = (header.parameters(), header.key());
        Some(Self { id, parameters, key, place: Place::Segment(sealed) })
    }

    /// Returns the leaf of the envelope in its log.
    pub(crate) fn leaf(&self) -> Result<Digest, StoreError> {
        match &self.place {
            Place::Row { leaf, .. } => {
                leaf.ok_or_else(|| StoreError::Damaged(format!("envelope {} is in no log", self.id)))
            }
            Place::Segment(sealed) => sealed.leaf(),
        }
    }
}

impl Store {
    /// Looks up envelopes, in this order, with one query; `None` for each that is not stored.
    pub(crate) fn find(&self, ids: &[Id]) -> Result<Vec<Option<StoredRow>>, StoreError> {
        let wanted: Value = ids.iter().map(Id::to_string).collect();
        let mut found = vec![None; ids.len()];
        let connection = self.connection();
        let mut select = connection.prepare_cached(
            "SELECT wanted.key, envelopes.id, parameter_id, key_id, digest, leaf
             FROM json_each(?1) AS wanted
             LEFT JOIN envelopes ON envelopes.id = unhex(wanted.value)
             LEFT JOIN log ON log.envelope = envelopes.id",
        )?;
        let mut rows = select.query([wanted.to_string()])?;
        while let Some(row) = rows.next()? {
            found[row.get::<_, u32>(0)? as usize] = StoredRow::of_row(row)?;
        }
        for (found, id) in found.iter_mut().zip(ids).filter(|(found, _)| found.is_none()) {
            *found = self.sealed_of(&connection, *id)?.and_then(StoredRow::of_sealed);
        }
        Ok(found)
    }

    /// Looks up envelopes that other rows name, in this order, with one query.
    pub(crate) fn find_all(&self, ids: &[Id]) -> Result<Vec<StoredRow>, StoreError> {
        let missing = |id: &Id| StoreError::Damaged(format!("envelope {id} has no row"));
        let found = self.find(ids)?.into_iter().zip(ids);
        found.map(|(found, id)| found.ok_or_else(|| missing(id))).collect()
    }

    /// Reads a stored envelope. Checks its bytes against the digest in its row, because envelopes of version 2 contain
    /// no digest.
    pub(crate) fn read(&self, found: &StoredRow) -> Result<Envelope, StoreError> {
        let digest = match &found.place {
            Place::Segment(sealed) => return sealed.envelope(),
            Place::Row { digest, .. } => digest,
        };
        match self.checked_bytes(found.id, digest)? {
            StoredBytes::Whole(bytes) => self.read_envelope(&bytes)?.map_err(damaged),
            StoredBytes::Head(head) => Err(head.dropped()),
        }
    }

    /// Reads an envelope whose message has this digest.
    pub(super) fn checked_bytes(&self, id: Id, digest: &Digest) -> Result<StoredBytes, StoreError> {
        checked(id, digest, self.envelope_bytes(id)?)
    }

    /// Like [`Store::checked_bytes`], on a connection that is locked.
    pub(super) fn checked_bytes_on(
        &self,
        connection: &Connection,
        id: Id,
        digest: &Digest,
    ) -> Result<StoredBytes, StoreError> {
        checked(id, digest, self.stored_bytes_on(connection, id)?)
    }

    /// Looks up a stored envelope and reads it.
    pub(crate) fn stored(&self, id: Id) -> Result<Envelope, StoreError> {
        self.read(&self.row(id)?)
    }

    /// Looks up a stored envelope and reads its signed part, also of a window of places.
    pub(crate) fn signed(&self, id: Id) -> Result<SignedHeader, StoreError> {
        self.signed_of(&self.row(id)?)
    }

    /// Reads the signed part of a stored envelope, also of a window of places.
    pub(crate) fn signed_of(&self, found: &StoredRow) -> Result<SignedHeader, StoreError> {
        let digest = match &found.place {
            Place::Segment(sealed) => return sealed.signed(),
            Place::Row { digest, .. } => digest,
        };
        match self.checked_bytes(found.id, digest)? {
            StoredBytes::Whole(bytes) => self.read_signed(&bytes)?.map_err(damaged),
            StoredBytes::Head(head) => Ok(head.signed),
        }
    }

    /// Returns the signed header of a window of version 2 from the message in its row. Returns None if it cannot be read, or its
    /// digest is another one: [`Store::signed`] says why.
    pub(super) fn signed_in_row(
        &self,
        connection: &Connection,
        id: Id,
        digest: &Digest,
        message: Vec<u8>,
    ) -> Option<SignedHeader> {
        let stream = |tag| self.streams.get(connection, tag);
        match checked(id, digest, dropped::parsed(message, stream).ok()?).ok()? {
            StoredBytes::Whole(bytes) => {
                let tag = stream_tag(&bytes).ok().flatten()?;
                SignedHeader::of_window(&bytes, &stream(tag).ok().flatten()?).ok()
            }
            StoredBytes::Head(head) => Some(head.signed),
        }
    }

    fn row(&self, id: Id) -> Result<StoredRow, StoreError> {
        let missing = || StoreError::Damaged(format!("envelopes/{id} is not the envelope that was stored"));
        self.find(&[id])?.pop().flatten().ok_or_else(missing)
    }
}

/// Returns the bytes of an envelope if their message has this digest.
pub(super) fn checked(id: Id, digest: &Digest, stored: StoredBytes) -> Result<StoredBytes, StoreError> {
    let found = match &stored {
        StoredBytes::Whole(bytes) => message_digest(bytes).map_err(damaged)?,
        StoredBytes::Head(head) => head.digest,
    };
    if found != *digest {
        return Err(StoreError::Damaged(format!("envelopes/{id} is not the envelope that was stored")));
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::super::Opening;
    use super::*;

    #[test]
    fn envelopes_are_found_by_their_keys() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Opening::Serve).unwrap();
        assert!(store.find(&[]).unwrap().is_empty());
        assert!(matches!(store.find(&[Id([1; 16]), Id([2; 16])]).unwrap()[..], [None, None]));
    }
}
