//! Where a stream of a device stands.

use rusqlite::{OptionalExtension as _, params};
use sotto_wire::SignedHeader;

use super::stream::damaged;
use super::{Store, StoreError, fleet, forget, now};
use crate::id::Id;

impl Store {
    /// The signed header of a stream's last window; none if there is no window.
    pub(crate) fn last_header(&self, device: &str, stream: &str) -> Result<Option<SignedHeader>, StoreError> {
        let last: Option<Id> = {
            let connection = self.connection();
            let mut query = connection.prepare_cached(
                "SELECT id FROM envelopes WHERE device = ?1 AND stream = ?2 ORDER BY sequence DESC LIMIT 1",
            )?;
            query.query_row([device, stream], |row| row.get(0)).optional()?
        };
        let Some(last) = last else { return Ok(None) };
        SignedHeader::of(&self.stored(last)?).map(Some).map_err(damaged)
    }

    /// The latest end of any window of a stream, of those that the owner deleted too, or the latest start of one under a fleet's mask that came, of those
    /// that were refused too: milliseconds since 1970. None before the first window. By time, not by number: windows that were numbered anew may end
    /// before others.
    pub(crate) fn newest_end(&self, device: &str, stream: &str) -> Result<Option<i64>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT max(ended_at) FROM envelopes WHERE device = ?1 AND stream = ?2")?;
        let stored: Option<i64> = query.query_row([device, stream], |row| row.get(0))?;
        let forgotten = forget::forgotten(&connection, device, stream)?;
        // Windows that ended before it were deleted.
        let deleted = forgotten.map(|forgotten| forgotten.until.saturating_sub(1));
        Ok(stored.max(deleted).max(fleet::latest_start(&connection, device, stream)?))
    }

    /// Counts that a device asked where its stream stands. A question that is sent again, or an older one, counts once.
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
