//! The cost of work.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::flooded::Flooded;

/// The cost of the answers so far: bytes, jobs and times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    /// Bytes of outputs.
    pub(crate) bytes_down: u64,
    /// Number of jobs that the cloud ran.
    pub(crate) jobs: u64,
    /// The cloud's evaluation time in microseconds.
    pub(crate) evaluate_us: u64,
    /// Times of listing, key generation, evaluation, download, decryption and decoding in microseconds, one number per run.
    pub(crate) phases: BTreeMap<&'static str, Vec<f64>>,
    /// Number of runs of each operation in the cloud.
    pub(crate) steps: BTreeMap<String, u64>,
    /// The schemes used.
    pub(crate) schemes: BTreeSet<String>,
    /// Number of sums that were cached.
    pub(crate) cached: u64,
    /// The flooding of values given to others.
    pub(crate) flooded: Option<Flooded>,
}

impl Spent {
    pub(super) fn time<T>(&mut self, phase: &'static str, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = work();
        self.record(phase, begin.elapsed());
        done
    }

    /// Notes sums that were cached, whole or in their first windows.
    pub(super) fn note_cached(&mut self, sums: u64) {
        if sums > 0 {
            self.cached += sums;
            self.schemes.insert("sums".to_owned());
        }
    }

    pub(crate) fn record(&mut self, phase: &'static str, time: Duration) {
        self.phases.entry(phase).or_default().push(time.as_secs_f64() * 1e6);
    }
}
