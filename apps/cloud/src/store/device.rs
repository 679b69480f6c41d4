//! Devices: who may upload what.

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_rlwe::{KeyId, ParameterId};

use super::{Store, StoreError, now};

/// A device as its owner registered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// Ed25519.
    pub(crate) verifying_key: [u8; 32],
    /// What its ciphertexts may be made with.
    pub(crate) keys: Vec<(ParameterId, KeyId)>,
    pub(crate) revoked: bool,
}

impl Store {
    /// Registers a device in the place of what was registered under its name.
    pub(crate) fn register_device(
        &self,
        name: &str,
        verifying_key: &[u8; 32],
        keys: &[(ParameterId, KeyId)],
    ) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            transaction.execute(
                "INSERT INTO devices (name, verifying_key, registered_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (name) DO UPDATE SET verifying_key = ?2, registered_at = ?3, revoked_at = NULL",
                params![name, verifying_key, now()],
            )?;
            transaction.execute("DELETE FROM device_keys WHERE device = ?1", [name])?;
            for (parameters, key) in keys {
                transaction.execute(
                    "INSERT INTO device_keys (device, parameter_id, key_id) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO NOTHING",
                    params![name, parameters.0, key.0],
                )?;
            }
            Ok(())
        })
    }

    /// Whether there was such a device. What it sent stays.
    pub(crate) fn revoke_device(&self, name: &str) -> Result<bool, StoreError> {
        let update = "UPDATE devices SET revoked_at = coalesce(revoked_at, ?2) WHERE name = ?1";
        Ok(self.connection().execute(update, params![name, now()])? > 0)
    }

    /// Whether a device is registered with this key, revoked or not: what it sent can still be computed on.
    pub(crate) fn is_registered_key(&self, parameters: ParameterId, key: KeyId) -> Result<bool, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT 1 FROM device_keys WHERE parameter_id = ?1 AND key_id = ?2 LIMIT 1")?;
        Ok(query.query_row(params![parameters.0, key.0], |_| Ok(())).optional()?.is_some())
    }

    pub(crate) fn device(&self, name: &str) -> Result<Option<Device>, StoreError> {
        device(&self.connection(), name)
    }
}

pub(super) fn device(connection: &Connection, name: &str) -> Result<Option<Device>, StoreError> {
    let mut query = connection
        .prepare_cached("SELECT verifying_key, revoked_at IS NOT NULL FROM devices WHERE name = ?1")?;
    let found = query.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((verifying_key, revoked)) = found else { return Ok(None) };
    let mut query =
        connection.prepare_cached("SELECT parameter_id, key_id FROM device_keys WHERE device = ?1")?;
    let keys = query
        .query_map([name], |row| Ok((ParameterId(row.get(0)?), KeyId(row.get(1)?))))?
        .collect::<Result<_, _>>()?;
    Ok(Some(Device { verifying_key, keys, revoked }))
}
