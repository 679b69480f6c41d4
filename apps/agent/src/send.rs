//! Sending the messages in the spool, oldest first, until the cloud has them.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::backoff::Backoff;
use crate::journal::Journal;
use crate::spool::{Entry, Spool, SpoolError};
use crate::stop::Stop;
use crate::upload::{Answer, Cloud, Refusal};

/// After a stop, how long the sender goes on with the messages in the spool.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(5);

/// A thread that sends.
pub struct Sender {
    thread: JoinHandle<Result<(), SpoolError>>,
    stop: Stop,
    /// Asked for when the time after a stop is over.
    give_up: Stop,
}

/// Why sending ended.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The spool cannot be used.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The thread is gone.
    #[error("sending ended unexpectedly")]
    Panicked,
}

impl Sender {
    /// Begins.
    #[must_use]
    pub fn start(spool: Arc<Spool>, cloud: Cloud, journal: Journal, stop: Stop) -> Self {
        let (asked, give_up) = (stop.clone(), Stop::new());
        let over = give_up.clone();
        let thread = thread::spawn(move || {
            let sent = send_all(&spool, &cloud, &journal, &asked, &over);
            if sent.is_err() {
                // Nothing would empty the spool.
                asked.ask();
            }
            sent
        });
        Self { thread, stop, give_up }
    }

    /// Waits until the closed spool is empty; after a stop until an upload fails, and 3 s at most.
    ///
    /// # Errors
    /// [`SendError`] when the spool could not be used.
    pub fn finish(self) -> Result<(), SendError> {
        let mut stopped = None;
        while !self.thread.is_finished() {
            if self.stop.is_asked() && stopped.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                // The rest is in the spool: sent at the next start, and known to the cloud by its key.
                self.give_up.ask();
                return Ok(());
            }
            thread::sleep(LOOK);
        }
        Ok(self.thread.join().map_err(|_| SendError::Panicked)??)
    }
}

/// Sends until the spool is closed and empty. An upload that fails after `stop` is the last one; `give_up` ends all waits.
fn send_all(
    spool: &Spool,
    cloud: &Cloud,
    journal: &Journal,
    stop: &Stop,
    give_up: &Stop,
) -> Result<(), SpoolError> {
    let mut backoff = Backoff::new();
    while let Some(entry) = spool.oldest(give_up) {
        let (message, envelope) = match spool.read(&entry) {
            Ok(read) => read,
            Err(error @ SpoolError::Io { .. }) => return Err(error),
            Err(damaged) => {
                refuse(spool, journal, &entry, &Refusal { status: 0, problem: json!(damaged.to_string()) })?;
                continue;
            }
        };
        let key = envelope.header.upload_key();
        let begin = Instant::now();
        match cloud.upload(&key, &message) {
            Answer::Stored(receipt) => {
                journal.delivered(&entry, receipt.id, begin.elapsed());
                spool.delivered(&entry)?;
                backoff = Backoff::new();
            }
            Answer::Refused(refusal) => {
                refuse(spool, journal, &entry, &refusal)?;
                backoff = Backoff::new();
            }
            Answer::Later { reason, wait } => {
                let wait = backoff.next(wait);
                let waiting = spool.waiting();
                tracing::warn!(cloud = cloud.address(), waiting, reason, again_in = ?wait, "the cloud does not take a message yet; it stays in the spool");
                if stop.wait(wait) {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn refuse(spool: &Spool, journal: &Journal, entry: &Entry, refusal: &Refusal) -> Result<(), SpoolError> {
    let Refusal { status, problem } = refusal;
    let shown: String = problem.to_string().chars().take(400).collect();
    // Debug form: what the cloud says may hold control characters.
    tracing::error!(stream = entry.stream, sequence = entry.sequence, status, problem = ?shown, "refused");
    spool.refuse(entry, json!({ "status": status, "problem": problem }).to_string().as_bytes())?;
    journal.refused(entry, refusal);
    Ok(())
}
