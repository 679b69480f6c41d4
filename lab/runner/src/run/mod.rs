//! A run: prepares the engines for each span, and measures each operation in rounds over the engines.

mod budget;
mod comparisons;
mod exchange;
mod outcome;
mod paths;
mod rounds;
mod session;
mod setting;
mod span;
mod sums;
mod tally;

use std::time::Duration;

use crate::comparison_row::ComparisonRow;
use crate::contender::Contender;
use crate::error::RunnerError;
use crate::row::{Gap, Row};
use crate::selection::Selection;
use span::Run;

/// Receives the rows and gaps of a run as soon as they exist.
pub trait Observer {
    /// Receives a row.
    fn row(&mut self, row: Row) -> Result<(), RunnerError>;
    /// Receives a gap.
    fn gap(&mut self, gap: Gap) -> Result<(), RunnerError>;
    /// Receives the row of a comparison.
    fn comparison(&mut self, _: ComparisonRow) -> Result<(), RunnerError> {
        Ok(())
    }
    /// Receives the next step's name, and the work ([`Selection::weight`]) done since the last call.
    fn progress(&mut self, done: u64, next: &str);
}

/// Runs a selection on the engines, within its definition's minutes and `spare`. Returns the time that is left. An
/// engine's lacks and failures become gaps.
///
/// # Errors
/// The observer's errors, and parameters for which there are no primes; they end the run.
pub fn run(
    selection: &Selection,
    contenders: &[Contender],
    spare: Duration,
    observer: &mut dyn Observer,
) -> Result<Duration, RunnerError> {
    let mut run = Run::new(selection, contenders, spare, observer);
    run.absent()?;
    let spans = selection.spans();
    let size = if selection.definition.together { spans.len() } else { 1 };
    spans.chunks(size.max(1)).try_for_each(|spans| run.spans(spans))?;
    run.comparisons()?;
    Ok(run.unused())
}
