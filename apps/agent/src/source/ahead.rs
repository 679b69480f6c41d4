//! Rows of a clock that was ahead for a while: they jump ahead and come back, in a file that ascends.

mod run;

use std::collections::VecDeque;

use sotto_pack::{Channel, LeftOut, Reason};

use super::files::count_fault;
use super::{Fault, FileFacts, Row, Source, SourceError};
use run::Run;

/// Most bytes of the rows of one jump that are read ahead: a longer one is taken as it is.
const MOST_BYTES: usize = 6 << 20;
/// Rows that have to ascend before a jump and behind it.
const AROUND: usize = 10;
/// Rows that have to ascend behind a jump if the file ends then.
const LEAST_BEHIND: usize = 3;
/// A jump is longer than a day, and than this many of the longest steps before it.
const STEPS: i64 = 24;
const DAY: i64 = 86_400_000;

/// Returns the maximum number of rows of one jump that are read ahead.
fn most_rows(channels: usize) -> usize {
    MOST_BYTES / Run::bytes_a_row(channels)
}

/// A row that was read ahead.
struct Read {
    row: Row,
    line: Option<u64>,
    file: usize,
}

/// The rows of a file up to one of them.
#[derive(Default)]
struct Ascent {
    file: usize,
    last: Option<i64>,
    /// The last steps, at most [`AROUND`].
    steps: VecDeque<i64>,
    /// True after a row that is earlier than the one before it.
    is_broken: bool,
}

impl Ascent {
    fn take(&mut self, at: i64, file: usize) {
        if file != self.file {
            *self = Self { file, ..Self::default() };
        }
        let step = self.last.map(|last| at.saturating_sub(last));
        self.is_broken |= step.is_some_and(|step| step < 0);
        self.last = Some(at);
        self.steps.extend(step);
        if self.steps.len() > AROUND {
            self.steps.pop_front();
        }
    }

    /// Returns the time of the last row and the least length of a jump if a row jumps ahead; nothing if it does not, or the
    /// rows before it do not ascend, or are few.
    fn jump(&self, at: i64, file: usize) -> Option<(i64, i64)> {
        let last = self.last.filter(|last| at.saturating_sub(*last) > DAY)?;
        let ascends = !self.is_broken && self.file == file && self.steps.len() == AROUND;
        let jump = DAY.max(self.steps.iter().max()?.saturating_mul(STEPS));
        (ascends && at.saturating_sub(last) > jump).then_some((last, jump))
    }

    /// Returns the median of the last steps.
    fn period(&self) -> i64 {
        let mut steps: Vec<i64> = self.steps.iter().copied().collect();
        steps.sort_unstable();
        steps.get(steps.len() / 2).copied().unwrap_or_default()
    }
}

/// A source without the rows of a clock that was ahead.
struct OnTime {
    source: Box<dyn Source>,
    /// A run that was read ahead and is taken, and the rows behind it.
    run: Run,
    waiting: VecDeque<Read>,
    /// The error behind them.
    error: Option<SourceError>,
    ascent: Ascent,
    line: Option<u64>,
    file: usize,
    left_out: LeftOut,
    /// By the number of the file.
    faults: Vec<Vec<Fault>>,
}

/// Returns a source that leaves out rows of a clock that was ahead for a while, as [`Reason::ClockAhead`].
///
/// Such rows are a run that lies more than a day after the rows before and behind it, in a file that ascends otherwise: 10
/// rows before it and 10 behind it, or 3 up to the end of the file. The time between the row before and the row behind has
/// room for the run at its own pace, and is at most a day longer: rows that are only in another order leave no such time. All
/// other rows are taken. Sources whose rows arrive over time are left as they are.
#[must_use]
pub fn on_time(source: Box<dyn Source>) -> Box<dyn Source> {
    if source.paced() {
        return source;
    }
    Box::new(OnTime {
        source,
        run: Run::default(),
        waiting: VecDeque::new(),
        error: None,
        ascent: Ascent::default(),
        line: None,
        file: 0,
        left_out: LeftOut::default(),
        faults: Vec::new(),
    })
}

impl OnTime {
    /// Reads a row; `None` at the end, or at an error, which is kept.
    fn read(&mut self) -> Option<Read> {
        if self.error.is_some() {
            return None;
        }
        match self.source.next_row() {
            Ok(row) => Some(Read { row, line: self.source.line(), file: self.source.file() }),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }

    /// Reads behind a row that jumps ahead. Leaves out the run that it begins if the clock was ahead.
    fn judge(&mut self, first: &Read, before: i64, jump: i64) {
        let (from, mut until) = (first.row.at, first.row.at);
        let mut run = Run::of(first);
        let mut behind = Vec::new();
        let most = most_rows(self.source.channels().len());
        while run.len() < most {
            let Some(next) = self.read() else { break };
            let step = next.row.at.saturating_sub(until);
            if next.file == run.file() && (0..=jump).contains(&step) {
                until = next.row.at;
                run.push(&next);
                continue;
            }
            behind.push(next);
            break;
        }
        if self.comes_back((from, until, run.file()), &mut behind, before, jump) {
            self.leave_out(&run);
        } else {
            self.run = run;
        }
        self.waiting.extend(behind);
    }

    /// Returns true if the rows behind a run, which has its first and its last time and its file, go on where those before it
    /// end. Reads more of them.
    fn comes_back(
        &mut self,
        (first, last, file): (i64, i64, usize),
        behind: &mut Vec<Read>,
        before: i64,
        jump: i64,
    ) -> bool {
        let Some(back) = behind.first() else { return false };
        let at = back.row.at;
        let (room, took) = (at.saturating_sub(before), last.saturating_sub(first));
        let more = room.saturating_sub(took);
        let fits = more <= DAY && more.saturating_mul(2) >= self.ascent.period().saturating_mul(3);
        if back.file != file || at <= before || first.saturating_sub(at) <= jump || !fits {
            return false;
        }
        while behind.len() <= AROUND {
            let Some(next) = self.read() else { return behind.len() >= LEAST_BEHIND };
            let last = behind[behind.len() - 1].row.at;
            let goes_on = next.file == file && (0..=jump).contains(&next.row.at.saturating_sub(last));
            let is_next_file = next.file != file;
            behind.push(next);
            if !goes_on {
                return is_next_file && behind.len() > LEAST_BEHIND;
            }
        }
        true
    }

    fn leave_out(&mut self, run: &Run) {
        let cells = self.source.channels().len() * run.len();
        self.left_out.add(Reason::ClockAhead, cells as u64);
        if self.faults.len() <= run.file() {
            self.faults.resize_with(run.file() + 1, Vec::new);
        }
        let faults = &mut self.faults[run.file()];
        run.lines().flatten().for_each(|line| count_fault(faults, None, Reason::ClockAhead, line));
    }
}

impl Source for OnTime {
    fn channels(&self) -> &[Channel] {
        self.source.channels()
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        loop {
            let was_judged = !(self.run.is_empty() && self.waiting.is_empty());
            let read = self.run.pop().or_else(|| self.waiting.pop_front()).or_else(|| self.read());
            let Some(read) = read else {
                return Err(self.error.take().unwrap_or(SourceError::Ended));
            };
            let jump = if was_judged { None } else { self.ascent.jump(read.row.at, read.file) };
            if let Some((before, jump)) = jump {
                self.judge(&read, before, jump);
                continue;
            }
            self.ascent.take(read.row.at, read.file);
            (self.line, self.file) = (read.line, read.file);
            return Ok(read.row);
        }
    }

    fn take_left_out(&mut self) -> LeftOut {
        let mut all = self.source.take_left_out();
        all.merge(&std::mem::take(&mut self.left_out));
        all
    }

    fn paced(&self) -> bool {
        false
    }

    fn line(&self) -> Option<u64> {
        self.line
    }

    fn file(&self) -> usize {
        self.file
    }

    fn facts(&self) -> Vec<FileFacts> {
        let mut facts = self.source.facts();
        for (facts, faults) in facts.iter_mut().zip(&self.faults) {
            facts.left_out.extend(faults.iter().cloned());
        }
        facts
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        self.run = Run::default();
        self.waiting.clear();
        self.faults.clear();
        (self.error, self.ascent) = (None, Ascent::default());
        self.source.restart()
    }
}

#[cfg(test)]
mod tests;
