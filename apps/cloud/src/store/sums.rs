//! Stored windows of streams of sums.

use rusqlite::{OptionalExtension as _, params};
use sotto_wire::{Envelope, StreamHeader};

use super::{Store, StoreError};

impl Store {
    /// Returns a window of a stream of sums; None if it is not stored.
    pub(crate) fn window_of_sums(
        &self,
        header: &StreamHeader,
        number: u64,
    ) -> Result<Option<Envelope>, StoreError> {
        let Ok(number) = i64::try_from(number) else { return Ok(None) };
        let id = {
            let connection = self.connection();
            let mut query = connection.prepare_cached(
                "SELECT id FROM envelopes WHERE device = ?1 AND stream = ?2 AND sequence = ?3 AND stream_tag = ?4",
            )?;
            let named = params![header.device(), header.stream(), number, header.id().tag().0];
            query.query_row(named, |row| row.get(0)).optional()?
        };
        id.map(|id| self.stored(id)).transpose()
    }
}
