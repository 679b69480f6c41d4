//! Sums over a device's envelopes.

use rusqlite::Row;
use sotto_api::devices::Sent;

use super::count;

/// Reads sums over envelopes: their number, their bytes, the first start, the last end, the last arrival.
pub(super) fn of_row(row: &Row<'_>) -> rusqlite::Result<Sent> {
    Ok(Sent {
        envelopes: count(row, 0)?,
        bytes: count(row, 1)?,
        first_started_at: row.get(2)?,
        last_ended_at: row.get(3)?,
        last_stored_at: row.get(4)?,
    })
}

/// Returns sums over the envelopes of both.
pub(super) fn together(one: &Sent, other: &Sent) -> Sent {
    Sent {
        envelopes: one.envelopes + other.envelopes,
        bytes: one.bytes + other.bytes,
        first_started_at: [one.first_started_at, other.first_started_at].into_iter().flatten().min(),
        last_ended_at: one.last_ended_at.max(other.last_ended_at),
        last_stored_at: one.last_stored_at.max(other.last_stored_at),
    }
}
