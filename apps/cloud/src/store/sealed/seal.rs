//! Seals windows: they leave the database for a segment.

use std::collections::HashSet;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use sotto_wire::{Envelope, StreamHeader};

use super::super::bodies::Folder;
use super::super::dropped::{StoredBytes, of_message};
use super::super::error::damaged;
use super::super::held::Sealing;
use super::super::stored::checked;
use super::super::{Store, StoreError, count, now, removal};
use super::blocks::name_of;
use super::build::{Building, Built};
use super::choose::{OfStream, Waiting, delete_rows};
use super::tree::advance;
use crate::id::Id;
use sotto_segment::{Row, Window};

/// Windows and bytes in the database from which on they are sealed, whatever their age.
const SEAL_WINDOWS: u64 = 2048;
const SEAL_BYTES: u64 = 4 << 20;
/// Pieces of windows that are still open stay in the database this long, in milliseconds: their bodies are dropped when the
/// whole window comes.
const PIECES_STAY: i64 = 2 * 86_400_000;

/// A segment that no row names yet.
pub(super) struct Written {
    built: Built,
    chosen: Vec<OfStream>,
    /// Its windows whose bodies may be dropped.
    pieces: Vec<Id>,
}

impl Store {
    /// Locks the segments against each other's changes: one thread at a time replaces them.
    pub(in super::super) fn sealing(&self) -> MutexGuard<'_, ()> {
        self.sealing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Windows that stay in the database when others are sealed.
    pub(super) fn staying(&self) -> MutexGuard<'_, HashSet<Id>> {
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
        let of_before = if which == Sealing::IfMany { Ok(()) } else { self.settle_roll_ups() };
        match of_before.and_then(|()| self.compact()) {
            // They are brought over or merged once they are here: `tend_tier` fetches them.
            Err(StoreError::Away(_)) => {}
            compacted => compacted?,
        }
        // While many come, freed pages are used again. Earlier calls may have freed some.
        if which != Sealing::IfMany {
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

    /// Seals windows of one segment. Returns their number.
    fn seal_some(&self, which: Sealing) -> Result<usize, StoreError> {
        let _sealing = self.sealing();
        loop {
            let Some(written) = self.write_some(which)? else { return Ok(0) };
            // Bodies are dropped while the segment is written: each at most once.
            if let Some(sealed) = self.name_some(written)? {
                return Ok(sealed);
            }
        }
    }

    /// Chooses windows of one segment, and writes it.
    pub(super) fn write_some(&self, which: Sealing) -> Result<Option<Written>, StoreError> {
        let mut chosen = self.choose()?;
        if chosen.is_empty() {
            return Ok(None);
        }
        let (mut building, mut pieces) = (Building::new(self)?, Vec::new());
        for OfStream { log, header, windows } in &mut chosen {
            let (device, stream) = (header.device(), header.stream());
            let mut sealed = Vec::with_capacity(windows.len());
            for mut waiting in mem::take(windows) {
                let Some((window, is_piece)) = self.waiting_window(which, &mut waiting, header)? else {
                    self.staying().insert(waiting.id);
                    continue;
                };
                pieces.extend(is_piece.then_some(waiting.id));
                let row = Row {
                    sequence: waiting.sequence.cast_unsigned(),
                    position: waiting.position.cast_unsigned(),
                    bytes: waiting.bytes,
                    stored_at: waiting.stored_at,
                    window,
                };
                building.push((*log, device, stream), row)?;
                sealed.push(waiting);
            }
            *windows = sealed;
        }
        Ok(building.finish()?.map(|built| Written { built, chosen, pieces }))
    }

    /// Puts a segment into the catalogue and takes the rows of its windows out. Returns their number; None, and leaves no file, if
    /// the body of one was dropped after it was chosen.
    pub(super) fn name_some(
        &self,
        Written { built, chosen, pieces }: Written,
    ) -> Result<Option<usize>, StoreError> {
        let of_file = |waiting: &&Waiting| waiting.message.row_bytes().is_none();
        let digest = built.digest;
        let is_named = self.transaction(|transaction| {
            for piece in pieces {
                if matches!(self.stored_bytes_on(transaction, piece)?, StoredBytes::Head(_)) {
                    return Ok(false);
                }
            }
            built.insert(transaction)?;
            for OfStream { header, windows, .. } in &chosen {
                let of = (header.device(), header.stream());
                let Some(last) = windows.iter().map(|waiting| waiting.position).max() else { continue };
                advance(transaction, of.0, of.1, last)?;
                delete_rows(transaction, of, windows)?;
                for waiting in windows.iter().filter(of_file) {
                    removal::note(transaction, Folder::Envelopes, &waiting.id.to_string())?;
                }
            }
            Ok(true)
        })?;
        if !is_named {
            self.bodies.remove(Folder::Segments, &name_of(&digest));
            return Ok(None);
        }
        let sealed = || chosen.iter().flat_map(|of_stream| &of_stream.windows);
        let messages = || sealed().filter_map(|waiting| waiting.message.row_bytes());
        self.waiting_windows.fetch_sub(messages().count() as u64, Ordering::Relaxed);
        self.waiting_bytes.fetch_sub(messages().sum::<usize>() as u64, Ordering::Relaxed);
        if sealed().any(|waiting| of_file(&waiting)) {
            self.finish_removals()?;
        }
        Ok(Some(sealed().count()))
    }

    /// Reads a window that is to be sealed. Returns None for one that stays: a young piece, or one that is damaged; else also true for
    /// a piece with its body, which may be dropped.
    fn waiting_window(
        &self,
        which: Sealing,
        waiting: &mut Waiting,
        header: &Arc<StreamHeader>,
    ) -> Result<Option<(Window, bool)>, StoreError> {
        let stored = match waiting.message.take() {
            Some(bytes) => checked(waiting.id, &waiting.digest, of_message(bytes, header)?),
            None => self.checked_bytes(waiting.id, &waiting.digest),
        };
        let stored = match stored {
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
                let is_piece = envelope.signed_header().is_provisional();
                Window::whole(&envelope).filter(|_| !(may_stay && is_piece)).map(|window| (window, is_piece))
            }
            StoredBytes::Head(head) => {
                Window::head(&head.signed, &head.digest, &[]).map(|window| (window, false))
            }
        })
    }
}
