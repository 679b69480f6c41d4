//! Whether a window may be encrypted under the mask of its stream's fleet.
//!
//! A mask never serves twice under one key. The mask of a fleet is named after the window's start, so what a random salt does for other
//! masks has to be known here: that no window of this start was encrypted before, by any run of the device. The spool remembers the
//! latest start, durably and before the window is encrypted. The spool may be an older copy of itself; so since each start of the program the
//! cloud has to say where its newest window of the stream ends, and only windows that start after that share masks. All others take masks
//! of their own, and nothing waits.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::position::Positions;

/// The streams of fleets, and what the cloud has said of each since the start of the program.
#[derive(Debug, Default)]
pub struct SharedMasks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    streams: BTreeMap<String, Told>,
    /// Receipts since the cloud was last asked, and receipts to wait for before it is asked again.
    receipts: u32,
    wait: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Nothing yet.
    Nothing,
    /// Where the newest window ends, in milliseconds since 1970; none before the first window.
    End(Option<i64>),
    /// The cloud is of a version that does not say it.
    Never,
}

impl SharedMasks {
    /// Of these streams, of which nothing is known yet.
    #[must_use]
    pub fn new<'s>(streams: impl IntoIterator<Item = &'s str>) -> Self {
        let streams = streams.into_iter().map(|stream| (stream.to_owned(), Told::Nothing)).collect();
        Self(Mutex::new(State { streams, receipts: 0, wait: 1 }))
    }

    /// True if the cloud has said, since the start of the program, that its newest window of the stream ends before this time.
    #[must_use]
    pub fn allows(&self, stream: &str, start: i64) -> bool {
        match self.lock().streams.get(stream) {
            Some(Told::End(end)) => end.is_none_or(|end| end < start),
            _ => false,
        }
    }

    /// Asks the cloud, once for each stream of which it has said nothing. Gives up at the first question that is not answered.
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

    /// Asks again after a receipt, where the cloud has not said everything: after the first one, then after twice as many each time.
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
