//! Sends the messages in the spool, oldest first, until the cloud has them. Waiting windows of one stream travel as a
//! group. Confirmed messages that a restored cloud lacks are sent again.

mod again;
mod deletions;
mod group;
mod open;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;
use sotto_api::{PROBLEM_TYPE, reason};
use sotto_keys::SigningIdentity;
use sotto_pack::WindowDescription;
use sotto_wire::{Envelope, TakenReceipt};

use crate::backoff::Backoff;
use crate::journal::Journal;
use crate::last_receipts::LastReceipts;
use crate::pinned::{CloudKey, Pinned, WindowName};
use crate::position::Positions;
use crate::spool::kept::Kept;
use crate::spool::{Cuts, Entry, NAMES_REFUSED, Spool, SpoolError};
use crate::stop::Stop;
use crate::upload::{Cloud, Delivery, Later, Receipt, Refusal};
use again::Again;
pub use deletions::Deletions;
use group::{Grouped, Grouping};
#[cfg(feature = "gateway")]
pub(crate) use open::UNPINNED;

/// Time that the sender may go on after a stop.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(5);
/// Attempts for a device that the cloud does not know, counted once the spool is closed; with backoff they take a few
/// seconds.
const ATTEMPTS: u32 = 5;

/// The thread that sends.
pub struct Sender {
    thread: JoinHandle<Result<(), SpoolError>>,
    stop: Stop,
    /// Asked to stop when the time after a stop is over; ends every wait.
    give_up: Stop,
}

/// Reason why sending ended.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The spool cannot be used.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The thread has panicked.
    #[error("sending ended unexpectedly")]
    Panicked,
}

/// Everything that sending needs. Clones share the spool and the record.
#[derive(Clone)]
pub struct Sending {
    /// The messages.
    pub spool: Arc<Spool>,
    /// The readings of windows that were sent.
    pub kept: Arc<Kept>,
    /// The cloud that messages go to.
    pub cloud: Cloud,
    /// The cloud's keys for receipts.
    pub pinned: Pinned,
    /// The record of the run.
    pub journal: Journal,
    /// The device's name.
    pub device: String,
    /// The device's signing key: it signs questions about positions.
    pub identity: Arc<SigningIdentity>,
    /// Where the windows of each stream end.
    pub cuts: Cuts,
    /// The last receipts, which windows name.
    pub last_receipts: Arc<LastReceipts>,
    /// The owner's key, which signs orders. None for a bundle of before.
    pub owner: Option<[u8; 32]>,
    /// The owner's deletions, as the cloud has shown them in this run.
    pub deletions: Arc<Deletions>,
}

/// The outcome of a device's earlier attempts, for the next one.
pub(crate) struct Course {
    backoff: Backoff,
    /// Attempts for a device that the cloud does not know.
    unregistered: u32,
    grouping: Grouping,
    again: Again,
}

impl Course {
    pub(crate) fn new() -> Self {
        Self { backoff: Backoff::new(), unregistered: 0, grouping: Grouping::new(), again: Again::new() }
    }

    /// Follows the owner's orders about confirmed messages, if it is time.
    #[cfg(feature = "gateway")]
    pub(crate) fn follow_orders(&mut self, sending: &Sending, stop: &Stop) {
        self.again.send(sending, stop);
    }
}

/// When the next message may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// At once: this one has left the spool.
    Sent,
    /// After a wait.
    After(Duration),
    /// Not in this run: the cloud does not know the device.
    Never,
}

impl Sender {
    /// Starts the thread.
    #[must_use]
    pub fn start(sending: Sending, stop: Stop) -> Self {
        let (asked, give_up) = (stop.clone(), Stop::new());
        let over = give_up.clone();
        let thread = thread::spawn(move || {
            let sent = sending.send_all(&asked, &over);
            if sent.is_err() {
                // Sending has failed, so nothing empties the spool: end the run.
                asked.ask();
            }
            sent
        });
        Self { thread, stop, give_up }
    }

    /// Waits until the closed spool is empty; after a stop until an upload fails, and at most 3 s.
    ///
    /// # Errors
    /// [`SendError`] if the spool could not be used.
    pub fn finish(self) -> Result<(), SendError> {
        let mut stopped = None;
        while !self.thread.is_finished() {
            if self.stop.is_asked() && stopped.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                // The next start sends the rest; the idempotency key tells the cloud which messages it already has.
                self.give_up.ask();
                return Ok(());
            }
            thread::sleep(LOOK);
        }
        Ok(self.thread.join().map_err(|_| SendError::Panicked)??)
    }
}

impl Sending {
    /// Sends until the spool is closed and empty. Ends at the first upload that fails after `stop`; `give_up` ends
    /// every wait.
    fn send_all(&self, stop: &Stop, give_up: &Stop) -> Result<(), SpoolError> {
        let mut course = Course::new();
        course.again.send(self, stop);
        while let Some(entry) = self.spool.oldest(give_up) {
            match self.send_next(&mut course, &entry, stop)? {
                Next::Sent => {}
                Next::Never => break,
                Next::After(wait) => {
                    if stop.wait(wait) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends the oldest message, alone or in a group.
    ///
    /// # Errors
    /// The spool cannot be used.
    pub(crate) fn send_next(
        &self,
        course: &mut Course,
        entry: &Entry,
        stop: &Stop,
    ) -> Result<Next, SpoolError> {
        let Self { spool, cloud, journal, .. } = self;
        let later = match spool.read(entry) {
            Ok((message, envelope)) => match self.names_taken(entry, &envelope)? {
                Some(refusal) => self.put_aside(entry, &refusal)?,
                None => match self.send_group(&mut course.grouping, entry, &envelope, stop)? {
                    Grouped::Stored => None,
                    Grouped::NotYet(later) => Some(later),
                    Grouped::No => {
                        let later = self.send_alone(entry, &message, &envelope)?;
                        course.grouping.sent_alone(later.is_none());
                        later
                    }
                },
            },
            Err(error @ SpoolError::Io { .. }) => return Err(error),
            Err(damaged) => {
                let refusal = Refusal { status: 0, problem: json!(damaged.to_string()) };
                self.put_aside(entry, &refusal)?
            }
        };
        let Some(Later { reason, wait, unregistered: of_registration }) = later else {
            (course.backoff, course.unregistered) = (Backoff::new(), 0);
            course.again.send(self, stop);
            return Ok(Next::Sent);
        };
        let wait = course.backoff.next(wait);
        let waiting = spool.waiting();
        tracing::warn!(cloud = cloud.address(), waiting, reason, again_in = ?wait, "the cloud does not take a message yet; it stays in the spool");
        if of_registration && spool.is_closed() {
            course.unregistered += 1;
            if course.unregistered == ATTEMPTS {
                journal.unregistered(reason);
                return Ok(Next::Never);
            }
        }
        Ok(Next::After(wait))
    }

    /// Sends one message. Returns the reason to wait if the cloud does not take it yet.
    fn send_alone(
        &self,
        entry: &Entry,
        message: &[u8],
        envelope: &Envelope,
    ) -> Result<Option<Later>, SpoolError> {
        let Self { spool, cloud, journal, .. } = self;
        let begin = Instant::now();
        match cloud.upload(&envelope.header().upload_key(), message) {
            Delivery::Stored(receipt) => {
                match self.check(entry, &receipt) {
                    Ok(signer) => self.took(entry, &receipt, signer),
                    Err(later) => return Ok(Some(later)),
                }
                journal.delivered(entry, receipt.id, message.len() as u64, begin.elapsed());
                spool.delivered(entry)?;
                Ok(None)
            }
            Delivery::Forgotten => {
                let Entry { stream, sequence, .. } = entry;
                let is_forgotten = match self.is_forgotten(entry, envelope) {
                    Ok(is_forgotten) => is_forgotten,
                    Err(later) => return Ok(Some(later)),
                };
                if !is_forgotten {
                    let problem = json!(
                        "the cloud says that the owner has deleted the windows of this time, and shows no order of the owner"
                    );
                    return self.put_aside(entry, &Refusal { status: 410, problem });
                }
                tracing::warn!(stream, sequence, "the owner has deleted the windows of this time");
                journal.forgotten();
                spool.discard(entry)?;
                Ok(None)
            }
            Delivery::Refused(refusal) => self.put_aside(entry, &refusal),
            Delivery::Later(later) => Ok(Some(later)),
        }
    }

    /// Returns true if the windows of a message's time are deleted: by the owner's order. A bundle without the owner's key and
    /// without a key of the cloud believes the cloud.
    fn is_forgotten(&self, entry: &Entry, envelope: &Envelope) -> Result<bool, Later> {
        if self.owner.is_none() {
            return Ok(self.pinned.is_empty());
        }
        let (stream, end) = (entry.stream.as_str(), envelope.header().ended_at);
        self.deletions.cover(stream, end, || Ok(self.positions().ordered(stream)?.until))
    }

    /// Refuses a message that comes in the place of one whose number is another window's in the cloud.
    fn names_taken(&self, entry: &Entry, envelope: &Envelope) -> Result<Option<Refusal>, SpoolError> {
        let description = match envelope.window() {
            Some(_) if !envelope.replaces() => None,
            Some(_) => envelope.signed_header().description(),
            None => WindowDescription::parse(&envelope.header().layout).ok(),
        };
        let names = description.and_then(|window| window.replaces).map(|replaces| replaces.windows);
        let taken = self.spool.taken_among(&entry.stream, &names.unwrap_or_default())?;
        Ok(taken.map(|number| {
            let title = format!(
                "it comes in the place of window {number}, whose number is another window's in the cloud: `sotto-agent requeue` \
                 gives both other numbers"
            );
            let kind = format!("{PROBLEM_TYPE}{NAMES_REFUSED}");
            Refusal { status: 0, problem: json!({ "type": kind, "title": title }) }
        }))
    }

    fn check(&self, entry: &Entry, receipt: &Receipt) -> Result<Option<CloudKey>, Later> {
        let window = WindowName { device: &self.device, stream: &entry.stream, sequence: entry.sequence };
        self.pinned.check(window, receipt)
    }

    /// Notes that the cloud has a window. A receipt that no pinned key signed may be another server's: no window names it.
    fn took(&self, entry: &Entry, receipt: &Receipt, signer: Option<CloudKey>) {
        if let Some(cloud) = signer {
            let receipt = TakenReceipt { sequence: entry.sequence, position: receipt.position };
            self.last_receipts.note(&entry.stream, cloud, receipt);
        }
    }

    /// Returns the last receipt of a stream from the present cloud.
    pub(crate) fn last_receipt(&self, stream: &str) -> Option<TakenReceipt> {
        self.last_receipts.last(stream, self.pinned.present()?)
    }

    /// Returns the questions about the positions of the device's streams.
    pub(crate) fn positions(&self) -> Positions<'_> {
        let Self { device, identity, cloud, cuts, owner, .. } = self;
        Positions { device, identity, cloud, cuts, owner: *owner }
    }

    /// Puts a message aside. Returns a reason to wait if there is no room for it.
    fn put_aside(&self, entry: &Entry, refusal: &Refusal) -> Result<Option<Later>, SpoolError> {
        let Refusal { status, problem } = refusal;
        let shown: String = problem.to_string().chars().take(400).collect();
        let (stream, sequence) = (&entry.stream, entry.sequence);
        // Debug format escapes control characters in the cloud's text.
        tracing::error!(stream, sequence, status, problem = ?shown, "refused");
        let is_for = |reason: &str| problem["type"] == format!("{PROBLEM_TYPE}{reason}");
        let [number, tick] = [reason::SEQUENCE_TAKEN, reason::TICK_TAKEN].map(is_for);
        let taken = number.then(|| self.taken(entry));
        if tick || taken.is_some_and(|taken| taken != Taken::Unproven) {
            self.spool.doubt()?;
        }
        if !self
            .spool
            .refuse(entry, json!({ "status": status, "problem": problem }).to_string().as_bytes())?
        {
            let reason = "the folder of refused messages is full: send them again with `sotto-agent requeue`, or delete them";
            return Ok(Some(Later { reason: reason.to_owned(), wait: None, unregistered: false }));
        }
        self.journal.refused(entry, refusal);
        if let Some(Taken::Proven(next)) = taken {
            self.spool.resume(stream, next, None)?;
        }
        Ok(None)
    }

    /// Asks the cloud whether it has a window of this device with the number of a message that it refused as taken, or a
    /// later one: the spool is older than the cloud's state then.
    fn taken(&self, entry: &Entry) -> Taken {
        let Entry { stream, sequence, .. } = entry;
        match self.positions().ask(stream) {
            Ok(standing) if standing.signed_next > *sequence => Taken::Proven(standing.signed_next),
            Ok(standing) => {
                tracing::warn!(
                    stream,
                    sequence,
                    next = standing.next,
                    "the cloud says that the number is taken, and shows no window of this device that has it or a larger one: the \
                     device goes by its own numbers"
                );
                Taken::Unproven
            }
            Err(why) => {
                let reason = why.reason();
                tracing::warn!(stream, reason, "the cloud does not say where the stream stands");
                Taken::Unanswered
            }
        }
    }
}

/// The cloud's proof for a number that it calls taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// A window with the device's signature that has this number or a larger one. The number behind it.
    Proven(u64),
    /// No such window.
    Unproven,
    /// It did not answer.
    Unanswered,
}
