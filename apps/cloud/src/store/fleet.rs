//! Fleets, and the bodies of their windows in one table, so that a sum over devices reads one range of it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sotto_rlwe::KeyId;
use sotto_wire::{CompactCiphertext, Digest, Envelope, FleetId, StreamHeader};

use super::error::damaged;
use super::{Store, StoreError, startup};
use crate::id::Id;

/// A fleet: its number in the database, and a stream header with its form.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    number: i64,
    pub(crate) header: StreamHeader,
}

/// Selects windows of a fleet under one mask: those of one length, in the order of their keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected {
    /// The start of the windows: milliseconds since 1970.
    pub(crate) start: i64,
    /// Number of ticks of each window.
    pub(crate) ticks: u32,
    /// Only keys after this one.
    pub(crate) after: Option<KeyId>,
    /// Maximum number of windows.
    pub(crate) limit: usize,
}

impl Store {
    /// Records durably, before any answer, that a signed window uses the mask of its fleet. Returns true if another
    /// ciphertext of its key has used it before, even if that was refused.
    pub(crate) fn meets_mask_again(&self, envelope: &Envelope) -> Result<bool, StoreError> {
        if shared(envelope).is_none() {
            return Ok(false);
        }
        self.transaction(|transaction| note_mask(transaction, envelope))
    }

    /// Returns a fleet; `None` if no registered stream names it.
    pub(crate) fn fleet(&self, id: FleetId) -> Result<Option<Fleet>, StoreError> {
        fleet(&self.connection(), id)
    }

    /// Passes the keys, leaves and bodies of windows of a fleet to `take`. O(windows with this start); reads no files.
    pub(crate) fn fleet_bodies(
        &self,
        fleet: &Fleet,
        selected: &Selected,
        take: impl FnMut(KeyId, Digest, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        bodies(&self.connection(), fleet.number, selected, take)
    }
}

fn fleet(connection: &Connection, id: FleetId) -> Result<Option<Fleet>, StoreError> {
    let mut query = connection.prepare_cached("SELECT number, header FROM fleets WHERE id = ?1")?;
    let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
    let Some((number, frame)) = query.query_row([id.0], row).optional()? else { return Ok(None) };
    Ok(Some(Fleet { number, header: StreamHeader::read(&frame).map_err(damaged)? }))
}

/// Stores the fleet of a stream unless it is already stored.
pub(super) fn keep(connection: &Connection, header: &StreamHeader) -> Result<(), StoreError> {
    let Some(fleet) = header.fleet() else { return Ok(()) };
    let mut insert = connection
        .prepare_cached("INSERT INTO fleets (id, header) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING")?;
    insert.execute(params![fleet.0, header.write()])?;
    Ok(())
}

/// Returns the fleet and the start of a window under the mask of its fleet; `None` for a window under a mask of its
/// own.
fn shared(envelope: &Envelope) -> Option<(FleetId, i64)> {
    let (stream, _) = envelope.window()?;
    let mask = envelope.mask().filter(|mask| mask.is_shared())?;
    Some((stream.fleet()?, i64::try_from(mask.sequence).ok()?))
}

/// Records that a window uses the mask of its fleet. Returns true if another ciphertext of its key has used it before:
/// the two reveal their difference.
fn note_mask(connection: &Connection, envelope: &Envelope) -> Result<bool, StoreError> {
    let Some((fleet, start)) = shared(envelope) else { return Ok(false) };
    let (header, body) = (envelope.header(), *blake3::hash(&envelope.body().frame()).as_bytes());
    connection.execute(
        "INSERT INTO shared_starts (device, stream, start) VALUES (?1, ?2, ?3)
         ON CONFLICT (device, stream) DO UPDATE SET start = max(start, ?3)",
        params![header.device, header.stream, start],
    )?;
    let mask = params![fleet.0, header.key.0, start, body];
    connection.execute(
        "INSERT INTO fleet_masks (fleet, key_id, start, body)
         VALUES ((SELECT number FROM fleets WHERE id = ?1), ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        mask,
    )?;
    let same: bool = connection.query_row(
        "SELECT body = ?4 FROM fleet_masks
         WHERE fleet = (SELECT number FROM fleets WHERE id = ?1) AND key_id = ?2 AND start = ?3",
        mask,
        |row| row.get(0),
    )?;
    Ok(!same)
}

/// Returns the latest start of a window of a stream that used the mask of a fleet.
pub(super) fn latest_start(
    connection: &Connection,
    device: &str,
    stream: &str,
) -> Result<Option<i64>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT start FROM shared_starts WHERE device = ?1 AND stream = ?2")?;
    Ok(query.query_row([device, stream], |row| row.get(0)).optional()?)
}

/// Stores the body of an envelope in the fleet's table, if it uses the mask of a fleet.
pub(super) fn insert(
    connection: &Connection,
    id: Id,
    envelope: &Envelope,
    leaf: Option<&Digest>,
) -> Result<(), StoreError> {
    let (window, compact) = (envelope.window(), envelope.body().compact());
    let (Some((fleet, start)), Some((stream, _)), Some(compact)) = (shared(envelope), window, compact) else {
        return Ok(());
    };
    // Rebuilt rows must record their masks too.
    note_mask(connection, envelope)?;
    let CompactCiphertext { form, body, .. } = compact;
    // Each tick of a body has as many places as the stream has columns.
    let ticks = usize::from(form.places) / stream.places_a_tick().max(1);
    let mut insert = connection.prepare_cached(
        "INSERT INTO fleet_windows (fleet, start, key_id, ticks, body, envelope, leaf)
         VALUES ((SELECT number FROM fleets WHERE id = ?1), ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    insert.execute(params![fleet.0, start, form.key.0, ticks as i64, body, id, leaf])?;
    Ok(())
}

/// A database with fleets only, for benchmarks: the store's table and scan, with windows that have no envelopes.
pub(crate) struct FleetFile {
    connection: Connection,
    fleet: Fleet,
}

impl FleetFile {
    /// Creates a database for the fleet of a stream; `None` if the stream has no fleet.
    pub(crate) fn create(file: &Path, header: &StreamHeader) -> Result<Option<Self>, StoreError> {
        let connection = startup::connect(file)?;
        connection.pragma_update(None, "foreign_keys", false)?;
        keep(&connection, header)?;
        let Some(id) = header.fleet() else { return Ok(None) };
        Ok(fleet(&connection, id)?.map(|fleet| Self { connection, fleet }))
    }

    /// Inserts windows of `ticks` ticks that start at `start`.
    pub(crate) fn insert(
        &mut self,
        start: i64,
        ticks: u32,
        windows: impl Iterator<Item = (KeyId, Vec<u8>)>,
    ) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare(
                "INSERT INTO fleet_windows (fleet, start, key_id, ticks, body, envelope, leaf)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for (key, body) in windows {
                let leaf = [0_u8; 32];
                insert.execute(params![self.fleet.number, start, key.0, ticks, body, Id::random()?, leaf])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Like [`Store::fleet_bodies`].
    pub(crate) fn bodies(
        &self,
        selected: &Selected,
        take: impl FnMut(KeyId, Digest, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        bodies(&self.connection, self.fleet.number, selected, take)
    }
}

/// Scans like [`Store::fleet_bodies`], on one connection.
fn bodies(
    connection: &Connection,
    fleet: i64,
    selected: &Selected,
    mut take: impl FnMut(KeyId, Digest, &[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let Selected { start, ticks, after, limit } = *selected;
    // An empty blob sorts before every key.
    let after = after.map_or(Vec::new(), |key| key.0.to_vec());
    let mut query = connection.prepare_cached(
        "SELECT key_id, body, leaf FROM fleet_windows
         WHERE fleet = ?1 AND start = ?2 AND key_id > ?3 AND ticks = ?4 ORDER BY key_id LIMIT ?5",
    )?;
    let mut rows = query.query(params![fleet, start, after, ticks, limit as i64])?;
    let no_blob = |error: rusqlite::types::FromSqlError| StoreError::Damaged(error.to_string());
    while let Some(row) = rows.next()? {
        let key = row.get_ref(0)?.as_blob().map_err(no_blob)?;
        let key = key.try_into().map_err(|_| StoreError::Damaged("a key has 16 bytes".to_owned()))?;
        let leaf = row.get_ref(2)?.as_blob().map_err(no_blob)?;
        let leaf = leaf.try_into().map_err(|_| StoreError::Damaged("a leaf has 32 bytes".to_owned()))?;
        take(KeyId(key), leaf, row.get_ref(1)?.as_blob().map_err(no_blob)?)?;
    }
    Ok(())
}
