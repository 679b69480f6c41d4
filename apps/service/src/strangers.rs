//! Requests of senders that have not proved who they are: counted, and told in one line a minute at most. Anybody can send
//! them, so a line for each would let anybody fill the disk.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);

/// The requests of unknown senders since the last line.
#[derive(Debug, Default)]
pub(crate) struct Strangers {
    tally: Mutex<Tally>,
}

#[derive(Debug, Default)]
struct Tally {
    /// True while less than a minute has passed since the last line.
    silent: bool,
    /// Requests by the reason of their refusal.
    counts: BTreeMap<&'static str, u64>,
}

impl Strangers {
    /// Counts a request. The first one after a quiet minute is told at once.
    pub(crate) fn count(self: &Arc<Self>, status: u16, outcome: &'static str) {
        let mut tally = self.tally();
        if tally.silent {
            *tally.counts.entry(outcome).or_default() += 1;
            return;
        }
        tally.silent = true;
        drop(tally);
        tracing::info!(
            requests = 1,
            status,
            outcome,
            "of an unknown sender; more of them are counted, and told once a minute"
        );
        let strangers = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                sleep(MINUTE).await;
                match strangers.upgrade() {
                    Some(strangers) if strangers.tell() => {}
                    _ => return,
                }
            }
        });
    }

    /// Tells the counted requests; returns false, and lets the next one be told at once, if there are none.
    fn tell(&self) -> bool {
        let mut tally = self.tally();
        let counts = std::mem::take(&mut tally.counts);
        tally.silent = !counts.is_empty();
        drop(tally);
        if counts.is_empty() {
            return false;
        }
        let requests: u64 = counts.values().sum();
        let outcomes: Vec<String> =
            counts.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
        tracing::info!(requests, outcomes = outcomes.join(", "), "of unknown senders");
        true
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        self.tell();
    }
}
