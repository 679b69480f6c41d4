//! Quotas of a device: stored bytes, and envelopes a minute.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use sotto_api::reason;
use sotto_wire::{SignedHeader, StreamTag};

use crate::problem::Problem;
use crate::store::{Store, StoreError};

/// Maximum number of devices counted in memory. Beyond it, all counts are dropped and read again from the store.
const MOST_DEVICES: usize = 10_000;
/// Maximum number of streams of a device whose last span is known.
const MOST_STREAMS: usize = 64;
const MINUTE: f64 = 60.0;

/// The quotas of every device, and their current use.
pub(crate) struct Quotas {
    /// Bytes that a device may have in the store; 0 is no limit.
    most_bytes: u64,
    /// Envelopes that a device may send a minute; 0 is no limit.
    rate: u64,
    devices: Mutex<HashMap<String, Used>>,
}

struct Used {
    bytes: u64,
    /// Envelopes that the device may send now. Grows with time up to the rate per minute; negative after a group larger
    /// than that.
    allowance: f64,
    at: Instant,
    /// By stream, the last span with pieces, and how many more of it count nothing.
    pieces: HashMap<StreamTag, (i64, u32)>,
}

/// A piece of a window that is still open. Those of one span count once, as the window does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    stream: StreamTag,
    /// The span of its window, as far as a cloud can tell it: the time in units of the longest window.
    span: i64,
    /// Ticks of a window: no more pieces have a tick of their own.
    ticks: u32,
}

impl Piece {
    /// Returns the piece that an upload is; `None` for another window.
    pub(crate) fn of(signed: &SignedHeader) -> Option<Self> {
        let stream = signed.stream().filter(|_| signed.is_provisional())?;
        let ticks = stream.layout().ticks();
        let longest = stream.period().after(ticks.into()).max(1);
        let start = signed.description()?.start;
        Some(Self { stream: stream.id().tag(), span: start.div_euclid(longest), ticks })
    }
}

/// Returns true if an envelope counts.
fn counts(pieces: &mut HashMap<StreamTag, (i64, u32)>, envelope: Option<Piece>) -> bool {
    let Some(Piece { stream, span, ticks }) = envelope else { return true };
    if pieces.len() >= MOST_STREAMS && !pieces.contains_key(&stream) {
        pieces.clear();
    }
    match pieces.get_mut(&stream) {
        Some((known, left)) if *known == span && *left > 0 => {
            *left -= 1;
            false
        }
        _ => {
            pieces.insert(stream, (span, ticks));
            true
        }
    }
}

impl Quotas {
    /// Counts from now on: at most `most_bytes` stored bytes and `rate` envelopes a minute per device, 0 for no limit.
    pub(crate) fn new(most_bytes: u64, rate: u64) -> Self {
        Self { most_bytes, rate, devices: Mutex::default() }
    }

    /// Returns true if a device has room for these bytes, even if none of them is stored already, and no rate is limited.
    pub(crate) fn have_room(&self, store: &Store, device: &str, bytes: u64) -> Result<bool, StoreError> {
        if self.rate > 0 {
            return Ok(false);
        }
        if self.most_bytes == 0 {
            return Ok(true);
        }
        self.know(store, device)?;
        Ok(self.are_known_to_have_room(device, bytes))
    }

    /// Like [`Quotas::have_room`], without the store: returns false for a device whose bytes are not known.
    pub(crate) fn are_known_to_have_room(&self, device: &str, bytes: u64) -> bool {
        let has_room = |used: &Used| used.bytes.saturating_add(bytes) <= self.most_bytes;
        self.rate == 0 && (self.most_bytes == 0 || self.devices().get(device).is_some_and(has_room))
    }

    /// Reads a device's stored bytes, unless they are known.
    fn know(&self, store: &Store, device: &str) -> Result<(), StoreError> {
        if self.devices().contains_key(device) {
            return Ok(());
        }
        let stored = store.stored_bytes(device)?;
        let mut devices = self.devices();
        if devices.len() >= MOST_DEVICES {
            devices.clear();
        }
        let pieces = HashMap::new();
        let used = Used { bytes: stored, allowance: self.rate as f64, at: Instant::now(), pieces };
        devices.entry(device.to_owned()).or_insert(used);
        Ok(())
    }

    /// Refuses envelopes that together would exceed a quota; the device keeps them and tries again. A group larger than
    /// the rate per minute is accepted if the allowance is full, and delays the next one accordingly.
    pub(crate) fn admit(
        &self,
        store: &Store,
        device: &str,
        bytes: u64,
        envelopes: &[Option<Piece>],
    ) -> Result<(), Problem> {
        let (most_bytes, rate) = (self.most_bytes, self.rate);
        if most_bytes == 0 && rate == 0 {
            return Ok(());
        }
        self.know(store, device)?;
        let mut devices = self.devices();
        let Some(used) = devices.get_mut(device) else { return Ok(()) };
        if most_bytes > 0 && used.bytes.saturating_add(bytes) > most_bytes {
            let detail = format!(
                "device {device} has {} of its {most_bytes} bytes (`device_bytes`): the owner deletes with `sotto forget`",
                used.bytes
            );
            return Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, reason::DEVICE_QUOTA, detail));
        }
        if rate > 0 {
            let earned = used.at.elapsed().as_secs_f64() / MINUTE * rate as f64;
            used.allowance = (used.allowance + earned).min(rate as f64);
            used.at = Instant::now();
            let mut pieces = used.pieces.clone();
            let envelopes =
                envelopes.iter().filter(|envelope| counts(&mut pieces, **envelope)).count() as f64;
            if used.allowance < envelopes.min(rate as f64) {
                let detail = format!("device {device} may send {rate} envelopes a minute (`device_rate`)");
                return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, reason::DEVICE_RATE, detail));
            }
            used.allowance -= envelopes;
            used.pieces = pieces;
        }
        Ok(())
    }

    /// Counts the bytes of a stored envelope.
    pub(crate) fn stored(&self, device: &str, bytes: u64) {
        if let Some(used) = self.devices().get_mut(device) {
            used.bytes = used.bytes.saturating_add(bytes);
        }
    }

    /// Reads a device's stored bytes again, as bodies were dropped.
    pub(crate) fn count_again(&self, store: &Store, device: &str) -> Result<(), StoreError> {
        if !self.devices().contains_key(device) {
            return Ok(());
        }
        let stored = store.stored_bytes(device)?;
        if let Some(used) = self.devices().get_mut(device) {
            used.bytes = stored;
        }
        Ok(())
    }

    /// Drops a device's counts; they are read again at its next envelope.
    pub(crate) fn forget(&self, device: &str) {
        self.devices().remove(device);
    }

    fn devices(&self) -> MutexGuard<'_, HashMap<String, Used>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
