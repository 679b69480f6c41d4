//! Seals windows: they leave the database for a segment.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use rusqlite::params;
use sotto_wire::{Digest, Envelope, StreamHeader};

use super::super::bodies::Folder;
use super::super::dropped::StoredBytes;
use super::super::error::damaged;
use super::super::held::Sealing;
use super::super::{Store, StoreError, count, now, removal};
use super::build::{Building, make_log};
use super::tree::advance;
use crate::id::Id;
use crate::segment::{Row, Window};

/// Windows of one segment, before it is compacted.
const MOST_WINDOWS: usize = 2048;
/// Bytes of the messages of one segment.
const MOST_BYTES: usize = 4 << 20;
/// Windows and bytes in the database from which on they are sealed, whatever their age.
const SEAL_WINDOWS: u64 = 2048;
const SEAL_BYTES: u64 = 4 << 20;
/// Pieces of windows that are still open stay in the database this long, in milliseconds: their bodies are dropped when the
/// whole window comes.
const PIECES_STAY: i64 = 2 * 86_400_000;

/// A window in the database that a segment will have.
struct Waiting {
    id: Id,
    sequence: i64,
    position: i64,
    stored_at: i64,
    bytes: u64,
    digest: Digest,
    /// The bytes of its message; `None` if that is in a file.
    message: Option<u64>,
}

/// Windows of one stream's header.
struct OfStream {
    header: Arc<StreamHeader>,
    windows: Vec<Waiting>,
}

impl Store {
    /// Locks the segments against each other's changes: one thread at a time replaces them.
    pub(in super::super) fn sealing(&self) -> MutexGuard<'_, ()> {
        self.sealing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Windows that stay in the database when others are sealed.
    fn staying(&self) -> MutexGuard<'_, HashSet<Id>> {
        self.staying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seals windows, then merges small segments. Returns the number of windows that were sealed.
    pub(crate) fn seal(&self, which: Sealing) -> Result<usize, StoreError> {
        let mut sealed = 0;
        if which != Sealing::IfMany {
            // Pieces grow old.
            self.staying().clear();
        }
        loop {
            let (windows, bytes) = (&self.waiting_windows, &self.waiting_bytes);
            let staying = self.staying().len() as u64;
            let few = windows.load(Ordering::Relaxed).saturating_sub(staying) < SEAL_WINDOWS
                && bytes.load(Ordering::Relaxed) < SEAL_BYTES;
            if which == Sealing::IfMany && few {
                break;
            }
            let more = self.seal_some(which)?;
            if more == 0 {
                break;
            }
            sealed += more;
        }
        match self.compact() {
            // They are merged once they are here: `tend_tier` fetches them.
            Err(StoreError::Away(_)) => {}
            compacted => compacted?,
        }
        // While many come, freed pages are used again.
        if sealed > 0 && which != Sealing::IfMany {
            self.shrink()?;
        }
        Ok(sealed)
    }

    /// Counts the windows of sums that are in no segment.
    pub(in super::super) fn count_waiting(&self) -> Result<(), StoreError> {
        let query =
            "SELECT count(*), coalesce(sum(length(message)), 0) FROM envelopes WHERE message IS NOT NULL";
        let (windows, bytes) =
            self.connection().query_row(query, [], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
        self.waiting_windows.store(windows, Ordering::Relaxed);
        self.waiting_bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Gives freed pages of the database back to the file system, and empties the write-ahead log.
    fn shrink(&self) -> Result<(), StoreError> {
        let connection = self.connection();
        for pragma in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            let mut pragma = connection.prepare(pragma)?;
            let mut rows = pragma.query([])?;
            // Each step frees a page.
            while rows.next()?.is_some() {}
        }
        Ok(())
    }

    /// Brings a database of an earlier version into the form in which freed pages go back to the file system.
    pub(crate) fn tidy(&self) -> Result<(), StoreError> {
        let connection = self.connection();
        let mode: i64 = connection.query_row("PRAGMA auto_vacuum", [], |row| row.get(0))?;
        // 2: incremental.
        if mode != 2 {
            connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")?;
        }
        drop(connection);
        self.shrink()
    }

    /// Seals up to [`MOST_WINDOWS`] windows. Returns their number.
    fn seal_some(&self, which: Sealing) -> Result<usize, StoreError> {
        let _sealing = self.sealing();
        let chosen = self.choose()?;
        if chosen.is_empty() {
            return Ok(0);
        }
        let mut building = Building::new(self)?;
        let (mut sealed, mut positions) = (Vec::new(), BTreeMap::new());
        for OfStream { header, windows } in &chosen {
            let (device, stream) = (header.device(), header.stream());
            let log = make_log(&self.connection(), device, stream)?;
            for waiting in windows {
                let Some(window) = self.waiting_window(which, waiting, header)? else {
                    self.staying().insert(waiting.id);
                    continue;
                };
                let last = positions.entry((device, stream)).or_insert(waiting.position);
                *last = waiting.position.max(*last);
                let row = Row {
                    sequence: waiting.sequence.cast_unsigned(),
                    position: waiting.position.cast_unsigned(),
                    bytes: waiting.bytes,
                    stored_at: waiting.stored_at,
                    window,
                };
                building.push((log, device, stream), row)?;
                sealed.push(waiting);
            }
        }
        let Some(built) = building.finish()? else { return Ok(0) };
        self.transaction(|transaction| {
            built.insert(transaction)?;
            for ((device, stream), last) in positions {
                advance(transaction, device, stream, last)?;
            }
            let mut from_log = transaction.prepare_cached("DELETE FROM log WHERE envelope = ?1")?;
            let mut row = transaction.prepare_cached("DELETE FROM envelopes WHERE id = ?1")?;
            for waiting in &sealed {
                from_log.execute([waiting.id])?;
                row.execute([waiting.id])?;
                if waiting.message.is_none() {
                    removal::note(transaction, Folder::Envelopes, &waiting.id.to_string())?;
                }
            }
            Ok(())
        })?;
        let messages = || sealed.iter().filter_map(|waiting| waiting.message);
        self.waiting_windows.fetch_sub(messages().count() as u64, Ordering::Relaxed);
        self.waiting_bytes.fetch_sub(messages().sum(), Ordering::Relaxed);
        if sealed.iter().any(|waiting| waiting.message.is_none()) {
            self.finish_removals()?;
        }
        Ok(sealed.len())
    }

    /// Chooses windows of sums that no segment has, in the order of their streams and numbers.
    fn choose(&self) -> Result<Vec<OfStream>, StoreError> {
        let connection = self.connection();
        let mut tags = connection.prepare_cached(
            "SELECT tag FROM streams WHERE EXISTS (SELECT 1 FROM envelopes WHERE envelopes.device = streams.device
                 AND stream_tag = tag LIMIT 1)",
        )?;
        let tags: Vec<[u8; 8]> = tags.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut headers = Vec::with_capacity(tags.len());
        for tag in tags {
            let header = self.header_of(&connection, sotto_wire::StreamTag(tag))?;
            headers.extend(Some(header).filter(|header| header.is_of_sums()));
        }
        headers.sort_by(|a, b| (a.device(), a.stream()).cmp(&(b.device(), b.stream())));
        let mut select = connection.prepare_cached(
            "SELECT envelopes.id, envelopes.sequence, position, stored_at, bytes, digest, length(message)
             FROM envelopes JOIN log ON log.envelope = envelopes.id
             WHERE envelopes.device = ?1 AND envelopes.stream = ?2 AND stream_tag = ?3
             ORDER BY envelopes.sequence LIMIT ?4",
        )?;
        let (mut chosen, mut windows, mut bytes) = (Vec::<OfStream>::new(), 0, 0_usize);
        for header in headers {
            let mut of_stream = Vec::new();
            let left = MOST_WINDOWS - windows + self.staying().len();
            let of = params![header.device(), header.stream(), header.id().tag().0, left as i64];
            let mut rows = select.query(of)?;
            while let Some(row) = rows.next()? {
                if self.staying().contains(&row.get(0)?) {
                    continue;
                }
                let waiting = Waiting {
                    id: row.get(0)?,
                    sequence: row.get(1)?,
                    position: row.get(2)?,
                    stored_at: row.get(3)?,
                    bytes: count(row, 4)?,
                    digest: row.get(5)?,
                    message: row.get::<_, Option<i64>>(6)?.map(i64::unsigned_abs),
                };
                bytes += waiting.message.unwrap_or(waiting.bytes) as usize;
                of_stream.push(waiting);
                if bytes >= MOST_BYTES || windows + of_stream.len() >= MOST_WINDOWS {
                    break;
                }
            }
            windows += of_stream.len();
            if !of_stream.is_empty() {
                chosen.push(OfStream { header, windows: of_stream });
            }
            if windows >= MOST_WINDOWS || bytes >= MOST_BYTES {
                break;
            }
        }
        Ok(chosen)
    }

    /// Reads a window that is to be sealed. Returns None for one that stays: a young piece, or one that is damaged.
    fn waiting_window(
        &self,
        which: Sealing,
        waiting: &Waiting,
        header: &Arc<StreamHeader>,
    ) -> Result<Option<Window>, StoreError> {
        let stored = match self.checked_bytes(waiting.id, &waiting.digest) {
            Ok(stored) => stored,
            Err(error @ StoreError::Damaged(_)) => {
                tracing::error!(id = %waiting.id, %error, "this window stays out of segments");
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let may_stay = which != Sealing::Everything && waiting.stored_at > now().saturating_sub(PIECES_STAY);
        Ok(match stored {
            StoredBytes::Whole(bytes) => {
                let envelope = Envelope::read_window(&bytes, header).map_err(damaged)?;
                let stays = may_stay && envelope.signed_header().is_provisional();
                Window::whole(&envelope).filter(|_| !stays)
            }
            StoredBytes::Head(head) => Window::head(&head.signed, &head.digest),
        })
    }
}
