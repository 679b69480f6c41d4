//! The position of a device's stream.

use rusqlite::params;
use sotto_wire::SignedHeader;

use super::sealed::{Sealed, runs};
use super::{Store, StoreError, StoredRow, count, now};
use crate::id::Id;
use sotto_segment::Kind;

/// The windows of a stream, the last first.
const LAST: &str = "SELECT id, ended_at, sequence FROM envelopes WHERE device = ?1 AND stream = ?2
    ORDER BY sequence DESC LIMIT ?3";
/// The windows of a stream with readings, that with the latest first.
const LATEST: &str =
    "SELECT id, ended_at, sequence FROM envelopes WHERE device = ?1 AND stream = ?2 AND readings > 0
    ORDER BY ended_at DESC, sequence DESC LIMIT ?3";

/// Largest number of damaged files behind each other that do not hide the windows before them.
const MOST_DAMAGED: i64 = 100;

/// The end of a stream.
pub(crate) struct LastWindows {
    /// The number of its last window.
    pub(crate) sequence: Option<u64>,
    /// The signed header of the last window whose file can be read.
    pub(crate) last: Option<SignedHeader>,
    /// The signed header of the window with the latest reading, if that is later.
    pub(crate) latest: Option<SignedHeader>,
}

/// The end of a stream's windows in segments: headers with the times of their last readings.
#[derive(Default)]
struct SealedEnd {
    sequence: Option<u64>,
    last: Option<(SignedHeader, i64)>,
    latest: Option<(SignedHeader, i64)>,
}

/// A window: its id, its end, its number.
type Row = (Id, i64, u64);

impl Store {
    /// Returns the end of a stream; the last window may be one of late readings. A window whose file is damaged is known by
    /// its number alone: the window before it is told. O(log n) in the stream's windows.
    pub(crate) fn last_windows(&self, device: &str, stream: &str) -> Result<LastWindows, StoreError> {
        let find = |query: &str, most: i64| -> Result<Vec<Row>, StoreError> {
            let connection = self.connection();
            let mut query = connection.prepare_cached(query)?;
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, count(row, 2)?));
            Ok(query.query_map(params![device, stream, most], row)?.collect::<Result<_, _>>()?)
        };
        let readable = |query: &str| {
            for most in [1, MOST_DAMAGED] {
                for (id, end, _) in find(query, most)? {
                    match self.signed(id) {
                        Ok(header) => return Ok(Some((header, end))),
                        Err(error @ StoreError::Damaged(_)) => {
                            tracing::error!(%id, %error, "the head of a window cannot be read");
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Ok(None)
        };
        let row = find(LAST, 1)?.first().map(|(.., sequence)| *sequence);
        let SealedEnd { sequence, last, latest } = self.sealed_end(device, stream)?;
        let sequence = row.max(sequence);
        // Numbers ascend; the window with the highest one may be in the database or in a segment.
        let number = |of: &(SignedHeader, i64)| of.0.header().sequence;
        let last = [readable(LAST)?, last].into_iter().flatten().max_by_key(number);
        let latest = [readable(LATEST)?, latest].into_iter().flatten();
        let latest = latest.max_by_key(|of| (of.1, number(of)));
        let end = last.as_ref().map(|(_, end)| *end);
        let latest = latest.filter(|(_, of_latest)| end.is_none_or(|end| *of_latest > end));
        let header = |of: Option<(SignedHeader, i64)>| of.map(|(header, _)| header);
        Ok(LastWindows { sequence, last: header(last), latest: header(latest) })
    }

    /// Returns the end of a stream's windows in segments.
    fn sealed_end(&self, device: &str, stream: &str) -> Result<SealedEnd, StoreError> {
        let connection = self.connection();
        let Some(log) = runs::log_of(&connection, device, stream)? else { return Ok(SealedEnd::default()) };
        let Some(run) = runs::last(&connection, log)? else { return Ok(SealedEnd::default()) };
        let sequence = run.end() - 1;
        let read = |run: &runs::SealedRun, number: u64| {
            let window = self.sealed_in(&connection, run, number);
            match window.and_then(|window| Ok((window.signed()?, window.times().1))) {
                Err(error @ StoreError::Damaged(_)) => {
                    tracing::error!(number, %error, "the head of a window cannot be read");
                    Ok(None)
                }
                read => read.map(Some),
            }
        };
        let last = read(&run, sequence)?;
        let latest = match runs::latest(&connection, log)? {
            None => None,
            Some(run) => match self.block(&connection, &run, false) {
                Ok(block) => {
                    let with_readings = |number: &u64| block.readings(run.row_of(*number)) > 0;
                    let end = |number: &u64| (block.times(run.row_of(*number)).1, *number);
                    let latest = (run.number..run.end()).filter(with_readings).max_by_key(end);
                    latest.map(|number| read(&run, number)).transpose()?.flatten()
                }
                Err(StoreError::Damaged(_)) => None,
                Err(error) => return Err(error),
            },
        };
        Ok(SealedEnd { sequence: Some(sequence), last, latest })
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
        let mut windows: Vec<_> = found.into_iter().map(|(sequence, _)| sequence).zip(rows).collect();
        for sealed in self.sealed_from(device, stream, from.cast_unsigned(), most)? {
            windows.push((sealed.sequence(), StoredRow::of_sealed(sealed)));
        }
        windows.sort_by_key(|(sequence, _)| *sequence);
        windows.truncate(most);
        Ok(windows)
    }

    /// Returns windows of a stream in segments, from a number on, in their order. Those that are deleted are left out.
    fn sealed_from(
        &self,
        device: &str,
        stream: &str,
        from: u64,
        most: usize,
    ) -> Result<Vec<Sealed>, StoreError> {
        let (connection, mut found, mut from) = (self.connection(), Vec::new(), from);
        let Some(log) = runs::log_of(&connection, device, stream)? else { return Ok(found) };
        while found.len() < most
            && let Some(run) = runs::first_run_from(&connection, log, from)?
        {
            let first = from.max(run.number);
            from = run.end();
            if run.kind == Kind::Deleted {
                continue;
            }
            let numbers = (first..run.end()).take(most - found.len());
            let read = self.open_run(&connection, &run, true);
            match read.and_then(|open| numbers.map(|number| open.at(number)).collect::<Result<Vec<_>, _>>()) {
                Ok(read) => found.extend(read),
                Err(error @ StoreError::Damaged(_)) => {
                    tracing::error!(first, %error, "the heads of windows cannot be read");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
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
            let steps = explain.query_map(params!["kitchen", "load", 1], |row| row.get(3)).unwrap();
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
