//! The owner's records of devices, which only the owner can open.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, StoreError, count, now};

/// A stored record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The bytes that the owner sealed.
    pub(crate) sealed: Vec<u8>,
    /// Time at which it was stored, in milliseconds since 1970.
    pub(crate) stored_at: i64,
    /// Number of writes of the device's registration.
    pub(crate) generation: u64,
    /// True if the device is revoked.
    pub(crate) revoked: bool,
}

/// Replaces the record of a registered device.
pub(super) fn keep(connection: &Connection, device: &str, sealed: &[u8]) -> rusqlite::Result<()> {
    let insert = "INSERT INTO records (device, sealed, stored_at) VALUES (?1, ?2, ?3)
                  ON CONFLICT (device) DO UPDATE SET sealed = ?2, stored_at = ?3";
    connection.prepare_cached(insert)?.execute(params![device, sealed, now()]).map(drop)
}

impl Store {
    /// Returns the record of a device; None if no registration had one.
    pub(crate) fn record(&self, device: &str) -> Result<Option<Record>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(
            "SELECT sealed, stored_at, generation, revoked_at IS NOT NULL
             FROM records JOIN devices ON name = device WHERE device = ?1",
        )?;
        let record = |row: &rusqlite::Row<'_>| {
            Ok(Record {
                sealed: row.get(0)?,
                stored_at: row.get(1)?,
                generation: count(row, 2)?,
                revoked: row.get(3)?,
            })
        };
        Ok(query.query_row([device], record).optional()?)
    }
}
