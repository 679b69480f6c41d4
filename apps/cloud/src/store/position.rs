//! The position of a device's stream.

use rusqlite::{OptionalExtension as _, params};
use sotto_wire::SignedHeader;

use super::{Store, StoreError, StoredRow, count, now};
use crate::id::Id;

impl Store {
    /// Returns the signed header of a stream's last window, and that of the window with the latest reading if it is
    /// another one. The last window may be one of late readings.
    pub(crate) fn last_headers(
        &self,
        device: &str,
        stream: &str,
    ) -> Result<[Option<SignedHeader>; 2], StoreError> {
        let find = |query: &str| -> Result<Option<Id>, StoreError> {
            let connection = self.connection();
            let mut query = connection.prepare_cached(query)?;
            Ok(query.query_row([device, stream], |row| row.get(0)).optional()?)
        };
        let last = find(
            "SELECT id FROM envelopes WHERE device = ?1 AND stream = ?2 ORDER BY sequence DESC LIMIT 1",
        )?;
        let latest = find(
            "SELECT id FROM envelopes WHERE device = ?1 AND stream = ?2 ORDER BY ended_at DESC, sequence DESC LIMIT 1",
        )?;
        let header = |id: Option<Id>| id.map(|id| self.signed(id)).transpose();
        Ok([header(last)?, header(latest.filter(|latest| Some(*latest) != last))?])
    }

    /// Looks up the windows of a stream with sequence numbers from `from` on, at most `most`, in their order;
    /// `None` for one that is deleted meanwhile.
    pub(crate) fn windows_from(
        &self,
        device: &str,
        stream: &str,
        from: u64,
        most: usize,
    ) -> Result<Vec<(u64, Option<StoredRow>)>, StoreError> {
        let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
        let found: Vec<(u64, Id)> = {
            let connection = self.connection();
            let mut query = connection.prepare_cached(
                "SELECT sequence, id FROM envelopes WHERE device = ?1 AND stream = ?2 AND sequence >= ?3
                 ORDER BY sequence LIMIT ?4",
            )?;
            let row = |row: &rusqlite::Row<'_>| Ok((count(row, 0)?, row.get(1)?));
            let found = query.query_map(params![device, stream, from, most as i64], row)?;
            found.collect::<Result<_, _>>()?
        };
        let ids: Vec<Id> = found.iter().map(|(_, id)| *id).collect();
        let rows = self.find(&ids)?;
        Ok(found.into_iter().map(|(sequence, _)| sequence).zip(rows).collect())
    }

    /// Counts that a device asked for the position of its stream. The same question again, or an older one, does not
    /// count.
    pub(crate) fn note_recovery(&self, device: &str, stream: &str, asked_at: i64) -> Result<(), StoreError> {
        self.connection().execute(
            "INSERT INTO recoveries (device, stream, count, asked_at, noted_at) VALUES (?1, ?2, 1, ?3, ?4)
             ON CONFLICT (device, stream) DO UPDATE SET count = count + 1, asked_at = ?3, noted_at = ?4
             WHERE ?3 > asked_at",
            params![device, stream, asked_at, now()],
        )?;
        Ok(())
    }
}
