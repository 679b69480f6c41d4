//! Readings between a sender and the journal: those that came while a batch was written are the next batch, so that one sync
//! serves all who wait.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::member::{Member, lock};
use super::point::IntakeError;
use super::rows::{Cell, Rows};

/// The next batch.
#[derive(Default)]
pub(super) struct Staging {
    /// By the address of the device.
    devices: HashMap<usize, Staged>,
    pub(super) bytes: usize,
    pub(super) ticket: Arc<Ticket>,
    /// True once no further batch is written.
    pub(super) ended: bool,
}

/// The rows of a device in the next batch.
pub(super) struct Staged {
    pub(super) member: Arc<Member>,
    pub(super) rows: Rows,
    /// Readings by sender: few at a time.
    pub(super) senders: Vec<(Arc<str>, u64)>,
}

impl Staging {
    /// Adds a row of a device.
    pub(super) fn add(&mut self, member: &Arc<Member>, sender: &Arc<str>, at: i64, cells: &[Cell]) {
        let staged = self.devices.entry(Arc::as_ptr(member) as usize).or_insert_with(|| Staged {
            member: Arc::clone(member),
            rows: Rows::default(),
            senders: Vec::new(),
        });
        let before = staged.rows.bytes().len();
        staged.rows.push(at, cells);
        self.bytes += staged.rows.bytes().len() - before;
        let readings = cells.len() as u64;
        match staged.senders.iter_mut().find(|(name, _)| name == sender) {
            Some((_, count)) => *count += readings,
            None => staged.senders.push((Arc::clone(sender), readings)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Takes the batch, and begins the next one.
    pub(super) fn take(&mut self) -> (Vec<Staged>, Arc<Ticket>) {
        self.bytes = 0;
        let staged = std::mem::take(&mut self.devices).into_values().collect();
        (staged, std::mem::take(&mut self.ticket))
    }
}

/// The outcome of a batch, for those who wait for it.
#[derive(Default)]
pub(super) struct Ticket {
    outcome: Mutex<Option<Result<(), IntakeError>>>,
    changed: Condvar,
}

impl Ticket {
    pub(super) fn set(&self, outcome: Result<(), IntakeError>) {
        *lock(&self.outcome) = Some(outcome);
        self.changed.notify_all();
    }

    /// Waits until the batch is durable, or failed.
    pub(super) fn wait(&self) -> Result<(), IntakeError> {
        let mut outcome = lock(&self.outcome);
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            let waited = self.changed.wait_timeout(outcome, Duration::from_secs(1));
            outcome = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}
