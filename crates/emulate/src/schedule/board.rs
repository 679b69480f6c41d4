//! The steps that are ready, waiting and done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sotto_partial::recrypt::LARGEST_BATCH;

use crate::error::RunError;
use crate::flow::At;
use crate::progress::{Progress, Tally};

/// Ready steps, most urgent first: by the longest way to an answer, then the earlier step.
type Queue = BinaryHeap<(u64, Reverse<At>)>;

/// The state shared by all threads, under a lock that no thread holds while it computes.
pub(super) struct Board {
    ranks: Vec<u64>,
    readers: Vec<Vec<At>>,
    /// For each step, the number of operands not yet computed; an operand that is read twice counts twice.
    missing: Vec<u32>,
    requests: Vec<bool>,
    local: Queue,
    remote: Queue,
    left: usize,
    pub(super) failed: Option<RunError>,
    pub(super) tally: Tally,
}

impl Board {
    /// Makes a board from the results so far.
    pub(super) fn new(progress: &Progress<'_>) -> Self {
        let steps = &progress.flow.steps;
        let done = |at: At| progress.values[at.index()].get().is_some();
        let mut board = Self {
            ranks: progress.flow.ranks(),
            readers: vec![Vec::new(); steps.len()],
            missing: vec![0; steps.len()],
            requests: steps.iter().map(|step| step.is_request()).collect(),
            local: Queue::new(),
            remote: Queue::new(),
            left: 0,
            failed: None,
            tally: Tally::default(),
        };
        for (at, step) in (0..).map(At).zip(steps) {
            if done(at) {
                continue;
            }
            board.left += 1;
            for operand in step.operands().filter(|operand| !done(*operand)) {
                board.missing[at.index()] += 1;
                board.readers[operand.index()].push(at);
            }
            if board.missing[at.index()] == 0 {
                board.release(at);
            }
        }
        board
    }

    /// Returns true if no step is left, or one failed.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0 || self.failed.is_some()
    }

    /// Takes the most urgent local step.
    pub(super) fn take_local(&mut self) -> Vec<At> {
        self.local.pop().into_iter().map(|(_, Reverse(at))| at).collect()
    }

    /// Takes the ready requests, most urgent first, at most as many as a trip carries.
    pub(super) fn take_remote(&mut self) -> Vec<At> {
        let count = self.remote.len().min(LARGEST_BATCH);
        (0..count).filter_map(|_| self.remote.pop()).map(|(_, Reverse(at))| at).collect()
    }

    /// Marks steps as computed, and releases the steps that waited for them only.
    pub(super) fn done(&mut self, steps: &[At]) {
        for at in steps {
            self.left -= 1;
            for reader in std::mem::take(&mut self.readers[at.index()]) {
                self.missing[reader.index()] -= 1;
                if self.missing[reader.index()] == 0 {
                    self.release(reader);
                }
            }
        }
    }

    /// Records an error; the first one is kept.
    pub(super) fn fail(&mut self, error: RunError) {
        self.failed.get_or_insert(error);
    }

    fn release(&mut self, at: At) {
        let queue = if self.requests[at.index()] { &mut self.remote } else { &mut self.local };
        queue.push((self.ranks[at.index()], Reverse(at)));
    }
}
