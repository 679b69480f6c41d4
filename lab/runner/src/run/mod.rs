//! A run: each span's engines are prepared, and each operation is measured in rounds over them.

mod budget;
mod exchange;
mod paths;
mod rounds;
mod session;
mod setting;
mod span;
mod sums;
mod tally;

use std::time::Duration;

use crate::contender::Contender;
use crate::error::RunnerError;
use crate::row::{Gap, Row};
use crate::selection::Selection;
use span::Run;

/// Whoever is told what a run gives, as soon as it is there.
pub trait Observer {
    /// A row.
    fn row(&mut self, row: Row) -> Result<(), RunnerError>;
    /// Something that is not there.
    fn gap(&mut self, gap: Gap) -> Result<(), RunnerError>;
    /// What is done next, and how much of the whole ([`Selection::weight`]) was done since the last word.
    fn progress(&mut self, done: u64, next: &str);
}

/// Runs a selection on the engines, in its definition's minutes and `spare` more. What an engine lacks or fails at is a gap; only
/// the observer's own errors end the run. Gives the time that is left.
pub fn run(
    selection: &Selection,
    contenders: &[Contender],
    spare: Duration,
    observer: &mut dyn Observer,
) -> Result<Duration, RunnerError> {
    let mut run = Run::new(selection, contenders, spare, observer);
    run.absent()?;
    selection.spans().iter().try_for_each(|span| run.span(span))?;
    Ok(run.unused())
}
