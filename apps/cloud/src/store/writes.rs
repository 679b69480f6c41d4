//! The last write of each registration, on which the next one is conditional.

use rusqlite::{Connection, OptionalExtension as _};

use super::count;

/// The source of registrations from files.
pub(crate) const FOLDER: &str = "the folder of enrolments";

/// A write of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    /// Number of writes, this one included.
    pub(crate) generation: u64,
    /// Its time, as RFC 3339 in UTC.
    pub(crate) at: String,
    /// The address that it came from, or [`FOLDER`].
    pub(crate) from: String,
}

/// Returns the last write of a device's registration; None if there is no such device.
pub(super) fn last(connection: &Connection, device: &str) -> rusqlite::Result<Option<Write>> {
    let last = "SELECT generation, written_from,
                    strftime('%Y-%m-%dT%H:%M:%SZ', max(registered_at, coalesce(revoked_at, 0)) / 1000, 'unixepoch')
                FROM devices WHERE name = ?1";
    let mut query = connection.prepare_cached(last)?;
    let write = |row: &rusqlite::Row<'_>| {
        let at: Option<String> = row.get(2)?;
        Ok(Write { generation: count(row, 0)?, from: row.get(1)?, at: at.unwrap_or_default() })
    };
    query.query_row([device], write).optional()
}

/// The step of all generations when a store may be older than its owners have seen it.
const APART: i64 = 1 << 32;

/// Sets the generations apart from those that a newer store had: a condition on one of those does not hold by accident.
pub(super) fn set_apart(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE devices SET generation = generation + ?1", [APART]).map(drop)
}

/// Returns the generation of a registered device.
pub(super) fn generation(connection: &Connection, device: &str) -> rusqlite::Result<u64> {
    let mut query = connection.prepare_cached("SELECT generation FROM devices WHERE name = ?1")?;
    query.query_row([device], |row| count(row, 0))
}
