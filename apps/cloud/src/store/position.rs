//! The position of a device's stream.

use rusqlite::{OptionalExtension as _, params};
use sotto_wire::SignedHeader;

use super::{Store, StoreError, StoredRow, count, now};
use crate::id::Id;

/// The last window of a stream.
const LAST: &str = "SELECT id, ended_at FROM envelopes WHERE device = ?1 AND stream = ?2
    ORDER BY sequence DESC LIMIT 1";
/// The window of a stream with the latest reading.
const LATEST: &str = "SELECT id, ended_at FROM envelopes WHERE device = ?1 AND stream = ?2 AND readings > 0
    ORDER BY ended_at DESC, sequence DESC LIMIT 1";

impl Store {
    /// Returns the signed header of a stream's last window, and that of the window with the latest reading if that is
    /// later: the last window may be one of late readings. O(log n) in the stream's windows.
    pub(crate) fn last_headers(
        &self,
        device: &str,
        stream: &str,
    ) -> Result<[Option<SignedHeader>; 2], StoreError> {
        let find = |query: &str| -> Result<Option<(Id, i64)>, StoreError> {
            let connection = self.connection();
            let mut query = connection.prepare_cached(query)?;
            Ok(query.query_row([device, stream], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
        };
        let (last, latest) = (find(LAST)?, find(LATEST)?);
        let later = latest.filter(|(_, end)| last.is_none_or(|(_, of_last)| *end > of_last));
        let header = |window: Option<(Id, i64)>| window.map(|(id, _)| self.signed(id)).transpose();
        Ok([header(last)?, header(later)?])
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

#[cfg(test)]
mod tests {
    use super::super::Opening;
    use super::*;

    #[test]
    fn the_position_is_found_in_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Opening::Serve).unwrap();
        let connection = store.connection();
        for query in [LAST, LATEST] {
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let steps = explain.query_map(["kitchen", "load"], |row| row.get(3)).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(
                steps[0].starts_with("SEARCH envelopes USING") && steps[0].contains("stream=?"),
                "{steps:?}"
            );
            // Windows that end at the same time are put in order, no others.
            let sorts = |step: &String| step == "USE TEMP B-TREE FOR LAST TERM OF ORDER BY";
            assert!(steps[1..].iter().all(sorts), "sorts: {steps:?}");
        }
    }
}
