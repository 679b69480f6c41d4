//! The contents of a spool, for people. Read from its folder; works while an agent uses it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::SpoolError;
use super::folder::{REFUSED, entries};
use super::refusals::document;
use super::sent::Sent;
use super::state::Known;
use super::totals::Totals;

/// Maximum number of refused messages listed; all are counted.
const MOST_LISTED: usize = 1000;

/// The contents of a spool.
#[derive(Clone, Debug, PartialEq)]
pub struct Inventory {
    /// The device; `None` before its first run.
    pub device: Option<String>,
    /// Messages that the cloud has not confirmed.
    pub waiting: u64,
    /// Bytes of the waiting messages.
    pub waiting_bytes: u64,
    /// Number of messages that the cloud has refused.
    pub refused: u64,
    /// The newest 1,000 refused messages.
    pub refusals: Vec<RefusedMessage>,
    /// Streams by name.
    pub streams: BTreeMap<String, StreamInventory>,
}

/// A message that the cloud has refused.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusedMessage {
    /// The message's stream.
    pub stream: String,
    /// The message's sequence number.
    pub sequence: u64,
    /// Bytes of the message's file.
    pub bytes: u64,
    /// The content of its document, `{status, problem}`; null if there is none.
    pub reason: Value,
}

/// The state of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamInventory {
    /// The next sequence number.
    pub next: u64,
    /// The ticks that are sent.
    pub sent: Sent,
    /// Messages of the stream that the cloud has not confirmed.
    pub waiting: u64,
    /// The sum over all windows that were put into the spool.
    pub totals: Totals,
}

impl Inventory {
    /// Reads a folder without locking it. A missing folder counts as a spool before its first run.
    ///
    /// # Errors
    /// [`SpoolError`] if the folder cannot be read or its state is damaged.
    pub fn read(folder: &Path) -> Result<Self, SpoolError> {
        let mut inventory = Self {
            device: None,
            waiting: 0,
            waiting_bytes: 0,
            refused: 0,
            refusals: Vec::new(),
            streams: BTreeMap::new(),
        };
        if !folder.exists() {
            return Ok(inventory);
        }
        // List messages before reading the state, so that the state counts one that is added meanwhile.
        let waiting = entries(folder)?;
        let aside = folder.join(REFUSED);
        let mut refused = if aside.exists() { entries(&aside)? } else { Vec::new() };
        refused.sort();
        let found = Known::read(folder)?;
        inventory.device = (!found.is_new).then(|| found.known.state.device.clone());
        for (name, next) in &found.known.state.next {
            let totals = found.known.state.totals.get(name).cloned().unwrap_or_default();
            let stream = StreamInventory { next: *next, sent: found.known.sent(name), waiting: 0, totals };
            inventory.streams.insert(name.clone(), stream);
        }
        for entry in waiting {
            inventory.waiting += 1;
            inventory.waiting_bytes += entry.bytes;
            inventory.streams.entry(entry.stream).or_default().waiting += 1;
        }
        inventory.refused = refused.len() as u64;
        inventory.refusals = refused
            .into_iter()
            .rev()
            .take(MOST_LISTED)
            .map(|entry| {
                let reason = document(&aside, &entry);
                RefusedMessage { stream: entry.stream, sequence: entry.sequence, bytes: entry.bytes, reason }
            })
            .collect();
        Ok(inventory)
    }
}
