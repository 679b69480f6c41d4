//! Schedules: the order of steps, and how many run at once.

mod board;
mod parallel;

use std::num::NonZeroUsize;

use sotto_partial::recrypt::{Recrypt, RecryptError};

use crate::error::RunError;
use crate::flow::At;
use crate::progress::{Progress, Tally};
use crate::value::Value;

pub(crate) use parallel::parallel;

/// How a flow is run. The results do not depend on it.
///
/// Example: [`crate::Progress`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// One step after another, one request a trip, as in the paper.
    Serial,
    /// All ready steps, those with the longest way to an answer first. Ready requests share a trip.
    Parallel {
        /// Threads that compute; at least one.
        workers: usize,
        /// Maximum trips at one time; at least one. While that many are under way, requests gather for the
        /// next trip.
        trips: usize,
    },
}

impl Schedule {
    /// Returns a schedule with as many threads as the system grants, and four trips.
    pub fn parallel() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::Parallel { workers, trips: 4 }
    }
}

/// Runs one step after another.
pub(crate) fn serial(progress: &Progress<'_>, recryptor: &dyn Recrypt) -> (Result<(), RunError>, Tally) {
    let mut tally = Tally::default();
    let mut walk = || {
        for (at, step) in (0..).map(At).zip(&progress.flow.steps) {
            if progress.values[at.index()].get().is_some() {
                continue;
            }
            if step.is_request() {
                let answers = trip(progress, recryptor, &[at])?;
                tally.trips += 1;
                tally.requests += 1;
                keep(progress, answers)?;
            } else {
                keep(progress, vec![(at, progress.compute(at)?)])?;
            }
        }
        Ok(())
    };
    let result = walk();
    (result, tally)
}

/// Sends the requests of these steps, and returns their values.
fn trip(
    progress: &Progress<'_>,
    recryptor: &dyn Recrypt,
    steps: &[At],
) -> Result<Vec<(At, Value)>, RunError> {
    let batch = steps.iter().map(|at| progress.request(*at)).collect::<Result<Vec<_>, _>>()?;
    let answers = recryptor.exchange(&batch)?;
    if answers.len() != steps.len() {
        return Err(RecryptError::Answers.into());
    }
    let accept = |(at, answer): (&At, _)| Ok((*at, progress.accept(*at, answer)?));
    steps.iter().zip(answers).map(accept).collect()
}

/// Stores values, each once.
fn keep(progress: &Progress<'_>, values: Vec<(At, Value)>) -> Result<(), RunError> {
    for (at, value) in values {
        progress.values[at.index()].set(value).map_err(|_| RunError::Broken { at })?;
    }
    Ok(())
}
