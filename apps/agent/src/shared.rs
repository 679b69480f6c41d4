//! Decides when a window may be encrypted under the mask of its stream's fleet.
//!
//! A mask must never serve twice under one key. Other masks have a random salt; the mask of a fleet is named after the
//! window's start alone. So the device must know that no run of it has encrypted a window with this start before.
//!
//! The spool records the latest start durably, before the window is encrypted. But the spool may have been restored
//! from an older copy. So after each start of the program, the cloud has to tell where its newest window of the stream
//! ends, and only windows that start later share masks. All others take masks of their own; no window waits for the
//! answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::position::Positions;

/// The streams of fleets, and the cloud's answer for each since the start of the program.
#[derive(Debug, Default)]
pub struct SharedMasks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    streams: BTreeMap<String, Told>,
    /// Receipts since the last question, and the number of receipts before the next one.
    receipts: u32,
    wait: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// No answer yet.
    Nothing,
    /// The end of the newest window (ms since 1970); `None` before the first window.
    End(Option<i64>),
    /// The cloud's version does not know the question.
    Never,
}

impl SharedMasks {
    /// Creates the state for these streams, without any answer yet.
    #[must_use]
    pub fn new<'s>(streams: impl IntoIterator<Item = &'s str>) -> Self {
        let streams = streams.into_iter().map(|stream| (stream.to_owned(), Told::Nothing)).collect();
        Self(Mutex::new(State { streams, receipts: 0, wait: 1 }))
    }

    /// Returns true if, since the start of the program, the cloud has told that its newest window of the stream ends
    /// before `start`.
    #[must_use]
    pub fn allows(&self, stream: &str, start: i64) -> bool {
        match self.lock().streams.get(stream) {
            Some(Told::End(end)) => end.is_none_or(|end| end < start),
            _ => false,
        }
    }

    /// Asks the cloud about each stream without an answer. Stops at the first question that fails.
    pub fn ask(&self, positions: &Positions<'_>) {
        for stream in self.untold() {
            let told = match positions.newest(&stream) {
                Ok(Some(told)) => Told::End(told.newest_end),
                Ok(None) => Told::Never,
                Err(why) => {
                    let reason = why.reason();
                    tracing::info!(
                        stream,
                        reason,
                        "the cloud does not say where its newest window ends: windows have masks of their own"
                    );
                    return;
                }
            };
            self.lock().streams.insert(stream, told);
        }
    }

    /// Repeats the questions that have no answer: after the first receipt, then after twice as many receipts each time.
    pub fn after_receipt(&self, positions: &Positions<'_>) {
        if self.untold().is_empty() {
            return;
        }
        {
            let mut state = self.lock();
            state.receipts += 1;
            if state.receipts < state.wait {
                return;
            }
            state.receipts = 0;
            state.wait = state.wait.saturating_mul(2);
        }
        self.ask(positions);
    }

    fn untold(&self) -> Vec<String> {
        let nothing = |(stream, told): (&String, &Told)| (*told == Told::Nothing).then(|| stream.clone());
        self.lock().streams.iter().filter_map(nothing).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
