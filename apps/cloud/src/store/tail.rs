//! The ends of streams, so that a window that comes in order is compared with nothing else.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{MaskName, SignedHeader};

use super::sealed::runs;
use super::{StoreError, forget, log};

/// Maximum number of streams whose ends are held in memory.
const MOST_HELD: usize = 4096;

/// The end of a stream of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// The highest number of a window.
    last: Option<u64>,
    /// The position of the next window in the log.
    next_position: i64,
    /// The time of the latest reading.
    latest: Option<i64>,
    /// Windows that ended before this time are refused.
    forgotten_until: Option<i64>,
    /// The salt of the last window, and the highest number of pads under it; `None` where the database has to be read.
    pads: Option<MaskName>,
}

/// The ends of streams of which windows were stored.
#[derive(Default)]
pub(super) struct Tails(Mutex<HashMap<(String, String), Tail>>);

impl Tails {
    fn held(&self) -> MutexGuard<'_, HashMap<(String, String), Tail>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the end of the stream of a window.
    pub(super) fn of(&self, connection: &Connection, signed: &SignedHeader) -> Result<Tail, StoreError> {
        let header = signed.header();
        let name = (header.device.clone(), header.stream.clone());
        if let Some(tail) = self.held().get(&name) {
            return Ok(tail.clone());
        }
        read(connection, &name.0, &name.1)
    }

    /// Holds the end of a stream. To be called while the transaction is open that made it so.
    pub(super) fn keep(&self, signed: &SignedHeader, tail: Tail) {
        let header = signed.header();
        let mut held = self.held();
        if tail.pads.is_none() {
            held.remove(&(header.device.clone(), header.stream.clone()));
            return;
        }
        if held.len() >= MOST_HELD {
            held.clear();
        }
        held.insert((header.device.clone(), header.stream.clone()), tail);
    }

    /// Forgets all: a transaction failed, or windows were deleted.
    pub(super) fn clear(&self) {
        self.held().clear();
    }
}

impl Tail {
    /// Returns true if a window comes behind all others of its stream: by its number, its pads, and its time. It is new then,
    /// and has no tick in common with another one.
    pub(super) fn is_before(&self, signed: &SignedHeader) -> bool {
        let header = signed.header();
        let pads = || {
            let (last, own) = (self.pads?, signed.mask()?);
            (last.salt == own.salt && last.sequence < own.sequence).then_some(())
        };
        self.last.is_some_and(|last| last < header.sequence)
            && self.latest.is_some_and(|latest| latest < header.started_at)
            && self.forgotten_until.is_none_or(|until| until <= header.ended_at)
            && pads().is_some()
    }

    pub(super) fn next_position(&self) -> i64 {
        self.next_position
    }

    /// Counts a window that is stored.
    pub(super) fn add(&mut self, signed: &SignedHeader) {
        let header = signed.header();
        self.last = self.last.max(Some(header.sequence));
        self.next_position += 1;
        if header.readings > 0 {
            self.latest = self.latest.max(Some(header.ended_at));
        }
        self.pads = match (self.pads, signed.mask()) {
            (Some(pads), Some(own)) if pads.salt == own.salt => {
                Some(MaskName { sequence: pads.sequence.max(own.sequence), ..pads })
            }
            // Under another salt a window may be stored with a higher number: the database is read again.
            _ => None,
        };
    }
}

/// Reads the end of a stream from the database.
fn read(connection: &Connection, device: &str, stream: &str) -> Result<Tail, StoreError> {
    let mut last = connection.prepare_cached(
        "SELECT sequence, mask FROM envelopes WHERE device = ?1 AND stream = ?2 ORDER BY sequence DESC LIMIT 1",
    )?;
    let last: Option<(i64, Option<Vec<u8>>)> =
        last.query_row([device, stream], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let mut latest = connection.prepare_cached(
        "SELECT ended_at FROM envelopes WHERE device = ?1 AND stream = ?2 AND readings > 0
         ORDER BY ended_at DESC LIMIT 1",
    )?;
    let latest: Option<i64> = latest.query_row([device, stream], |row| row.get(0)).optional()?;
    let mut tail = Tail {
        last: last.as_ref().map(|(sequence, _)| sequence.cast_unsigned()),
        next_position: log::next_position(connection, device, stream)?,
        latest,
        forgotten_until: forget::forgotten(connection, device, stream)?.map(|forgotten| forgotten.until),
        pads: None,
    };
    let mut pads = last.and_then(|(_, mask)| mask_of(&mask?));
    if let Some(log) = runs::log_of(connection, device, stream)? {
        let run = runs::last(connection, log)?;
        if let Some(run) = run.filter(|run| tail.last.is_none_or(|last| last < run.end() - 1)) {
            tail.last = Some(run.end() - 1);
            pads = Some(MaskName { sequence: run.pads.sequence + (run.windows - 1), ..run.pads });
        }
        let latest = runs::latest(connection, log)?;
        tail.latest = tail.latest.max(latest.and_then(|run| run.times).map(|(_, last)| last));
        if let Some(found) = pads {
            let highest = runs::last_pad(connection, log, &found.salt)?;
            pads = pads.map(|pads| MaskName {
                sequence: highest.map_or(pads.sequence, |highest| highest.max(pads.sequence)),
                ..pads
            });
        }
    }
    if let Some(found) = pads {
        let mut query = connection.prepare_cached(
            "SELECT max(mask) FROM envelopes WHERE device = ?1 AND stream = ?2 AND mask BETWEEN ?3 AND ?4",
        )?;
        let bound = |byte: u8| [&found.salt[..], &[byte; 8]].concat();
        let highest: Option<Vec<u8>> =
            query.query_row(params![device, stream, bound(0), bound(0xff)], |row| row.get(0))?;
        let highest = highest.and_then(|mask| mask_of(&mask)).map_or(0, |mask| mask.sequence);
        tail.pads = Some(MaskName { sequence: found.sequence.max(highest), ..found });
    }
    Ok(tail)
}

/// Reads a mask as rows have it.
fn mask_of(bytes: &[u8]) -> Option<MaskName> {
    let (salt, sequence) = bytes.split_first_chunk::<12>()?;
    Some(MaskName { salt: *salt, sequence: u64::from_be_bytes(sequence.try_into().ok()?) })
}
