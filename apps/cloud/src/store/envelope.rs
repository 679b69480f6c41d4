//! Envelopes that were kept.

use rusqlite::{OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::Envelope;

use super::{Folder, Store, StoreError};
use crate::id::Id;

const DEFAULT_LIMIT: i64 = 100;
pub(crate) const LARGEST_PAGE: i64 = 1000;
const COLUMNS: &str =
    "id, device, stream, sequence, parameter_id, key_id, started_at, ended_at, readings, bytes,
     stored_at, layout";

/// Which envelopes are listed; in order of device, stream and sequence number.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnvelopeQuery {
    device: Option<String>,
    stream: Option<String>,
    after_sequence: Option<u64>,
    limit: Option<u32>,
}

/// What the owner may know of an envelope without its body.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StoredEnvelope {
    pub(crate) id: String,
    device: String,
    stream: String,
    sequence: i64,
    #[serde(serialize_with = "shown")]
    pub(crate) parameter_id: ParameterId,
    #[serde(serialize_with = "shown")]
    pub(crate) key_id: KeyId,
    started_at: i64,
    ended_at: i64,
    readings: u32,
    bytes: i64,
    stored_at: i64,
    layout: Layout,
}

/// A layout as the device sent it, which may be anything: read as JSON when it is written, one at a time. As a value it takes up to
/// a hundred times its bytes.
#[derive(Clone, Debug)]
struct Layout(Vec<u8>);

impl Serialize for Layout {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        layout(&self.0).serialize(serializer)
    }
}

fn shown<T: core::fmt::Display, S: serde::Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

impl Store {
    pub(crate) fn envelopes(&self, query: &EnvelopeQuery) -> Result<Vec<StoredEnvelope>, StoreError> {
        let connection = self.connection();
        // Only what is asked for stands in the query, so that the index on (device, stream, sequence) serves it.
        let device = if query.device.is_some() { "device = ?1" } else { "?1 IS NULL" };
        let stream = if query.stream.is_some() { "stream = ?2" } else { "?2 IS NULL" };
        let mut select = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM envelopes WHERE {device} AND {stream} AND sequence > ?3
             ORDER BY device, stream, sequence LIMIT ?4"
        ))?;
        let after = query.after_sequence.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
        let limit = query.limit.map_or(DEFAULT_LIMIT, i64::from).min(LARGEST_PAGE);
        let rows = select.query_map(params![query.device, query.stream, after, limit], stored_envelope)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(crate) fn envelope(&self, id: Id) -> Result<Option<StoredEnvelope>, StoreError> {
        let connection = self.connection();
        let mut select =
            connection.prepare_cached(&format!("SELECT {COLUMNS} FROM envelopes WHERE id = ?1"))?;
        Ok(select.query_row([id], stored_envelope).optional()?)
    }

    /// The ciphertext's frame of an envelope that is there.
    pub(crate) fn ciphertext(&self, id: Id) -> Result<Vec<u8>, StoreError> {
        let frame = self.bodies.read(Folder::Envelopes, &id.to_string())?;
        let envelope = Envelope::read(&frame, sotto_wire::LARGEST_ENVELOPE);
        envelope.map(|envelope| envelope.body).map_err(|error| StoreError::Damaged(error.to_string()))
    }
}

fn stored_envelope(row: &Row<'_>) -> rusqlite::Result<StoredEnvelope> {
    Ok(StoredEnvelope {
        id: row.get::<_, Id>(0)?.to_string(),
        device: row.get(1)?,
        stream: row.get(2)?,
        sequence: row.get(3)?,
        parameter_id: ParameterId(row.get(4)?),
        key_id: KeyId(row.get(5)?),
        started_at: row.get(6)?,
        ended_at: row.get(7)?,
        readings: row.get(8)?,
        bytes: row.get(9)?,
        stored_at: row.get(10)?,
        layout: Layout(row.get(11)?),
    })
}

/// The JSON value that a layout is meant to be, else its text.
fn layout(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}
