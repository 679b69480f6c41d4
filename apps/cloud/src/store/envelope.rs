//! Stored envelopes.

use rusqlite::types::Value as Bound;
use rusqlite::{Connection, Row, params_from_iter};
use sotto_api::envelopes::{EnvelopePosition, EnvelopeQuery, Layout, StoredEnvelope};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{EnvelopeHeader, StreamTag};

use super::error::damaged;
use super::page::{self, Page};
use super::sealed::{Sealed, runs};
use super::stream::Streams;
use super::{Store, StoreError, count};
use crate::id::Id;
use sotto_segment::Kind;

/// Initial capacity of a page, in rows.
const PREPARED: usize = 1024;
const COLUMNS: &str =
    "envelopes.id, device, stream, sequence, parameter_id, key_id, started_at, ended_at, readings, bytes,
     stored_at, layout, stream_tag";

fn position(envelope: &StoredEnvelope) -> EnvelopePosition {
    let (device, stream) = (envelope.device.clone(), envelope.stream.clone());
    EnvelopePosition { device, stream, sequence: envelope.sequence as i64 }
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
        let sealed = self.sealed_envelopes(&connection, query, limit + 1)?;
        if !sealed.is_empty() {
            listed.extend(sealed);
            listed.sort_by(|a, b| key(a).cmp(&key(b)));
            listed.truncate(limit + 1);
        }
        Ok(Page::cut(listed, limit, position))
    }

    pub(crate) fn envelope(&self, id: Id) -> Result<Option<StoredEnvelope>, StoreError> {
        let connection = self.connection();
        let mut select =
            connection.prepare_cached(&format!("SELECT {COLUMNS} FROM envelopes WHERE id = ?1"))?;
        let mut rows = select.query([id])?;
        if let Some(row) = rows.next()? {
            return stored_envelope(&connection, &self.streams, row).map(Some);
        }
        let sealed = self.sealed_of(&connection, id)?;
        sealed.map(|sealed| sealed_envelope(&sealed)).transpose().map(Option::flatten)
    }

    /// Returns the first `most` windows in segments that a query asks for, in order of device, stream and number.
    fn sealed_envelopes(
        &self,
        connection: &Connection,
        query: &EnvelopeQuery,
        most: usize,
    ) -> Result<Vec<StoredEnvelope>, StoreError> {
        let mut listed = Vec::new();
        let after = query.after.as_ref().map(|after| (after.device.as_str(), after.stream.as_str()));
        for (log, device, stream) in runs::logs(connection, query.device.as_deref(), query.stream.as_deref())?
        {
            let of = Some((device.as_str(), stream.as_str()));
            if after.is_some() && of < after {
                continue;
            }
            let behind = |number: u64| number.checked_add(1);
            let last =
                query.after.as_ref().filter(|_| of == after).map(|after| after.sequence.cast_unsigned());
            let from = [query.after_sequence, last].into_iter().flatten().map(behind);
            let Some(mut from) = from.into_iter().try_fold(0, |from: u64, next| Some(from.max(next?))) else {
                continue;
            };
            while listed.len() < most
                && let Some(run) = runs::first_run_from(connection, log, from)?
            {
                let first = from.max(run.number);
                from = run.end();
                if run.kind != Kind::Deleted && may_match(query, run.times) {
                    self.list_run(connection, query, &run, first, most, &mut listed)?;
                }
            }
        }
        Ok(listed)
    }

    /// Adds the windows of a run, from a number on, that a query asks for.
    fn list_run(
        &self,
        connection: &Connection,
        query: &EnvelopeQuery,
        run: &runs::SealedRun,
        first: u64,
        most: usize,
        listed: &mut Vec<StoredEnvelope>,
    ) -> Result<(), StoreError> {
        let open = self.open_run(connection, run, false)?;
        for number in first..run.end() {
            if listed.len() >= most {
                break;
            }
            let sealed = open.at(number)?;
            if may_match(query, Some(sealed.times())) {
                listed.extend(sealed_envelope(&sealed)?);
            }
        }
        Ok(())
    }
}

fn key(envelope: &StoredEnvelope) -> (&str, &str, u64) {
    (&envelope.device, &envelope.stream, envelope.sequence)
}

/// Returns true if a window with these times, or one of a run with them, may be one that a query asks for. Windows without
/// a reading have times, too; a run of such windows has none.
fn may_match(query: &EnvelopeQuery, times: Option<(i64, i64)>) -> bool {
    let Some((first, last)) = times else { return true };
    query.ended_after.is_none_or(|time| last > time) && query.started_before.is_none_or(|time| first < time)
}

/// Returns a window in a segment as lists show it; None if it is deleted.
fn sealed_envelope(sealed: &Sealed) -> Result<Option<StoredEnvelope>, StoreError> {
    let (Some(id), Some(stream)) = (sealed.id(), &sealed.stream) else { return Ok(None) };
    let header = EnvelopeHeader::of_window(&sealed.head()?, stream).map_err(damaged)?;
    Ok(Some(StoredEnvelope {
        id: id.to_string(),
        device: header.device,
        stream: header.stream,
        sequence: header.sequence,
        parameter_id: header.parameters.to_string(),
        key_id: header.key.to_string(),
        started_at: header.started_at,
        ended_at: header.ended_at,
        readings: header.readings,
        bytes: sealed.counted_bytes(),
        stored_at: sealed.stored_at(),
        layout: Layout::from(header.layout),
    }))
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
        sequence: count(row, 3)?,
        parameter_id: ParameterId(row.get(4)?).to_string(),
        key_id: KeyId(row.get(5)?).to_string(),
        started_at: row.get(6)?,
        ended_at: row.get(7)?,
        readings: row.get(8)?,
        bytes: count(row, 9)?,
        stored_at: row.get(10)?,
        layout: Layout::from(layout),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(device: &str, stream: &str, sequence: i64) -> EnvelopePosition {
        EnvelopePosition { device: device.into(), stream: stream.into(), sequence }
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
