//! Keeping an envelope, once.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;
use sotto_wire::{Envelope, MaskName};

use super::{Folder, Store, StoreError, device, fleet, forget, now};
use crate::id::Id;

/// An upload that was checked.
pub(crate) struct Upload<'u> {
    pub(crate) envelope: &'u Envelope,
    pub(crate) idempotency_key: &'u str,
    /// The envelope as it came.
    pub(crate) bytes: &'u [u8],
    /// Their digest: uploads are the same if theirs is.
    pub(crate) digest: [u8; 32],
}

/// What a device gets once its envelope is durable.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Receipt {
    pub(crate) id: String,
    /// Of the envelope's bytes.
    pub(crate) digest: String,
    pub(crate) stored_at: i64,
    /// Whether it was there before.
    pub(crate) duplicate: bool,
}

/// What became of an upload.
pub(crate) enum Kept {
    New(Receipt),
    Duplicate(Receipt),
    /// The device sent another body with this idempotency key.
    KeyReused,
    /// The device sent another body with this stream and sequence number.
    SequenceTaken,
    /// Another window has this one's mask: both together would show their difference.
    MaskRepeated,
    /// The owner has deleted windows of this time.
    Forgotten,
    /// Device or key were withdrawn while the upload was being checked.
    NoLongerAccepted,
}

impl Store {
    /// What is there already of an upload: itself, or what it is in conflict with.
    pub(crate) fn earlier(&self, upload: &Upload<'_>) -> Result<Option<Kept>, StoreError> {
        earlier(&self.connection(), upload)
    }

    /// Makes the body durable, then commits its row. If anything is in the way, neither stays.
    pub(crate) fn keep_envelope(&self, upload: &Upload<'_>) -> Result<Kept, StoreError> {
        let id = Id::random()?;
        self.bodies.write(Folder::Envelopes, &id.to_string(), upload.bytes)?;
        let kept = self.transaction(|transaction| match earlier(transaction, upload)? {
            Some(earlier) => Ok(earlier),
            None if !still_accepted(transaction, upload)? => Ok(Kept::NoLongerAccepted),
            None => insert(transaction, id, upload).map(Kept::New),
        });
        if !matches!(kept, Ok(Kept::New(_))) {
            self.bodies.remove(Folder::Envelopes, &id.to_string());
        }
        kept
    }
}

pub(super) fn earlier(connection: &Connection, upload: &Upload<'_>) -> Result<Option<Kept>, StoreError> {
    let header = &upload.envelope.header;
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Id>(0)?, row.get::<_, [u8; 32]>(1)?, row.get(2)?));
    let receipt = |(id, digest, stored_at): (Id, [u8; 32], i64)| {
        let (id, digest) = (id.to_string(), hex::encode(digest));
        Some(Kept::Duplicate(Receipt { id, digest, stored_at, duplicate: true }))
    };
    let mut by_sequence = connection.prepare_cached(
        "SELECT id, digest, stored_at FROM envelopes WHERE device = ?1 AND stream = ?2 AND sequence = ?3",
    )?;
    let sequence = header.sequence as i64;
    if let Some(mask) = upload.envelope.mask().map(mask_bytes) {
        let mut by_mask = connection
            .prepare_cached("SELECT digest FROM envelopes WHERE key_id = ?1 AND stream = ?2 AND mask = ?3")?;
        let found: Option<[u8; 32]> =
            by_mask.query_row(params![header.key.0, header.stream, mask], |row| row.get(0)).optional()?;
        if found.is_some_and(|digest| digest != upload.digest) {
            return Ok(Some(Kept::MaskRepeated));
        }
    }
    // A fleet's mask may have served another stream of the key.
    let found = fleet::under_its_mask(connection, upload.envelope)?;
    if found.is_some_and(|digest| digest != upload.digest) {
        return Ok(Some(Kept::MaskRepeated));
    }
    match by_sequence.query_row(params![header.device, header.stream, sequence], row).optional()? {
        Some(found) if found.1 == upload.digest => return Ok(receipt(found)),
        Some(_) => return Ok(Some(Kept::SequenceTaken)),
        None => {}
    }
    // Older programs took any key.
    let mut by_key = connection.prepare_cached(
        "SELECT id, digest, stored_at FROM envelopes WHERE device = ?1 AND idempotency_key = ?2",
    )?;
    match by_key.query_row(params![header.device, upload.idempotency_key], row).optional()? {
        Some(found) if found.1 == upload.digest => return Ok(receipt(found)),
        Some(_) => return Ok(Some(Kept::KeyReused)),
        None => {}
    }
    let forgotten = forget::forgotten(connection, &header.device, &header.stream)?;
    Ok(forgotten.filter(|forgotten| header.ended_at < forgotten.until).map(|_| Kept::Forgotten))
}

fn still_accepted(connection: &Connection, upload: &Upload<'_>) -> Result<bool, StoreError> {
    let device = device::device(connection, &upload.envelope.header.device)?;
    Ok(device.is_some_and(|device| !device.revoked) && is_registered(connection, upload)?)
}

/// True if a device is registered, revoked or not, with the key and the signature of an upload.
pub(super) fn is_registered(connection: &Connection, upload: &Upload<'_>) -> Result<bool, StoreError> {
    let header = &upload.envelope.header;
    let device = device::device(connection, &header.device)?;
    Ok(device.is_some_and(|device| {
        device.keys.contains(&(header.parameters, header.key))
            && upload.envelope.verify(&device.verifying_key).is_ok()
    }))
}

pub(super) fn insert(connection: &Connection, id: Id, upload: &Upload<'_>) -> Result<Receipt, StoreError> {
    let (header, stored_at) = (&upload.envelope.header, now());
    let (layout, tag) = match upload.envelope.window() {
        Some((stream, head)) => (head, Some(stream.id().tag().0)),
        None => (header.layout.as_slice(), None),
    };
    connection.execute(
        "INSERT INTO envelopes (id, digest, idempotency_key, device, stream, sequence, parameter_id, key_id,
         started_at, ended_at, readings, layout, bytes, stored_at, stream_tag, mask)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        params![
            id,
            upload.digest,
            upload.idempotency_key,
            header.device,
            header.stream,
            header.sequence as i64,
            header.parameters.0,
            header.key.0,
            header.started_at,
            header.ended_at,
            header.readings,
            layout,
            upload.bytes.len() as i64,
            stored_at,
            tag,
            upload.envelope.mask().map(mask_bytes)
        ],
    )?;
    fleet::insert(connection, id, upload.envelope)?;
    Ok(Receipt { id: id.to_string(), digest: hex::encode(upload.digest), stored_at, duplicate: false })
}

fn mask_bytes(mask: MaskName) -> Vec<u8> {
    [&mask.salt[..], &mask.sequence.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use sotto_keys::SigningIdentity;
    use sotto_rlwe::{KeyId, ParameterId, SchemeId};
    use sotto_wire::EnvelopeHeader;

    use super::super::{NewDevice, Opening};
    use super::*;

    #[test]
    fn what_is_withdrawn_while_an_upload_is_checked_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Opening::Serve).unwrap();
        let (parameters, key) = (ParameterId([1; 32]), KeyId([2; 16]));
        let [identity, other] = [3, 4].map(|byte| SigningIdentity::from_bytes(&[byte; 32]));
        let header = EnvelopeHeader {
            device: "kitchen".into(),
            stream: "load".into(),
            sequence: 0,
            parameters,
            key,
            started_at: 0,
            ended_at: 0,
            readings: 1,
            layout: vec![],
        };
        let envelope = Envelope::sign(header, vec![0; 48], |message| identity.sign(message)).unwrap();
        let upload =
            Upload { envelope: &envelope, idempotency_key: "k", bytes: b"envelope", digest: [5; 32] };
        let files = || std::fs::read_dir(folder.path().join("envelopes")).unwrap().count();
        let register = |identity: &SigningIdentity, keys: &[(ParameterId, KeyId)]| {
            let verifying_key = &identity.verifying_key();
            let device = NewDevice { name: "kitchen", verifying_key, keys, streams: &[], written_at: None };
            store.register_device(&device).unwrap();
        };
        let refused = || matches!(store.keep_envelope(&upload), Ok(Kept::NoLongerAccepted)) && files() == 0;

        store.keep_parameters(parameters, SchemeId::Bfv, &[]).unwrap();
        assert!(refused(), "the device is not known");
        register(&identity, &[]);
        assert!(refused(), "the key is not registered");
        register(&other, &[(parameters, key)]);
        assert!(refused(), "the signature is another device's");
        register(&identity, &[(parameters, key)]);
        assert!(store.revoke_device("kitchen").unwrap() && refused(), "the device is revoked");
        register(&identity, &[(parameters, key)]);
        assert!(matches!(store.keep_envelope(&upload), Ok(Kept::New(_))) && files() == 1);
        assert!(matches!(store.keep_envelope(&upload), Ok(Kept::Duplicate(_))) && files() == 1);
    }
}
