//! Chooses the windows in the database that the next segment will have.

use std::mem;
use std::sync::Arc;

use rusqlite::{Connection, params};
use sotto_wire::{Digest, StreamHeader};

use super::super::{Store, StoreError, count};
use super::build::make_log;
use crate::id::Id;

/// Windows of one segment, before it is compacted.
const MOST_WINDOWS: usize = 4096;
/// Bytes of the messages of one segment.
const MOST_BYTES: usize = 4 << 20;

/// A window in the database that a segment will have.
pub(super) struct Waiting {
    pub(super) id: Id,
    pub(super) sequence: i64,
    pub(super) position: i64,
    pub(super) stored_at: i64,
    pub(super) bytes: u64,
    pub(super) digest: Digest,
    pub(super) message: Message,
}

/// The message of a window that waits.
pub(super) enum Message {
    File,
    Row(Vec<u8>),
    /// It was in the row, and is in the segment that is being written.
    Moved(usize),
}

impl Message {
    /// Takes the bytes of a message in a row, and keeps their number.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let Self::Row(bytes) = self else { return None };
        let bytes = mem::take(bytes);
        *self = Self::Moved(bytes.len());
        Some(bytes)
    }

    /// Returns its length; `None` if it is in a file.
    pub(super) fn row_bytes(&self) -> Option<usize> {
        match self {
            Self::File => None,
            Self::Row(bytes) => Some(bytes.len()),
            Self::Moved(bytes) => Some(*bytes),
        }
    }
}

/// Windows of one stream's header.
pub(super) struct OfStream {
    /// The number of its log.
    pub(super) log: i64,
    pub(super) header: Arc<StreamHeader>,
    pub(super) windows: Vec<Waiting>,
}

impl Store {
    /// Chooses windows of sums that no segment has, in the order of their streams and numbers. Reads their messages at once:
    /// uploads hold the connection most of the time.
    pub(super) fn choose(&self) -> Result<Vec<OfStream>, StoreError> {
        let mut connection = self.connection();
        // One commit for the rows of all new logs, and none if there are no new ones.
        let transaction = connection.transaction()?;
        let chosen = self.choose_in(&transaction)?;
        transaction.commit()?;
        Ok(chosen)
    }

    fn choose_in(&self, connection: &Connection) -> Result<Vec<OfStream>, StoreError> {
        let mut tags = connection.prepare_cached(
            "SELECT tag FROM streams WHERE EXISTS (SELECT 1 FROM envelopes WHERE envelopes.device = streams.device
                 AND stream_tag = tag LIMIT 1)",
        )?;
        let tags: Vec<[u8; 8]> = tags.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut headers = Vec::with_capacity(tags.len());
        for tag in tags {
            let header = self.header_of(connection, sotto_wire::StreamTag(tag))?;
            headers.extend(Some(header).filter(|header| header.is_of_sums()));
        }
        headers.sort_by(|a, b| (a.device(), a.stream()).cmp(&(b.device(), b.stream())));
        let mut select = connection.prepare_cached(
            "SELECT envelopes.id, envelopes.sequence, position, stored_at, bytes, digest, message
             FROM envelopes JOIN log ON log.envelope = envelopes.id
             WHERE envelopes.device = ?1 AND envelopes.stream = ?2 AND stream_tag = ?3
             ORDER BY envelopes.sequence LIMIT ?4",
        )?;
        let staying = self.staying();
        let (mut chosen, mut windows, mut bytes) = (Vec::<OfStream>::new(), 0, 0_usize);
        for header in headers {
            let mut of_stream = Vec::new();
            let left = MOST_WINDOWS - windows + staying.len();
            let of = params![header.device(), header.stream(), header.id().tag().0, left as i64];
            let mut rows = select.query(of)?;
            while let Some(row) = rows.next()? {
                if staying.contains(&row.get(0)?) {
                    continue;
                }
                let waiting = Waiting {
                    id: row.get(0)?,
                    sequence: row.get(1)?,
                    position: row.get(2)?,
                    stored_at: row.get(3)?,
                    bytes: count(row, 4)?,
                    digest: row.get(5)?,
                    message: row.get::<_, Option<_>>(6)?.map_or(Message::File, Message::Row),
                };
                bytes += waiting.message.row_bytes().unwrap_or(waiting.bytes as usize);
                of_stream.push(waiting);
                if bytes >= MOST_BYTES || windows + of_stream.len() >= MOST_WINDOWS {
                    break;
                }
            }
            windows += of_stream.len();
            if !of_stream.is_empty() {
                let log = make_log(connection, header.device(), header.stream())?;
                chosen.push(OfStream { log, header, windows: of_stream });
            }
            if windows >= MOST_WINDOWS || bytes >= MOST_BYTES {
                break;
            }
        }
        Ok(chosen)
    }
}

/// Deletes the rows of windows of a stream: at once those whose ids and positions each follow each other.
pub(super) fn delete_rows(
    connection: &Connection,
    (device, stream): (&str, &str),
    windows: &[Waiting],
) -> Result<(), StoreError> {
    let mut logged = connection
        .prepare_cached("DELETE FROM log WHERE device = ?1 AND stream = ?2 AND position BETWEEN ?3 AND ?4")?;
    let mut rows = connection.prepare_cached("DELETE FROM envelopes WHERE id BETWEEN ?1 AND ?2")?;
    let number = |id: Id| u128::from_be_bytes(id.0);
    let follow = |one: &Waiting, next: &Waiting| {
        number(one.id).checked_add(1) == Some(number(next.id)) && one.position + 1 == next.position
    };
    for run in windows.chunk_by(follow) {
        if let [first, ..] = run
            && let [.., last] = run
        {
            logged.execute(params![device, stream, first.position, last.position])?;
            rows.execute(params![first.id, last.id])?;
        }
    }
    Ok(())
}
