//! Devices, and the keys that they may use.

use std::collections::{BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_api::Condition;
use sotto_api::devices::{Device as ListedDevice, DeviceQuery, ListedKey, Sent};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{SignedHeader, StreamHeader};

use super::page::{self, Page};
use super::sealed::runs;
use super::writes::{FOLDER, Write};
use super::{Store, StoreError, count, now, record, repeated, sent, stream, writes};

const SENT: &str = "SELECT count(*), coalesce(sum(bytes), 0), min(started_at), max(ended_at), max(stored_at)
                    FROM envelopes WHERE device = ?1";

/// A device's registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// The Ed25519 key that verifies its signatures.
    pub(crate) verifying_key: [u8; 32],
    /// Parameters and keys that its ciphertexts may have.
    pub(crate) keys: Vec<(ParameterId, KeyId)>,
    pub(crate) revoked: bool,
}

/// A registration to store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewDevice<'d> {
    pub(crate) name: &'d str,
    pub(crate) verifying_key: &'d [u8; 32],
    pub(crate) keys: &'d [(ParameterId, KeyId)],
    /// Headers of its compact streams.
    pub(crate) streams: &'d [StreamHeader],
    /// The owner's sealed record of it.
    pub(crate) record: Option<&'d [u8]>,
    pub(crate) source: Source<'d>,
}

/// The source of a registration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'d> {
    /// A request from an address.
    Request { condition: Condition, from: &'d str },
    /// A file of the folder of enrolments. It yields to a revocation at its time or later, and to a newer registration.
    File {
        /// Time of its writing in milliseconds since 1970.
        written_at: i64,
        /// The generation that it replaces, as its owner knew it; 0 if none was known.
        generation: Option<u64>,
    },
}

/// Outcome of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Registering {
    /// Registered, with this generation.
    Done(u64),
    /// A request's condition does not hold; with the last write, if the device is registered.
    Refused(Option<Write>),
    /// The same registration is already stored.
    Unchanged,
    /// The device was revoked after the file was written.
    Revoked,
    /// The device was registered differently after the file was written.
    Superseded,
}

/// Outcome of a revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Revoking {
    /// Revoked, with this generation.
    Done(u64),
    /// The condition does not hold.
    Refused(Write),
    /// No device has this name.
    Unknown,
}

/// Maximum number of registrations in memory.
const MOST_REGISTERED: usize = 65_536;

/// Registrations that were asked for.
#[derive(Default)]
pub(super) struct Registered(RwLock<HashMap<String, Device>>);

impl Registered {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Device>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, name: &str, device: &Device) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_REGISTERED {
            all.clear();
        }
        all.insert(name.to_owned(), device.clone());
    }

    /// Forgets a registration that is written.
    fn forget(&self, name: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

impl Store {
    /// Returns a page of devices in order of their names, including revoked ones.
    pub(crate) fn devices(&self, query: &DeviceQuery) -> Result<Page<ListedDevice, String>, StoreError> {
        let limit = page::limit(query.limit);
        let mut page = Page::cut(self.registered(query, limit)?, limit, |device| device.name.clone());
        // One query per device: counting takes long for a device with many envelopes, and uploads wait during a query.
        for device in &mut page.items {
            device.sent = self.sent(&device.name)?;
        }
        Ok(page)
    }

    /// Returns up to `limit` + 1 devices, without their sums.
    fn registered(&self, query: &DeviceQuery, limit: usize) -> Result<Vec<ListedDevice>, StoreError> {
        let connection = self.connection();
        let mut devices = connection.prepare_cached(
            "SELECT name, registered_at, revoked_at, verifying_key, generation FROM devices
             WHERE name > ?1 ORDER BY name LIMIT ?2",
        )?;
        let after = query.after.as_deref().unwrap_or_default();
        let devices = devices.query_map(params![after, limit as i64 + 1], |row| {
            let revoked_at: Option<i64> = row.get(2)?;
            Ok(ListedDevice {
                name: row.get(0)?,
                generation: count(row, 4)?,
                registered_at: row.get(1)?,
                revoked: revoked_at.is_some(),
                revoked_at,
                verifying_key: hex::encode(row.get::<_, [u8; 32]>(3)?),
                keys: Vec::new(),
                sent: Sent::default(),
                recoveries: 0,
                recovered_at: None,
                repeated_masks: 0,
                repeated_at: None,
                taken_numbers: 0,
                taken_at: None,
                repeated_pads: Vec::new(),
            })
        })?;
        let mut devices: Vec<ListedDevice> = devices.collect::<Result<_, _>>()?;
        for device in &mut devices {
            let listed = |(parameters, key): (ParameterId, KeyId)| ListedKey {
                parameter_id: parameters.to_string(),
                key_id: key.to_string(),
            };
            device.keys = keys(&connection, &device.name)?.into_iter().map(listed).collect();
            // A device with several streams asks once for each.
            (device.recoveries, device.recovered_at) = noted(&connection, "recoveries", &device.name)?;
            (device.repeated_masks, device.repeated_at) = noted(&connection, "repeated_masks", &device.name)?;
            (device.taken_numbers, device.taken_at) = noted(&connection, "taken_numbers", &device.name)?;
            device.repeated_pads = repeated::of_device(&connection, &device.name)?;
        }
        Ok(devices)
    }

    fn sent(&self, device: &str) -> Result<Sent, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(SENT)?;
        let rows = query.query_row([device], sent::of_row)?;
        Ok(sent::together(&rows, &runs::totals(&connection, device)?))
    }

    /// Returns the bytes of a device's envelopes.
    pub(crate) fn stored_bytes(&self, device: &str) -> Result<u64, StoreError> {
        Ok(self.sent(device)?.bytes)
    }

    /// Registers a device; replaces an earlier registration with its name, if the source's condition holds.
    pub(crate) fn register_device(&self, device: &NewDevice<'_>) -> Result<Registering, StoreError> {
        let NewDevice { name, verifying_key, keys, source, .. } = *device;
        self.transaction(|transaction| {
            self.registered.forget(name);
            let (written_at, from) = match source {
                Source::Request { condition, from } => {
                    let last = writes::last(transaction, name)?;
                    if !condition.holds(last.as_ref().map(|write| write.generation)) {
                        return Ok(Registering::Refused(last));
                    }
                    (now(), from)
                }
                Source::File { written_at, generation } => {
                    match before_file(transaction, device, written_at, generation)? {
                        Registering::Done(_) => (written_at, FOLDER),
                        kept => return Ok(kept),
                    }
                }
            };
            transaction.execute(
                "INSERT INTO devices (name, verifying_key, registered_at, written_from) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (name) DO UPDATE SET verifying_key = ?2, registered_at = ?3, revoked_at = NULL,
                     generation = generation + 1, written_from = ?4",
                params![name, verifying_key, written_at, from],
            )?;
            transaction.execute(
                "INSERT INTO verifying_keys (device, verifying_key, registered_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO NOTHING",
                params![name, verifying_key, written_at],
            )?;
            transaction.execute("DELETE FROM device_keys WHERE device = ?1", [name])?;
            for (parameters, key) in keys {
                transaction.execute(
                    "INSERT INTO device_keys (device, parameter_id, key_id) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO NOTHING",
                    params![name, parameters.0, key.0],
                )?;
            }
            keep_beside(transaction, device)?;
            Ok(Registering::Done(writes::generation(transaction, name)?))
        })
    }

    /// Revokes a device, if the condition holds. Its envelopes stay. The time of the last revocation counts, so that
    /// older files do not undo it.
    pub(crate) fn revoke_device(
        &self,
        name: &str,
        condition: Condition,
        from: &str,
    ) -> Result<Revoking, StoreError> {
        self.transaction(|transaction| {
            self.registered.forget(name);
            let Some(last) = writes::last(transaction, name)? else { return Ok(Revoking::Unknown) };
            if !condition.holds(Some(last.generation)) {
                return Ok(Revoking::Refused(last));
            }
            transaction.execute(
                "UPDATE devices SET revoked_at = max(coalesce(revoked_at, 0), ?2), generation = generation + 1,
                     written_from = ?3 WHERE name = ?1",
                params![name, now(), from],
            )?;
            Ok(Revoking::Done(last.generation + 1))
        })
    }

    /// Returns true if a device, revoked or not, is registered with this key: its data can still be used in jobs.
    pub(crate) fn is_registered_key(&self, parameters: ParameterId, key: KeyId) -> Result<bool, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT 1 FROM device_keys WHERE parameter_id = ?1 AND key_id = ?2 LIMIT 1")?;
        Ok(query.query_row(params![parameters.0, key.0], |_| Ok(())).optional()?.is_some())
    }

    /// Returns the registration of a device if it is in memory.
    pub(crate) fn held_device(&self, name: &str) -> Option<Device> {
        self.registered.read().get(name).cloned()
    }

    /// Returns a device's registration. Waits for no commit if it was asked for before.
    pub(crate) fn device(&self, name: &str) -> Result<Option<Device>, StoreError> {
        if let Some(device) = self.held_device(name) {
            return Ok(Some(device));
        }
        let connection = self.connection();
        let found = device(&connection, name)?;
        if let Some(device) = &found {
            // While the connection is locked, nobody writes another registration.
            self.registered.keep(name, device);
        }
        Ok(found)
    }
}

/// Returns the count of a device in a table of events, and the time of the last one.
fn noted(connection: &Connection, table: &'static str, device: &str) -> rusqlite::Result<(u64, Option<i64>)> {
    let query = format!("SELECT coalesce(max(count), 0), max(noted_at) FROM {table} WHERE device = ?1");
    connection.prepare_cached(&query)?.query_row([device], |row| Ok((count(row, 0)?, row.get(1)?)))
}

/// Stores the headers of a device's streams, and its record.
fn keep_beside(connection: &Connection, device: &NewDevice<'_>) -> Result<(), StoreError> {
    device.streams.iter().try_for_each(|header| stream::keep(connection, header))?;
    Ok(device.record.map_or(Ok(()), |sealed| record::keep(connection, device.name, sealed))?)
}

/// Returns the outcome of a registration from a file before its device is written; `Done` if it has to be written.
fn before_file(
    connection: &Connection,
    device: &NewDevice<'_>,
    written_at: i64,
    generation: Option<u64>,
) -> Result<Registering, StoreError> {
    let NewDevice { name, verifying_key, keys: wanted, .. } = *device;
    let times = "SELECT registered_at, revoked_at FROM devices WHERE name = ?1";
    let times: Option<(i64, Option<i64>)> =
        connection.query_row(times, [name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (Some((registered_at, revoked_at)), Some(there), Some(last)) =
        (times, self::device(connection, name)?, writes::last(connection, name)?)
    else {
        return Ok(Registering::Done(1));
    };
    let set = |keys: &[(ParameterId, KeyId)]| -> BTreeSet<_> {
        keys.iter().map(|(parameters, key)| (parameters.0, key.0)).collect()
    };
    // A file names the generation that it replaces. Files without it come from no owner's folder.
    let replaces = generation.is_none_or(|generation| generation == last.generation || last.from == FOLDER);
    let is_newer = replaces && registered_at <= written_at;
    let same = !there.revoked && there.verifying_key == *verifying_key && set(&there.keys) == set(wanted);
    Ok(if revoked_at.is_some_and(|revoked_at| revoked_at >= written_at) {
        Registering::Revoked
    } else if same {
        let record = device.record.filter(|_| is_newer);
        keep_beside(connection, &NewDevice { record, ..*device })?;
        Registering::Unchanged
    } else if is_newer {
        Registering::Done(last.generation + 1)
    } else {
        Registering::Superseded
    })
}

pub(super) fn device(connection: &Connection, name: &str) -> Result<Option<Device>, StoreError> {
    let mut query = connection
        .prepare_cached("SELECT verifying_key, revoked_at IS NOT NULL FROM devices WHERE name = ?1")?;
    let found = query.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((verifying_key, revoked)) = found else { return Ok(None) };
    Ok(Some(Device { verifying_key, keys: keys(connection, name)?, revoked }))
}

/// Returns the keys of a device, ascending.
fn keys(connection: &Connection, device: &str) -> Result<Vec<(ParameterId, KeyId)>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT parameter_id, key_id FROM device_keys WHERE device = ?1")?;
    let keys = query.query_map([device], |row| Ok((ParameterId(row.get(0)?), KeyId(row.get(1)?))))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Returns true if one of these keys signed a window.
pub(super) fn is_signed(signed: &SignedHeader, keys: &[[u8; 32]]) -> bool {
    keys.iter().any(|key| signed.verify(key).is_ok())
}

/// Returns every key that a device was registered with.
pub(super) fn verifying_keys(connection: &Connection, device: &str) -> Result<Vec<[u8; 32]>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT verifying_key FROM verifying_keys WHERE device = ?1")?;
    let keys = query.query_map([device], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::super::Opening;
    use super::*;

    #[test]
    fn sums_read_no_rows() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Opening::Serve).unwrap();
        let connection = store.connection();
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {SENT}")).unwrap();
        let plan: String = explain.query_row(["kitchen"], |row| row.get(3)).unwrap();
        assert_eq!(plan, "SEARCH envelopes USING COVERING INDEX envelopes_in_order (device=?)");
    }
}
