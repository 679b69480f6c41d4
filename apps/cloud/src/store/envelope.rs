//! Stored envelopes.

use rusqlite::types::Value as Bound;
use rusqlite::{Connection, Row, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::StreamTag;
use utoipa::{IntoParams, ToSchema};

use super::page::{self, Page};
use super::stream::Streams;
use super::{Store, StoreError};
use crate::id::Id;

/// Initial capacity of a page, in rows.
const PREPARED: usize = 1024;
const COLUMNS: &str =
    "envelopes.id, device, stream, sequence, parameter_id, key_id, started_at, ended_at, readings, bytes,
     stored_at, layout, stream_tag,
     coalesce(stream_tag IS NOT NULL AND substr(mask, 1, 12) = zeroblob(12), FALSE)";

/// Selects envelopes; lists are in order of device, stream and sequence number.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EnvelopeQuery {
    /// Only envelopes of this device.
    pub(crate) device: Option<String>,
    /// Only envelopes of streams with this name.
    pub(crate) stream: Option<String>,
    /// Only envelopes with a larger sequence number.
    pub(crate) after_sequence: Option<u64>,
    /// Only envelopes whose last reading is later: milliseconds since 1970.
    pub(crate) ended_after: Option<i64>,
    /// Only envelopes whose first reading is earlier: milliseconds since 1970.
    pub(crate) started_before: Option<i64>,
    /// The last envelope of the previous page: `DEVICE/STREAM/SEQUENCE`.
    #[param(value_type = Option<String>)]
    pub(crate) after: Option<EnvelopePosition>,
    /// Maximum number of envelopes: 100 by default, 1000 at most.
    pub(crate) limit: Option<u32>,
}

/// The position of an envelope in the list: `device/stream/sequence`. Names contain no slash.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct EnvelopePosition {
    device: String,
    stream: String,
    sequence: i64,
}

impl TryFrom<String> for EnvelopePosition {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let parsed = || {
            let (device, rest) = text.split_once('/')?;
            let (stream, sequence) = rest.split_once('/')?;
            let [device, stream] =
                [device, stream].map(|name| sotto_program::is_name(name).then(|| name.to_owned()));
            Some(Self { device: device?, stream: stream?, sequence: sequence.parse().ok()? })
        };
        parsed().ok_or("after is the position of an envelope: device/stream/sequence")
    }
}

impl core::fmt::Display for EnvelopePosition {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}/{}", self.device, self.stream, self.sequence)
    }
}

/// An envelope's description for the owner, without the body.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct StoredEnvelope {
    /// 32 lower-case hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub(crate) id: String,
    /// The device's name.
    device: String,
    /// The stream's name.
    stream: String,
    /// 0 to 2^63 - 1.
    sequence: i64,
    /// 64 lower-case hexadecimal digits.
    #[serde(serialize_with = "shown")]
    #[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
    pub(crate) parameter_id: ParameterId,
    /// The id of the secret key: 32 lower-case hexadecimal digits.
    #[serde(serialize_with = "shown")]
    #[schema(value_type = String, pattern = "^[0-9a-f]{32}$")]
    pub(crate) key_id: KeyId,
    /// Time of the first reading: milliseconds since 1970.
    started_at: i64,
    /// End of the last tick, less 1 ms: milliseconds since 1970. Filters by time compare this one.
    ended_at: i64,
    /// Number of readings.
    readings: u32,
    /// Bytes of the stored envelope.
    bytes: i64,
    /// Time of storing: milliseconds since 1970.
    stored_at: i64,
    /// The layout as the device signed it: an object of JSON, or its text if it is no JSON.
    #[schema(value_type = Value)]
    layout: Layout,
    /// True if the window is encrypted under the mask of its fleet.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    shared_mask: bool,
}

/// A layout as the device sent it: arbitrary bytes. Parsed as JSON only during serialisation, one at a time, because a
/// parsed value takes up to a hundred times its bytes.
#[derive(Clone, Debug)]
struct Layout(Vec<u8>);

impl Serialize for Layout {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        layout(&self.0).serialize(serializer)
    }
}

impl StoredEnvelope {
    fn position(&self) -> EnvelopePosition {
        let (device, stream) = (self.device.clone(), self.stream.clone());
        EnvelopePosition { device, stream, sequence: self.sequence }
    }
}

pub(super) fn shown<T: core::fmt::Display, S: serde::Serializer>(
    id: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

impl Store {
    pub(crate) fn envelopes(
        &self,
        query: &EnvelopeQuery,
    ) -> Result<Page<StoredEnvelope, EnvelopePosition>, StoreError> {
        let limit = page::limit(query.limit);
        let (select, values) = selected(query, limit);
        let connection = self.connection();
        let mut select = connection.prepare_cached(&select)?;
        let mut rows = select.query(params_from_iter(values))?;
        let mut listed = Vec::with_capacity(limit.min(PREPARED));
        while let Some(row) = rows.next()? {
            listed.push(stored_envelope(&connection, &self.streams, row)?);
        }
        Ok(Page::cut(listed, limit, StoredEnvelope::position))
    }

    pub(crate) fn envelope(&self, id: Id) -> Result<Option<StoredEnvelope>, StoreError> {
        let connection = self.connection();
        let mut select =
            connection.prepare_cached(&format!("SELECT {COLUMNS} FROM envelopes WHERE id = ?1"))?;
        let mut rows = select.query([id])?;
        rows.next()?.map(|row| stored_envelope(&connection, &self.streams, row)).transpose()
    }
}

/// Returns the query of a page, with one row more than the page, and its values. It contains only the requested
/// conditions. The index `envelopes_in_order` gives the ids of the page; rows are read only for these.
fn selected(query: &EnvelopeQuery, limit: usize) -> (String, Vec<Bound>) {
    let (mut conditions, mut values) = (String::from("TRUE"), Vec::new());
    let mut require = |condition: &str, bound: Vec<Bound>| {
        conditions.extend([" AND ", condition]);
        values.extend(bound);
    };
    if let Some(device) = &query.device {
        require("device = ?", vec![device.clone().into()]);
    }
    if let Some(stream) = &query.stream {
        // Without a device, a fixed stream would make SQLite sort the rows of every device again: `+` disables that.
        let fixed = if query.device.is_some() { "stream = ?" } else { "+stream = ?" };
        require(fixed, vec![stream.clone().into()]);
    }
    if let Some(sequence) = query.after_sequence {
        require("sequence > ?", vec![i64::try_from(sequence).unwrap_or(i64::MAX).into()]);
    }
    if let Some(time) = query.ended_after {
        require("ended_at > ?", vec![time.into()]);
    }
    if let Some(time) = query.started_before {
        require("started_at < ?", vec![time.into()]);
    }
    if let Some(after) = &query.after {
        let same_device = query.device.as_ref() == Some(&after.device);
        let same_stream = query.stream.as_ref() == Some(&after.stream);
        let (device, stream) = (after.device.clone().into(), after.stream.clone().into());
        // Omit the columns that are fixed: with them SQLite would search the index from the device's first envelope.
        match (same_device, same_stream) {
            (true, true) => require("sequence > ?", vec![after.sequence.into()]),
            (true, false) => require("(stream, sequence) > (?, ?)", vec![stream, after.sequence.into()]),
            (false, _) => {
                require(
                    "(device, stream, sequence) > (?, ?, ?)",
                    vec![device, stream, after.sequence.into()],
                );
            }
        }
    }
    values.push(Bound::Integer(limit as i64 + 1));
    let select = format!(
        "WITH page AS (
             SELECT id FROM envelopes WHERE {conditions} ORDER BY device, stream, sequence LIMIT ?
         )
         SELECT {COLUMNS} FROM page CROSS JOIN envelopes ON envelopes.id = page.id
         ORDER BY device, stream, sequence"
    );
    (select, values)
}

fn stored_envelope(
    connection: &Connection,
    streams: &Streams,
    row: &Row<'_>,
) -> Result<StoredEnvelope, StoreError> {
    let layout: Vec<u8> = row.get(11)?;
    let layout = match row.get::<_, Option<_>>(12)?.map(StreamTag) {
        Some(tag) => streams.header(connection, tag, &layout)?.layout,
        None => layout,
    };
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
        layout: Layout(layout),
        shared_mask: row.get(13)?,
    })
}

/// Returns a layout as a JSON value if it is valid JSON, else as text.
fn layout(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(device: &str, stream: &str, sequence: i64) -> EnvelopePosition {
        EnvelopePosition { device: device.into(), stream: stream.into(), sequence }
    }

    #[test]
    fn a_position_has_one_text() {
        let parsed = |text: &str| EnvelopePosition::try_from(text.to_owned());
        let at = position("kitchen", "load", 17);
        assert_eq!(parsed(&at.to_string()), Ok(at));
        for wrong in
            ["", "kitchen", "kitchen/load", "kitchen/load/x", "kitchen/load/1/2", "k tchen/load/1", "//1"]
        {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_list_reads_rows_that_it_does_not_show() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), super::super::Opening::Serve).unwrap();
        let connection = store.connection();
        let some = |text: &str| Some(text.to_owned());
        let mut queries = Vec::new();
        for (device, stream) in [(None, None), (some("a"), None), (None, some("s")), (some("a"), some("s"))] {
            for after in [None, Some(position("a", "s", 3)), Some(position("b", "t", 3))] {
                for time in [None, Some(5)] {
                    queries.push(EnvelopeQuery {
                        device: device.clone(),
                        stream: stream.clone(),
                        after: after.clone(),
                        ended_after: time,
                        started_before: time,
                        ..EnvelopeQuery::default()
                    });
                }
            }
        }
        for query in queries {
            let (select, values) = selected(&query, 10);
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {select}")).unwrap();
            let steps = explain.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            let first = steps.iter().find(|step| step.contains("envelopes")).unwrap();
            assert!(first.contains("USING COVERING INDEX"), "{query:?}: {steps:?}");
            let sorted = steps.iter().filter(|step| step.contains("TEMP B-TREE")).count();
            assert_eq!(sorted, 1, "only the page is sorted: {query:?}: {steps:?}");
            if query.device.is_some() && query.after.as_ref().is_some_and(|after| after.device == "a") {
                let both = [
                    "device=? AND stream>?",
                    "device=? AND stream=? AND sequence>?",
                    "(stream,sequence)>(?,?)",
                ];
                assert!(both.iter().any(|range| first.contains(range)), "{first}");
            }
        }
    }
}
