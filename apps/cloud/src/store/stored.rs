//! Stored envelopes as their devices signed them.

use rusqlite::Row;
use serde_json::Value;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{Digest, Envelope, SignedHeader, message_digest};

use super::dropped::StoredBytes;
use super::error::damaged;
use super::{Store, StoreError};
use crate::id::Id;

/// A stored envelope, by its rows.
#[derive(Clone, Debug)]
pub(crate) struct StoredRow {
    pub(crate) id: Id,
    pub(crate) parameters: ParameterId,
    pub(crate) key: KeyId,
    /// The digest of the envelope's bytes.
    digest: Digest,
    /// Its leaf in the log of its stream.
    leaf: Option<Digest>,
}

impl StoredRow {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(id) = row.get(1)? else { return Ok(None) };
        let (parameters, key) = (ParameterId(row.get(2)?), KeyId(row.get(3)?));
        Ok(Some(Self { id, parameters, key, digest: row.get(4)?, leaf: row.get(5)? }))
    }

    /// Returns the leaf of the envelope in its log.
    pub(crate) fn leaf(&self) -> Result<Digest, StoreError> {
        self.leaf.ok_or_else(|| StoreError::Damaged(format!("envelope {} is in no log", self.id)))
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
        match self.bytes(found)? {
            StoredBytes::Whole(bytes) => self.read_envelope(&bytes)?.map_err(damaged),
            StoredBytes::Head(head) => Err(head.dropped()),
        }
    }

    fn bytes(&self, found: &StoredRow) -> Result<StoredBytes, StoreError> {
        self.checked_bytes(found.id, &found.digest)
    }

    /// Reads the file of an envelope whose message has this digest.
    pub(super) fn checked_bytes(&self, id: Id, digest: &Digest) -> Result<StoredBytes, StoreError> {
        let stored = self.stored_bytes_of(&id.to_string())?;
        let found = match &stored {
            StoredBytes::Whole(bytes) => message_digest(bytes).map_err(damaged)?,
            StoredBytes::Head(head) => head.digest,
        };
        if found != *digest {
            return Err(StoreError::Damaged(format!("envelopes/{id} is not the envelope that was stored")));
        }
        Ok(stored)
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
        match self.bytes(found)? {
            StoredBytes::Whole(bytes) => self.read_signed(&bytes)?.map_err(damaged),
            StoredBytes::Head(head) => Ok(head.signed),
        }
    }

    fn row(&self, id: Id) -> Result<StoredRow, StoreError> {
        let missing = || StoreError::Damaged(format!("envelopes/{id} is not the envelope that was stored"));
        self.find(&[id])?.pop().flatten().ok_or_else(missing)
    }
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
