//! Trees of logs whose windows are in segments.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{Digest, Frontier};

use super::super::{Store, StoreError, count};
use super::runs;

/// Advances the tree of a log over the leaves up to a position, before their rows go.
pub(super) fn advance(
    connection: &Connection,
    device: &str,
    stream: &str,
    last: i64,
) -> Result<(), StoreError> {
    let mut tree = frontier(connection, device, stream)?;
    let mut query = connection.prepare_cached(
        "SELECT position, leaf FROM log WHERE device = ?1 AND stream = ?2 AND position BETWEEN ?3 AND ?4
         ORDER BY position",
    )?;
    let mut rows = query.query(params![device, stream, tree.size().cast_signed(), last])?;
    while let Some(row) = rows.next()? {
        let position = count(row, 0)?;
        if position != tree.size() {
            return Err(StoreError::Damaged(format!("the log of stream {stream} of {device} has a hole")));
        }
        tree.push(row.get(1)?);
    }
    keep_frontier(connection, device, stream, &tree)
}

/// Stores the tree of the first leaves of a log.
pub(super) fn keep_frontier(
    connection: &Connection,
    device: &str,
    stream: &str,
    tree: &Frontier,
) -> Result<(), StoreError> {
    let mut update = connection
        .prepare_cached("UPDATE logs SET size = ?3, frontier = ?4 WHERE device = ?1 AND stream = ?2")?;
    update.execute(params![device, stream, tree.size().cast_signed(), tree.peaks().concat()])?;
    Ok(())
}

/// Returns the tree of the first leaves of a log: at least those whose windows are in segments.
pub(in super::super) fn frontier(
    connection: &Connection,
    device: &str,
    stream: &str,
) -> Result<Frontier, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT size, frontier FROM logs WHERE device = ?1 AND stream = ?2")?;
    let found: Option<(u64, Vec<u8>)> =
        query.query_row([device, stream], |row| Ok((count(row, 0)?, row.get(1)?))).optional()?;
    let Some((size, peaks)) = found else { return Ok(Frontier::default()) };
    let (peaks, rest) = peaks.as_chunks::<32>();
    let tree = Frontier::from_peaks(size, peaks.to_vec()).filter(|_| rest.is_empty());
    tree.ok_or_else(|| StoreError::Damaged(format!("the tree of stream {stream} of {device} is damaged")))
}

/// Returns the leaves that rows of a log have, by their positions.
pub(in super::super) fn logged_leaves(
    connection: &Connection,
    device: &str,
    stream: &str,
    positions: &Range<u64>,
) -> Result<BTreeMap<u64, Digest>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT position, leaf FROM log WHERE device = ?1 AND stream = ?2 AND position >= ?3 AND position < ?4",
    )?;
    let [from, to] =
        [positions.start, positions.end].map(|position| i64::try_from(position).unwrap_or(i64::MAX));
    let rows = query.query_map(params![device, stream, from, to], |row| Ok((count(row, 0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Store {
    /// Passes the leaves at some positions of a log to `take`, in order; `None` for one that is nowhere. Ends when it returns
    /// false.
    pub(in super::super) fn walk_leaves(
        &self,
        connection: &Connection,
        (device, stream): (&str, &str),
        positions: Range<u64>,
        mut take: impl FnMut(u64, Option<Digest>) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let log = runs::log_of(connection, device, stream)?;
        let logged = logged_leaves(connection, device, stream, &positions)?;
        let mut at = positions.start;
        while at < positions.end {
            let run = log.map(|log| runs::run_of_position(connection, log, at)).transpose()?.flatten();
            let Some(run) = run.filter(|run| run.position <= at) else {
                if !take(at, logged.get(&at).copied())? {
                    return Ok(());
                }
                at += 1;
                continue;
            };
            let open = self.open_run(connection, &run, true)?;
            let end = positions.end.min(run.position + run.windows);
            while at < end {
                let leaf = open.at(run.number + (at - run.position))?.leaf()?;
                if !take(at, Some(leaf))? {
                    return Ok(());
                }
                at += 1;
            }
        }
        Ok(())
    }
}
