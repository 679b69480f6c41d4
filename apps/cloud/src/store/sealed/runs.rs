//! The catalogue of windows in segments: runs of windows whose numbers follow each other.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sotto_api::devices::Sent;
use sotto_wire::{MaskName, STREAM_TAG_BYTES, StreamTag, window_replaces};

use super::super::{StoreError, count, sent};
use sotto_segment::{self as segment, Kind, Placed};

const COLUMNS: &str =
    "log, number, windows, segment, block, row, kind, stream_tag, salt, pad, position, started_at, ended_at,
    bytes, stored_at, replaces";

/// Windows of a block whose numbers, pads and positions each follow each other, under one salt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct SealedRun {
    pub(in super::super) log: i64,
    /// The number of the first window.
    pub(in super::super) number: u64,
    pub(in super::super) windows: u64,
    pub(in super::super) segment: i64,
    pub(in super::super) block: u32,
    /// The row of the first window.
    pub(in super::super) row: u32,
    pub(in super::super) kind: Kind,
    pub(in super::super) tag: StreamTag,
    pub(in super::super) pads: MaskName,
    /// The position of the first window.
    pub(in super::super) position: u64,
    /// The times of the first and the last reading.
    pub(in super::super) times: Option<(i64, i64)>,
    pub(in super::super) bytes: u64,
    /// When the last of them was stored.
    pub(in super::super) stored_at: i64,
    /// True if one of them names windows in whose place it comes. `None` in rows of version 19 and before.
    pub(in super::super) replaces: Option<bool>,
}

impl SealedRun {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let times: (Option<i64>, Option<i64>) = (row.get(11)?, row.get(12)?);
        Ok(Self {
            log: row.get(0)?,
            number: row.get::<_, i64>(1)?.cast_unsigned(),
            windows: count(row, 2)?,
            segment: row.get(3)?,
            block: row.get(4)?,
            row: row.get(5)?,
            kind: Kind::of_number(row.get(6)?).unwrap_or(Kind::Deleted),
            tag: StreamTag(row.get::<_, [u8; STREAM_TAG_BYTES]>(7)?),
            pads: MaskName { salt: row.get(8)?, sequence: row.get::<_, i64>(9)?.cast_unsigned() },
            position: row.get::<_, i64>(10)?.cast_unsigned(),
            times: times.0.zip(times.1),
            bytes: count(row, 13)?,
            stored_at: row.get(14)?,
            replaces: row.get(15)?,
        })
    }

    /// Returns the number behind the last window.
    pub(in super::super) fn end(&self) -> u64 {
        self.number.saturating_add(self.windows)
    }

    /// Returns the row of a window of the run.
    pub(in super::super) fn row_of(&self, number: u64) -> usize {
        self.row as usize + number.wrapping_sub(self.number) as usize
    }

    /// Returns the run of one row of a segment.
    /// Its segment has no number yet.
    pub(super) fn of(log: i64, Placed { block, row }: Placed, written: &segment::Row) -> Self {
        let facts = written.window.facts();
        let kind = written.window.kind();
        Self {
            log,
            number: written.sequence,
            windows: 1,
            segment: 0,
            block,
            row,
            kind,
            tag: facts.map_or(StreamTag([0; STREAM_TAG_BYTES]), |facts| facts.tag),
            pads: facts.map_or(MaskName { salt: [0; 12], sequence: 0 }, |facts| MaskName {
                salt: facts.fields.salt,
                sequence: facts.pad,
            }),
            position: written.position,
            times: facts.filter(|facts| facts.readings > 0).map(|facts| (facts.first, facts.last)),
            bytes: written.bytes,
            stored_at: written.stored_at,
            replaces: Some(facts.is_some_and(|facts| window_replaces(facts.fields.flags))),
        }
    }

    /// Takes the run of the row behind this one in, if it goes on. Returns it otherwise.
    fn extend(&mut self, next: Self) -> Option<Self> {
        let windows = self.windows;
        let pads = |of: &Self| (of.kind != Kind::Deleted).then_some((of.tag, of.pads.salt));
        let goes_on = self.log == next.log
            && self.segment == next.segment
            && self.block == next.block
            && self.kind == next.kind
            && pads(self) == pads(&next)
            && u64::from(self.row) + windows == u64::from(next.row)
            && self.end() == next.number
            && self.position + windows == next.position
            && (self.kind == Kind::Deleted || self.pads.sequence.wrapping_add(windows) == next.pads.sequence);
        if !goes_on {
            return Some(next);
        }
        self.windows += next.windows;
        self.bytes += next.bytes;
        self.stored_at = self.stored_at.max(next.stored_at);
        self.replaces = self.replaces.zip(next.replaces).map(|(mine, other)| mine || other);
        self.times = match (self.times, next.times) {
            (Some((first, last)), Some((from, to))) => Some((first.min(from), last.max(to))),
            (mine, other) => mine.or(other),
        };
        None
    }

    pub(super) fn insert(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO runs (log, number, windows, segment, block, row, kind, stream_tag, salt, pad, position,
             started_at, ended_at, bytes, stored_at, replaces)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?;
        insert.execute(params![
            self.log,
            self.number.cast_signed(),
            self.windows.cast_signed(),
            self.segment,
            self.block,
            self.row,
            self.kind.number(),
            self.tag.0,
            self.pads.salt,
            self.pads.sequence.cast_signed(),
            self.position.cast_signed(),
            self.times.map(|(first, _)| first),
            self.times.map(|(_, last)| last),
            self.bytes.cast_signed(),
            self.stored_at,
            self.replaces,
        ])?;
        Ok(())
    }
}

/// Appends the run of the row behind those of these runs.
pub(super) fn append(runs: &mut Vec<SealedRun>, run: SealedRun) {
    let next = match runs.last_mut() {
        Some(last) => last.extend(run),
        None => Some(run),
    };
    runs.extend(next);
}

/// Takes a segment and its runs out of the catalogue.
pub(in super::super) fn delete_segment(connection: &Connection, id: i64) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM runs WHERE segment = ?1")?.execute([id])?;
    connection.prepare_cached("DELETE FROM nodes WHERE segment = ?1")?.execute([id])?;
    connection.prepare_cached("DELETE FROM segments WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Returns the number of a log that has windows in segments.
pub(in super::super) fn log_of(
    connection: &Connection,
    device: &str,
    stream: &str,
) -> Result<Option<i64>, StoreError> {
    let mut query = connection.prepare_cached("SELECT id FROM logs WHERE device = ?1 AND stream = ?2")?;
    Ok(query.query_row([device, stream], |row| row.get(0)).optional()?)
}

/// A log that has windows in segments: its number, its device, its stream.
pub(in super::super) type Log = (i64, String, String);

/// Returns the logs that have windows in segments, in the order of their names: all, or those of a device or a stream.
pub(in super::super) fn logs(
    connection: &Connection,
    device: Option<&str>,
    stream: Option<&str>,
) -> Result<Vec<Log>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT id, device, stream FROM logs WHERE (?1 IS NULL OR device = ?1) AND (?2 IS NULL OR stream = ?2)
         ORDER BY device, stream",
    )?;
    let found = query.query_map([device, stream], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Returns device and stream of each log that has windows in segments.
pub(in super::super) fn names(
    connection: &Connection,
) -> Result<BTreeMap<i64, (String, String)>, StoreError> {
    let all = logs(connection, None, None)?;
    Ok(all.into_iter().map(|(log, device, stream)| (log, (device, stream))).collect())
}

/// Returns device and stream of a log of these.
pub(in super::super) fn name(
    names: &BTreeMap<i64, (String, String)>,
    log: i64,
) -> Result<(&str, &str), StoreError> {
    let (device, stream) =
        names.get(&log).ok_or_else(|| StoreError::Damaged(format!("log {log} has no row")))?;
    Ok((device, stream))
}

fn one(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Option<SealedRun>, StoreError> {
    let mut query =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE {condition} LIMIT 1"))?;
    Ok(query.query_row(values, SealedRun::of_row).optional()?)
}

fn all(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<SealedRun>, StoreError> {
    let mut query = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE {condition}"))?;
    let found = query.query_map(values, SealedRun::of_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Returns the run with a number.
pub(in super::super) fn run_of(
    connection: &Connection,
    log: i64,
    number: u64,
) -> Result<Option<SealedRun>, StoreError> {
    let before = one(
        connection,
        "log = ?1 AND number <= ?2 ORDER BY number DESC",
        params![log, number.cast_signed()],
    )?;
    Ok(before.filter(|run| number < run.end()))
}

/// Returns the first run with a window of this number or a higher one.
pub(in super::super) fn first_run_from(
    connection: &Connection,
    log: i64,
    number: u64,
) -> Result<Option<SealedRun>, StoreError> {
    match run_of(connection, log, number)? {
        None => next_run_from(connection, log, number),
        found => Ok(found),
    }
}

/// Returns the first run that begins at this number or behind it.
pub(in super::super) fn next_run_from(
    connection: &Connection,
    log: i64,
    number: u64,
) -> Result<Option<SealedRun>, StoreError> {
    one(connection, "log = ?1 AND number >= ?2 ORDER BY number", params![log, number.cast_signed()])
}

/// Returns the run whose windows are under these pads.
pub(in super::super) fn run_of_pad(
    connection: &Connection,
    log: i64,
    pads: &MaskName,
) -> Result<Option<SealedRun>, StoreError> {
    let before = one(
        connection,
        "log = ?1 AND salt = ?2 AND pad <= ?3 AND kind < 2 ORDER BY pad DESC",
        params![log, pads.salt, pads.sequence.cast_signed()],
    )?;
    Ok(before.filter(|run| pads.sequence - run.pads.sequence < run.windows))
}

/// Returns the highest number of pads under a salt.
pub(in super::super) fn last_pad(
    connection: &Connection,
    log: i64,
    salt: &[u8; 12],
) -> Result<Option<u64>, StoreError> {
    let last = one(connection, "log = ?1 AND salt = ?2 AND kind < 2 ORDER BY pad DESC", params![log, salt])?;
    Ok(last.map(|run| run.pads.sequence + (run.windows - 1)))
}

/// Returns the run with the window at this position, or the first one behind it.
pub(in super::super) fn run_of_position(
    connection: &Connection,
    log: i64,
    position: u64,
) -> Result<Option<SealedRun>, StoreError> {
    let at = position.cast_signed();
    let before = one(connection, "log = ?1 AND position <= ?2 ORDER BY position DESC", params![log, at])?;
    match before.filter(|run| position - run.position < run.windows) {
        None => one(connection, "log = ?1 AND position > ?2 ORDER BY position", params![log, at]),
        found => Ok(found),
    }
}

/// Returns the runs of a log, not deleted, that have readings between two times, both inclusive.
pub(in super::super) fn runs_at(
    connection: &Connection,
    log: i64,
    (from, to): (i64, i64),
) -> Result<Vec<SealedRun>, StoreError> {
    all(
        connection,
        "log = ?1 AND ended_at >= ?2 AND started_at <= ?3 AND kind < 2 ORDER BY ended_at",
        params![log, from, to],
    )
}

/// Returns the runs of a log that have windows ended before a time, or without a reading, but those that are deleted.
pub(in super::super) fn ended_before(
    connection: &Connection,
    log: i64,
    time: i64,
) -> Result<Vec<SealedRun>, StoreError> {
    all(
        connection,
        "log = ?1 AND (started_at IS NULL OR started_at < ?2) AND kind < 2 ORDER BY number",
        params![log, time],
    )
}

/// Returns the runs of a segment.
pub(in super::super) fn runs_in(connection: &Connection, segment: i64) -> Result<Vec<SealedRun>, StoreError> {
    all(connection, "segment = ?1 ORDER BY log, number", [segment])
}

/// Returns the run with the latest reading of a log.
pub(in super::super) fn latest(connection: &Connection, log: i64) -> Result<Option<SealedRun>, StoreError> {
    one(connection, "log = ?1 AND kind < 2 AND ended_at IS NOT NULL ORDER BY ended_at DESC", [log])
}

/// Returns the last run of a log that is not deleted.
pub(in super::super) fn last(connection: &Connection, log: i64) -> Result<Option<SealedRun>, StoreError> {
    one(connection, "log = ?1 AND kind < 2 ORDER BY number DESC", [log])
}

/// Returns the position behind the last window of a log that is in a segment.
pub(in super::super) fn position_end(
    connection: &Connection,
    device: &str,
    stream: &str,
) -> Result<u64, StoreError> {
    let Some(log) = log_of(connection, device, stream)? else { return Ok(0) };
    let last = one(connection, "log = ?1 ORDER BY position DESC", [log])?;
    Ok(last.map_or(0, |run| run.position + run.windows))
}

/// Returns sums over a device's windows in segments.
pub(in super::super) fn totals(connection: &Connection, device: &str) -> Result<Sent, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT coalesce(sum(windows), 0), coalesce(sum(bytes), 0), min(started_at), max(ended_at), max(stored_at)
         FROM runs JOIN logs ON logs.id = runs.log WHERE device = ?1 AND kind < 2",
    )?;
    Ok(query.query_row([device], sent::of_row)?)
}
