//! Windows refused because another one has their mask or their number.

use rusqlite::{Connection, params};
use sotto_api::devices::RepeatedPads;
use sotto_wire::SignedHeader;

use super::{Store, StoreError, now};

impl Store {
    /// Counts a window that was refused because another one, `stored`, has the same mask. Of a stream of sums the first
    /// two such windows are kept for the owner.
    pub(crate) fn note_repeated_mask(
        &self,
        refused: &SignedHeader,
        stored: Option<&SignedHeader>,
    ) -> Result<(), StoreError> {
        let (device, stream) = (&refused.header().device, &refused.header().stream);
        self.transaction(|transaction| {
            note(transaction, "repeated_masks", device)?;
            if let (Some(stored), Some(header)) = (stored, refused.stream()) {
                transaction.execute(
                    "INSERT INTO repeated_pads (stream_tag, device, stream, stored, refused, noted_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                    params![header.id().tag().0, device, stream, stored.write(), refused.write(), now()],
                )?;
            }
            Ok(())
        })
    }

    /// Counts a window that was refused because another one has its number, or a reading at one of its ticks.
    pub(crate) fn note_taken_number(&self, device: &str) -> Result<(), StoreError> {
        note(&self.connection(), "taken_numbers", device)
    }
}

fn note(connection: &Connection, table: &'static str, device: &str) -> Result<(), StoreError> {
    let insert = format!(
        "INSERT INTO {table} (device, count, noted_at) VALUES (?1, 1, ?2)
         ON CONFLICT (device) DO UPDATE SET count = count + 1, noted_at = ?2"
    );
    connection.execute(&insert, params![device, now()])?;
    Ok(())
}

/// Returns the streams of a device in which two windows have the same pads.
pub(super) fn of_device(connection: &Connection, device: &str) -> rusqlite::Result<Vec<RepeatedPads>> {
    let mut query = connection.prepare_cached(
        "SELECT stream, lower(hex(stream_tag)), lower(hex(stored)), lower(hex(refused)), noted_at
         FROM repeated_pads WHERE device = ?1 ORDER BY noted_at, stream_tag",
    )?;
    let repeated = query.query_map([device], |row| {
        Ok(RepeatedPads {
            stream: row.get(0)?,
            tag: row.get(1)?,
            signed: [row.get(2)?, row.get(3)?],
            noted_at: row.get(4)?,
        })
    })?;
    repeated.collect()
}
