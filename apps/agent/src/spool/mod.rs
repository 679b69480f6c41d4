//! The queue of messages that the cloud does not have yet: a folder with one durable file per message.
//!
//! Other content of the folder:
//! - `state.json`: the device's name, and for each stream the next sequence number, the time up to which it is sent,
//!   and the sum of its windows, as of the last snapshot.
//! - `sent.journal`: the ticks that are sent, by stream and channel, and a line for each message since that snapshot.
//! - `in-doubt`: there if the cloud has refused a message because of a window that this spool does not know. The next start
//!   asks the cloud for the windows that it has.
//! - `confirmed/`: messages that the cloud has confirmed, for the time of `--keep`.
//! - `refused/`: messages that the cloud has refused, each with a document that states the reason.
//! - `lock`: keeps other processes out.
//! - `reserve`: disk space kept for `state.json` and the documents.
//!
//! A message leaves the queue only after the cloud's receipt. The spool is bounded: when it is full, reading stops until
//! there is room, and nothing is dropped. Refused messages have a limit of their own: when they reach it, further ones
//! stay in the spool.
//!
//! A full disk stops reading but not sending: to send and delete a message, nothing has to be written.
//!
//! A message is added in three steps: its file is written, then its line in the journal, then the sender sees it. After
//! a crash between the first two, [`Spool::open`] counts the message from its own header, and takes out the ticks of the
//! windows that it names. So no window is lost or made twice, no tick is sent twice, and no sequence number that was sent is
//! used again.

mod archive;
mod confirmed;
mod contents;
mod cuts;
pub mod durable;
mod entry;
mod error;
mod folder;
mod inventory;
pub mod kept;
mod learn;
mod names;
mod new_names;
mod numbers;
mod open;
mod places;
mod places_wait;
pub(crate) mod private;
mod put;
mod put_back;
mod refusals;
mod reserve;
mod runs;
mod sent;
mod sent_journal;
mod sequences;
mod state;
mod take;
mod totals;
mod window_ticks;

use std::collections::VecDeque;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use archive::{Archive, ArchiveTotals, ArchivedFile, ArchivedMessage, CONFIRMED, Keep};
pub use contents::Contents;
pub use cuts::Cuts;
pub use entry::Entry;
pub use error::SpoolError;
pub use folder::REFUSED;
pub use inventory::{Inventory, RefusedMessage, StreamInventory};
pub use learn::Learnt;
pub use names::Names;
pub use new_names::NewNames;
pub use numbers::SentWindows;
pub use places::refuse_places;
pub use places_wait::PlacesWait;
pub use put_back::PutBack;
pub(crate) use refusals::NAMES_REFUSED;
pub use runs::{NotRuns, Runs};
pub use sent::Sent;
pub use totals::{ChannelTotals, Totals};
pub use window_ticks::WindowTicks;

use sequences::Sequences;

/// Interval at which a wait checks for a stop, and for room that a person made by hand.
const LOOK: Duration = Duration::from_millis(50);

/// A spool, shared by the thread that fills it and the one that empties it.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    limit: u64,
    /// True if the folder had no `state.json`: the positions of the streams are unknown.
    new: bool,
    state: Mutex<State>,
    changed: Condvar,
    /// The confirmed messages; `None` for a spool that keeps none.
    archive: Option<Archive>,
    /// The file lock, held as long as this value exists.
    _lock: File,
}

#[derive(Debug)]
struct State {
    sequences: Sequences,
    waiting: VecDeque<Entry>,
    /// Bytes of the waiting messages.
    bytes: u64,
    /// The order number of the next message.
    order: u64,
    /// When the last message came in this run.
    shown: Option<Instant>,
    closed: bool,
}

impl Spool {
    /// Returns the end of a stream's last window in the spool, in milliseconds since 1970; `None` before the first one.
    #[must_use]
    pub fn sent_until(&self, stream: &str) -> Option<i64> {
        self.lock().sequences.sent_until(stream)
    }

    /// Returns the ticks that a stream has sent.
    #[must_use]
    pub fn sent(&self, stream: &str) -> Sent {
        self.lock().sequences.sent(stream)
    }

    fn path(&self, entry: &Entry) -> PathBuf {
        self.folder.join(entry.file_name())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
    }
}
