//! Logs of streams: the stored windows, in the order in which they were stored. A log only grows: the leaf of a deleted
//! window stays.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{Digest, Frontier, LogItem, SignedHeader};

use super::sealed::{Sealed, frontier, runs};
use super::{Store, StoreError, count};
use crate::id::Id;
use sotto_segment::Kind;

/// Maximum number of logs whose trees are held in memory.
const MOST_HELD: usize = 4096;
/// Bytes of messages after which a page reads no more of them with its rows.
const MOST_READ: usize = 16 << 20;

/// A window in a log, or several in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Logged {
    /// A window that is in no segment, or deleted, or of a group that is not whole.
    Window {
        sequence: i64,
        leaf: Digest,
        /// The envelope; `None` once the owner has deleted it.
        envelope: Option<Id>,
        /// Bytes of the upload; 0 once the window is deleted.
        bytes: i64,
        /// The signed header, of a window in a segment, or whose message is in its row.
        signed: Option<Box<SignedHeader>>,
    },
    /// Windows in a segment, and the bytes of their uploads.
    Item(LogItem, u64),
}

impl Logged {
    /// Returns the number of windows.
    pub(crate) fn windows(&self) -> usize {
        match self {
            Self::Window { .. } => 1,
            Self::Item(item, _) => item.windows(),
        }
    }
}

/// Some windows of a log, and the state of the whole log at that moment.
pub(crate) struct LogPage {
    pub(crate) windows: Vec<Logged>,
    pub(crate) size: u64,
    pub(crate) root: Digest,
}

/// Trees of logs, up to the leaves read so far.
#[derive(Default)]
pub(super) struct Trees(Mutex<HashMap<(String, String), Frontier>>);

/// Appends a window to the log of its stream; returns its position.
pub(super) fn append(connection: &Connection, id: Id, signed: &SignedHeader) -> Result<i64, StoreError> {
    let header = signed.header();
    append_at(connection, id, signed, next_position(connection, &header.device, &header.stream)?)
}

/// Returns the position of the next window of a log.
pub(super) fn next_position(connection: &Connection, device: &str, stream: &str) -> Result<i64, StoreError> {
    let mut next = connection
        .prepare_cached("SELECT coalesce(max(position) + 1, 0) FROM log WHERE device = ?1 AND stream = ?2")?;
    let position: i64 = next.query_row([device, stream], |row| row.get(0))?;
    Ok(position.max(runs::position_end(connection, device, stream)?.cast_signed()))
}

/// Appends a window to the log of its stream at its next position, which is returned.
pub(super) fn append_at(
    connection: &Connection,
    id: Id,
    signed: &SignedHeader,
    position: i64,
) -> Result<i64, StoreError> {
    let (header, leaf) = (signed.header(), signed.leaf());
    let mut insert = connection.prepare_cached(
        "INSERT INTO log (device, stream, position, sequence, leaf, envelope) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.execute(params![header.device, header.stream, position, header.sequence as i64, leaf, id])?;
    Ok(position)
}

/// Returns the position of a stored window that is sent again. Appends a window that is in no log because its body was
/// missing when logs were completed.
pub(super) fn position(connection: &Connection, id: Id, signed: &SignedHeader) -> Result<i64, StoreError> {
    let mut query = connection.prepare_cached("SELECT position FROM log WHERE envelope = ?1")?;
    match query.query_row([id], |row| row.get(0)).optional()? {
        Some(position) => Ok(position),
        None => append(connection, id, signed),
    }
}

/// Keeps the place of a window that is lost in its log, under a leaf of zeros. Its device may send it again.
pub(super) fn note_lost(
    connection: &Connection,
    (device, stream): (&str, &str),
    position: u64,
    number: u64,
) -> Result<(), StoreError> {
    tracing::error!(device, stream, position, "the window at this position of the log is lost");
    connection.execute(
        "INSERT INTO log (device, stream, position, sequence, leaf, envelope) VALUES (?1, ?2, ?3, ?4, zeroblob(32), NULL)",
        params![device, stream, position.cast_signed(), number.cast_signed()],
    )?;
    Ok(())
}

impl Store {
    /// Appends windows without a leaf to their logs: those stored by an older version, and those whose rows were
    /// rebuilt. Returns their number.
    ///
    /// The order is that of their sequence numbers, in which devices send them: so the log of a rebuilt database mostly
    /// equals the old one.
    pub(super) fn complete_logs(&self) -> Result<usize, StoreError> {
        let missing: Vec<Id> = {
            let connection = self.connection();
            let mut query = connection.prepare(
                "SELECT id FROM envelopes WHERE NOT EXISTS (SELECT 1 FROM log WHERE envelope = envelopes.id)
                 ORDER BY device, stream, sequence",
            )?;
            query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for some in missing.chunks(256) {
            let read = |id: &Id| match self.signed(*id) {
                Ok(signed) => Some((*id, signed)),
                Err(error) => {
                    tracing::error!(%id, %error, "this envelope is in no log: it cannot be read");
                    None
                }
            };
            let windows: Vec<(Id, SignedHeader)> = some.iter().filter_map(read).collect();
            self.transaction(|transaction| {
                windows.iter().try_for_each(|(id, signed)| append(transaction, *id, signed).map(drop))
            })?;
        }
        Ok(missing.len())
    }

    /// Returns windows of a log from a position on, and the state of the log.
    pub(crate) fn log(
        &self,
        device: &str,
        stream: &str,
        from: u64,
        limit: usize,
    ) -> Result<LogPage, StoreError> {
        let connection = self.connection();
        let (size, root) = self.trees.state(&connection, device, stream)?;
        let mut sealed = self.sealed_log(&connection, device, stream, from, limit)?;
        let mut query = connection.prepare_cached(
            "SELECT log.sequence, leaf, envelope, coalesce(bytes, 0), position, digest, message
             FROM log LEFT JOIN envelopes ON envelopes.id = envelope
             WHERE log.device = ?1 AND log.stream = ?2 AND position >= ?3 ORDER BY position LIMIT ?4",
        )?;
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let mut rows = query.query(params![device, stream, from, limit as i64])?;
        let mut read = 0;
        while let Some(row) = rows.next()? {
            let (sequence, leaf, envelope, bytes) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let signed = match (envelope, row.get::<_, Option<Vec<u8>>>(6)?) {
                (Some(id), Some(message)) if read < MOST_READ => {
                    read += message.len();
                    self.signed_in_row(&connection, id, &row.get(5)?, message).map(Box::new)
                }
                _ => None,
            };
            sealed.push((count(row, 4)?, Logged::Window { sequence, leaf, envelope, bytes, signed }));
        }
        sealed.sort_by_key(|(position, _)| *position);
        let mut left = limit;
        let fits = |window: &Logged| {
            let fits = window.windows() <= left;
            left = left.saturating_sub(window.windows());
            fits
        };
        let windows = sealed.into_iter().map(|(_, window)| window).take_while(fits).collect();
        Ok(LogPage { windows, size, root })
    }

    /// Returns windows of a log in segments from a position on, with their positions.
    fn sealed_log(
        &self,
        connection: &Connection,
        device: &str,
        stream: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Logged)>, StoreError> {
        let (mut found, mut from, mut left) = (Vec::new(), from, limit);
        let Some(log) = runs::log_of(connection, device, stream)? else { return Ok(found) };
        while left > 0
            && let Some(run) = runs::run_of_position(connection, log, from)?
        {
            let mut position = from.max(run.position);
            from = run.position + run.windows;
            let open = self.open_run(connection, &run, true);
            let open = open.map_err(|error| error.of_windows(stream, run.number, run.end() - 1))?;
            while position < from && left > 0 {
                let sealed = open.at(run.number + (position - run.position))?;
                let most = left.min(usize::try_from(from - position).unwrap_or(usize::MAX));
                let logged = match sealed.item(most)? {
                    Some((item, bytes)) => Logged::Item(item, bytes),
                    None => entry(&sealed)?,
                };
                let windows = logged.windows();
                found.push((position, logged));
                (position, left) = (position + windows as u64, left - windows.min(left));
            }
        }
        Ok(found)
    }
}

/// Returns the entry of a window in a segment.
fn entry(sealed: &Sealed) -> Result<Logged, StoreError> {
    let sequence = sealed.sequence().cast_signed();
    if sealed.kind() == Kind::Deleted {
        let leaf = sealed.leaf()?;
        return Ok(Logged::Window { sequence, leaf, envelope: None, bytes: 0, signed: None });
    }
    let (signed, bytes) = (sealed.signed()?, sealed.counted_bytes().cast_signed());
    let (leaf, envelope) = (signed.leaf(), sealed.id());
    Ok(Logged::Window { sequence, leaf, envelope, bytes, signed: Some(Box::new(signed)) })
}

impl Trees {
    /// Returns the size and the root of a log. Reads only the leaves added since the last call.
    fn state(
        &self,
        connection: &Connection,
        device: &str,
        stream: &str,
    ) -> Result<(u64, Digest), StoreError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= MOST_HELD {
            held.clear();
        }
        let kept = frontier(connection, device, stream)?;
        let tree = held.entry((device.to_owned(), stream.to_owned())).or_default();
        if tree.size() < kept.size() {
            // The rows of these leaves are gone.
            *tree = kept;
        }
        let mut query = connection.prepare_cached(
            "SELECT leaf FROM log WHERE device = ?1 AND stream = ?2 AND position >= ?3 ORDER BY position",
        )?;
        let mut rows = query.query(params![device, stream, tree.size() as i64])?;
        while let Some(row) = rows.next()? {
            tree.push(row.get(0)?);
        }
        Ok((tree.size(), tree.root()))
    }
}
