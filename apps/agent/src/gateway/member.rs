//! A device of the gateway: its bundle, its rows that wait, its windows, its spool.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use chacha20poly1305::XChaCha20Poly1305;

use super::folder::Stamp;
use super::journal::DeviceId;
use super::source::Queue;
use super::target::Target;
use super::turn::{Kind, Turn};
use crate::bundle::Bundle;
use crate::device::Device;
use crate::send::{Course, Sending};
use crate::spool::kept::KeptKey;
use crate::stop::Stop;

/// Senders that are counted by their names; further ones count as one.
const MOST_SENDERS: usize = 16;
/// Maximum bytes of a sender's name.
const LONGEST_SENDER: usize = 64;
const OTHERS: &str = "others";

/// A device of the gateway.
pub(crate) struct Member {
    pub(super) name: Arc<str>,
    pub(super) id: DeviceId,
    pub(super) bundle: PathBuf,
    /// The state of the bundle's files when they were read.
    pub(super) stamp: Stamp,
    pub(super) target: Arc<Target>,
    /// The names of its channels, one a line.
    pub(super) channels: Arc<str>,
    /// Encrypts its rows in the journal.
    pub(super) cipher: XChaCha20Poly1305,
    pub(super) queue: Queue,
    pub(super) rows_from: Mutex<RowsFrom>,
    pub(super) work: Mutex<Work>,
    /// Its spool and the way to its cloud, once it is open.
    pub(super) sending: Mutex<Option<Sending>>,
    pub(super) course: Mutex<Course>,
    pub(super) counts: Mutex<Counts>,
    /// The batch before which all of its rows are in its spool.
    pub(super) settled: AtomicU64,
    /// How often it had to read its rows again.
    pub(super) readings_again: AtomicU64,
    /// True while its spool has no room.
    pub(super) is_full: AtomicBool,
    /// True once its windows have to be closed: its bundle went, or the gateway ends.
    pub(super) is_leaving: AtomicBool,
    /// Asked once the rows that wait are taken: then the windows are closed.
    pub(super) closing: Stop,
    turns: [Turn; 3],
}

/// Where the rows of a device come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowsFrom {
    /// From the journal, from this batch on.
    Journal(u64),
    /// From the senders, from this batch on.
    Senders(u64),
}

/// The work of a device.
pub(super) enum Work {
    /// It is not open yet.
    Closed,
    /// It is.
    Open(Box<Device>),
    /// Its windows are in its spool: it takes no rows any more.
    Ended,
}

/// Counts of a device since the start of the gateway.
#[derive(Clone, Default)]
pub(super) struct Counts {
    /// Readings that were accepted.
    pub(super) readings: u64,
    /// Readings by the name of their sender.
    pub(super) senders: BTreeMap<Arc<str>, u64>,
    /// When the last one came: milliseconds since 1970.
    pub(super) last: Option<i64>,
    /// Windows that were put into the spool.
    pub(super) windows: u64,
    /// Reason why the device does not work, for people.
    pub(super) fault: Option<String>,
}

impl Member {
    /// Reads a bundle and the file beside it. Opens no spool.
    ///
    /// # Errors
    /// Names the file, and the reason.
    pub(super) fn read(path: &Path, stamp: Stamp, of_all: &Arc<AtomicUsize>) -> Result<Self> {
        let bundle = Bundle::read(path)?;
        let target = Arc::new(Target::of(path, &bundle.profile)?);
        let name: Arc<str> = Arc::from(bundle.profile.device.as_str());
        Ok(Self {
            id: DeviceId::of(&name),
            name,
            bundle: path.to_owned(),
            stamp,
            channels: Arc::from(target.names()),
            target,
            cipher: KeptKey::accepted(&bundle.keys, &bundle.identity).cipher(),
            queue: Queue::new(Arc::clone(of_all)),
            rows_from: Mutex::new(RowsFrom::Journal(0)),
            work: Mutex::new(Work::Closed),
            sending: Mutex::default(),
            course: Mutex::new(Course::new()),
            counts: Mutex::default(),
            settled: AtomicU64::new(0),
            readings_again: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
            closing: Stop::new(),
            turns: Default::default(),
        })
    }

    pub(super) fn turn(&self, kind: Kind) -> &Turn {
        &self.turns[kind as usize]
    }

    /// Returns the spool and the way to the cloud, if the device is open.
    pub(super) fn sending(&self) -> Option<Sending> {
        lock(&self.sending).clone()
    }

    /// Notes the reason why the device does not work; `None` if it does.
    pub(super) fn note_fault(&self, fault: Option<String>) {
        let mut counts = lock(&self.counts);
        if let Some(reason) = fault.as_ref().filter(|_| counts.fault != fault) {
            tracing::error!(
                device = &*self.name,
                reason,
                "a device of the gateway does not work; the others do"
            );
        }
        counts.fault = fault;
    }
}

impl Counts {
    /// Counts readings of a sender.
    pub(super) fn accept(&mut self, sender: &Arc<str>, readings: u64, at: i64) {
        self.readings += readings;
        self.last = self.last.max(Some(at));
        let is_known = self.senders.len() < MOST_SENDERS || self.senders.contains_key(sender);
        let name = if is_known { Arc::clone(sender) } else { Arc::from(OTHERS) };
        *self.senders.entry(name).or_default() += readings;
    }
}

/// Returns a sender's name for people: printable, 64 bytes at most.
pub(super) fn shown(sender: &str) -> Arc<str> {
    let letters = sender.chars().map(|letter| if letter.is_control() { '?' } else { letter });
    let mut name = String::new();
    for letter in letters {
        if name.len() + letter.len_utf8() > LONGEST_SENDER {
            break;
        }
        name.push(letter);
    }
    Arc::from(if name.is_empty() { "unnamed" } else { &name })
}

/// Locks a mutex; one that a panic poisoned, too.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
