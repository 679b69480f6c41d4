//! Threads that compute and threads that send trips. They share one board.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sotto_partial::recrypt::Recrypt;

use super::board::Board;
use super::{keep, trip};
use crate::error::RunError;
use crate::flow::At;
use crate::progress::{Progress, Tally};
use crate::value::Value;

struct Shared<'a, 'flow> {
    progress: &'a Progress<'flow>,
    board: Mutex<Board>,
    changed: Condvar,
}

/// Runs until all steps are done or one fails. Waits for trips under way and keeps their answers.
pub(crate) fn parallel(
    progress: &Progress<'_>,
    recryptor: &dyn Recrypt,
    workers: usize,
    trips: usize,
) -> (Result<(), RunError>, Tally) {
    let shared = Shared { progress, board: Mutex::new(Board::new(progress)), changed: Condvar::new() };
    // No more threads of a kind than steps of that kind.
    let requests = progress.flow.requests();
    let local = progress.flow.steps.len() - requests;
    let compute = |steps: &[At]| {
        let values = steps.iter().map(|at| Ok((*at, progress.compute(*at)?)));
        values.collect::<Result<Vec<_>, RunError>>()
    };
    let travel = |steps: &[At]| trip(progress, recryptor, steps);
    std::thread::scope(|scope| {
        for _ in 0..trips.max(1).min(requests) {
            scope.spawn(|| shared.work(Board::take_remote, &travel, true));
        }
        // This thread computes too.
        for _ in 1..workers.max(1).min(local) {
            scope.spawn(|| shared.work(Board::take_local, &compute, false));
        }
        shared.work(Board::take_local, &compute, false);
    });
    let board = shared.board.into_inner().unwrap_or_else(PoisonError::into_inner);
    (board.failed.map_or(Ok(()), Err), board.tally)
}

impl Shared<'_, '_> {
    fn lock(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes ready steps, performs them without the lock, notifies the other threads; repeats until the run
    /// is over.
    fn work(
        &self,
        take: impl Fn(&mut Board) -> Vec<At>,
        perform: &impl Fn(&[At]) -> Result<Vec<(At, Value)>, RunError>,
        is_trip: bool,
    ) {
        let _alarm = Alarm(self);
        let mut board = self.lock();
        while !board.is_over() {
            let steps = take(&mut board);
            if steps.is_empty() {
                board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(board);
            let result = perform(&steps).and_then(|values| keep(self.progress, values));
            board = self.lock();
            match result {
                Ok(()) => {
                    board.done(&steps);
                    board.tally.trips += u64::from(is_trip);
                    board.tally.requests += if is_trip { steps.len() as u64 } else { 0 };
                }
                Err(error) => board.fail(error),
            }
            self.changed.notify_all();
        }
    }
}

/// Wakes the other threads if its own panics: otherwise they would wait for ever.
struct Alarm<'a, 'b, 'flow>(&'a Shared<'b, 'flow>);

impl Drop for Alarm<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().fail(RunError::Broken { at: At(0) });
            self.0.changed.notify_all();
        }
    }
}
