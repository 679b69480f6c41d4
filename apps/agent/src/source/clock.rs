//! Rows of a clock that was not set: those of the first days of 1970, for example, before a device knew the time.

use sotto_pack::{LeftOut, Reason};

use super::files::count_fault;
use super::{Around, Fault, FileFacts, Row, Source, SourceError};

/// Rows that are read ahead.
const AHEAD: usize = 2000;
/// 2 January 2000, 00:00 UTC: clocks that were not set show a time before it, as 1970, 1980 or 2000 is their zero.
const SET: i64 = 946_771_200_000;
/// A clock that shows a time from a year later on was set.
const YEAR: i64 = 366 * 86_400_000;
/// Rows of an old file span more than this: 30 days.
const HISTORY: i64 = 30 * 86_400_000;

/// Reads the times of the first rows of a source, and begins it again. Returns nothing for a source whose rows arrive over
/// time.
///
/// # Errors
/// The source cannot be read, or not begun again.
pub fn first_times(source: &mut dyn Source) -> Result<Vec<i64>, SourceError> {
    let mut times = Vec::new();
    if source.paced() {
        return Ok(times);
    }
    while times.len() < AHEAD {
        match source.next_row() {
            Ok(row) => times.push(row.at),
            Err(SourceError::Ended) => break,
            Err(error) => return Err(error),
        }
    }
    source.take_left_out();
    source.restart()?;
    Ok(times)
}

/// Returns true if rows before 2000 are those of a clock that was not set: other rows show a year after it, and those
/// before it span less than 30 days, so that they are no old file.
fn was_not_set(times: &[i64]) -> bool {
    let old = || times.iter().copied().filter(|at| *at < SET);
    let span = old().max().zip(old().min()).map_or(0, |(last, first)| last.saturating_sub(first));
    span <= HISTORY && times.iter().any(|at| *at >= SET + YEAR)
}

/// A source without the rows of a clock that was not set.
struct Set {
    source: Box<dyn Source>,
    /// True if rows before 2000 are such.
    leaves_out: bool,
    left_out: LeftOut,
    faults: Vec<Fault>,
}

/// Returns a source that leaves out rows before 2000, as [`Reason::ClockNotSet`], if the clock was not set there: the
/// first rows tell, or those that came before.
#[must_use]
pub fn with_clock_set(source: Box<dyn Source>, first_times: &[i64]) -> Box<dyn Source> {
    let leaves_out = was_not_set(first_times);
    if !leaves_out && !source.paced() {
        return source;
    }
    Box::new(Set { source, leaves_out, left_out: LeftOut::default(), faults: Vec::new() })
}

impl Around for Set {
    fn inner(&self) -> &dyn Source {
        &*self.source
    }

    fn inner_mut(&mut self) -> &mut dyn Source {
        &mut *self.source
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        loop {
            let row = self.source.next_row()?;
            self.leaves_out |= self.source.paced() && row.at >= SET + YEAR;
            if row.at >= SET || !self.leaves_out {
                return Ok(row);
            }
            self.left_out.add(Reason::ClockNotSet, self.source.channels().len() as u64);
            if let Some(line) = self.source.line() {
                count_fault(&mut self.faults, None, Reason::ClockNotSet, line);
            }
        }
    }

    fn take_left_out(&mut self) -> LeftOut {
        let mut all = self.source.take_left_out();
        all.merge(&std::mem::take(&mut self.left_out));
        all
    }

    fn facts(&self) -> Vec<FileFacts> {
        let mut facts = self.source.facts();
        if let Some(first) = facts.first_mut() {
            first.left_out.extend(self.faults.iter().cloned());
        }
        facts
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        self.faults.clear();
        self.source.restart()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;
    const NOW: i64 = 19_000 * DAY;

    #[test]
    fn rows_before_2000_are_left_out_unless_they_are_a_history() {
        assert!(was_not_set(&[5000, 65_000, NOW]), "a device that booted");
        assert!(was_not_set(&[NOW, NOW + 5, SET - DAY, NOW + 9]), "the zero of a clock chip");
        assert!(was_not_set(&[NOW, NOW + 5]), "rows before 2000 may come later in the file");
        assert!(!was_not_set(&[5000, 5000 + 31 * DAY, NOW]), "an old series");
        assert!(!was_not_set(&[0, DAY, 2 * DAY]), "an old file");
        assert!(!was_not_set(&[]));
    }
}
