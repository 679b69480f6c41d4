//! Rows of a clock that was ahead for a while: they jump ahead and come back, in a file that ascends.

use std::collections::VecDeque;

use sotto_pack::{Channel, LeftOut, Reason};

use super::files::count_fault;
use super::{Fault, FileFacts, Row, Source, SourceError};

/// Most rows of one jump that are read ahead: a longer one is taken as it is.
const MOST: usize = 20_000;
/// Rows that have to ascend before a jump and behind it.
const AROUND: usize = 10;
/// Rows that have to ascend behind a jump if the file ends then.
const LEAST_BEHIND: usize = 3;
/// A jump is longer than a day, and than this many of the longest steps before it.
const STEPS: i64 = 24;
const DAY: i64 = 86_400_000;

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

    /// Returns the time of the last row and the shortest jump behind it; nothing if the rows do not ascend, or are few.
    fn jump(&self, file: usize) -> Option<(i64, i64)> {
        let ascends = !self.is_broken && self.file == file && self.steps.len() == AROUND;
        let longest = self.steps.iter().copied().max().unwrap_or_default();
        Some((self.last.filter(|_| ascends)?, DAY.max(longest.saturating_mul(STEPS))))
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
    /// Rows that were read ahead and are taken.
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
    fn judge(&mut self, first: Read, before: i64, jump: i64) {
        let mut run = vec![first];
        let mut behind = Vec::new();
        while run.len() < MOST {
            let Some(next) = self.read() else { break };
            let last = &run[run.len() - 1];
            let step = next.row.at.saturating_sub(last.row.at);
            if next.file == last.file && (0..=jump).contains(&step) {
                run.push(next);
                continue;
            }
            behind.push(next);
            break;
        }
        if self.comes_back(&run, &mut behind, before, jump) {
            run.into_iter().for_each(|read| self.leave_out(&read));
        } else {
            self.waiting.extend(run);
        }
        self.waiting.extend(behind);
    }

    /// Returns true if the rows behind a run go on where those before it end. Reads more of them.
    fn comes_back(&mut self, run: &[Read], behind: &mut Vec<Read>, before: i64, jump: i64) -> bool {
        let (Some(first), Some(last), Some(back)) = (run.first(), run.last(), behind.first()) else {
            return false;
        };
        let (first, last, file, at) = (first.row.at, last.row.at, last.file, back.row.at);
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

    fn leave_out(&mut self, read: &Read) {
        self.left_out.add(Reason::ClockAhead, self.source.channels().len() as u64);
        if self.faults.len() <= read.file {
            self.faults.resize_with(read.file + 1, Vec::new);
        }
        if let Some(line) = read.line {
            count_fault(&mut self.faults[read.file], None, Reason::ClockAhead, line);
        }
    }
}

impl Source for OnTime {
    fn channels(&self) -> &[Channel] {
        self.source.channels()
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        loop {
            let was_judged = !self.waiting.is_empty();
            let Some(read) = self.waiting.pop_front().or_else(|| self.read()) else {
                return Err(self.error.take().unwrap_or(SourceError::Ended));
            };
            let jump = self.ascent.jump(read.file).filter(|_| !was_judged);
            if let Some((before, jump)) =
                jump.filter(|(last, jump)| read.row.at.saturating_sub(*last) > *jump)
            {
                self.judge(read, before, jump);
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
        self.waiting.clear();
        self.faults.clear();
        (self.error, self.ascent) = (None, Ascent::default());
        self.source.restart()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    /// Rows at these minutes, in files.
    struct Rows {
        files: Vec<Vec<i64>>,
        next: (usize, usize),
    }

    impl Source for Rows {
        fn channels(&self) -> &[Channel] {
            &[]
        }

        fn next_row(&mut self) -> Result<Row, SourceError> {
            while self.next.1 == self.files.get(self.next.0).ok_or(SourceError::Ended)?.len() {
                self.next = (self.next.0 + 1, 0);
            }
            let at = self.files[self.next.0][self.next.1] * MINUTE;
            self.next.1 += 1;
            Ok(Row::new(at, Vec::new()))
        }

        fn paced(&self) -> bool {
            false
        }

        fn line(&self) -> Option<u64> {
            Some(self.next.1 as u64)
        }

        fn file(&self) -> usize {
            self.next.0
        }

        fn restart(&mut self) -> Result<(), SourceError> {
            self.next = (0, 0);
            Ok(())
        }
    }

    /// Returns the minutes of the rows that are taken, with their lines and files.
    fn taken(files: &[Vec<i64>]) -> Vec<(i64, u64, usize)> {
        let mut source = on_time(Box::new(Rows { files: files.to_vec(), next: (0, 0) }));
        let mut read = || {
            let mut all = Vec::new();
            loop {
                match source.next_row() {
                    Ok(row) => all.push((row.at / MINUTE, source.line().unwrap(), source.file())),
                    Err(error) => break assert!(matches!(error, SourceError::Ended)),
                }
            }
            source.restart().unwrap();
            all
        };
        let all = read();
        assert_eq!(read(), all, "the same rows in another pass");
        all
    }

    fn minutes(files: &[Vec<i64>]) -> Vec<i64> {
        taken(files).into_iter().map(|(at, ..)| at).collect()
    }

    /// Rows every ten minutes from one to another.
    fn every_ten(from: i64, to: i64) -> Vec<i64> {
        (from..to).step_by(10).collect()
    }

    const AWAY: i64 = 400 * 24 * 60;

    #[test]
    fn a_clock_that_was_ahead_costs_its_own_rows() {
        // Two jumps, the second one near the end of the file.
        let ahead = |from: i64, to: i64| -> Vec<i64> { every_ten(from + AWAY, to + AWAY) };
        let file = [
            every_ten(0, 500),
            ahead(500, 3000),
            every_ten(3000, 4000),
            ahead(4003, 4043),
            every_ten(4050, 4080),
        ];
        let expected = [every_ten(0, 500), every_ten(3000, 4000), every_ten(4050, 4080)].concat();
        assert_eq!(minutes(&[file.concat()]), expected);
        let found = taken(&[file.concat(), every_ten(0, 100)]);
        assert_eq!(found[50], (3000, 301, 0), "with its own line");
        assert_eq!(found.last(), Some(&(90, 10, 1)));
        // One row.
        let file = [every_ten(0, 500), vec![500 + AWAY], every_ten(510, 1000)].concat();
        assert_eq!(minutes(&[file]), [every_ten(0, 500), every_ten(510, 1000)].concat());
    }

    #[test]
    fn rows_in_another_order_are_taken() {
        let week = |number: i64| every_ten(number * 10_080, (number + 1) * 10_080);
        let all = |files: &[Vec<i64>]| assert_eq!(minutes(files), files.concat());
        let newest_first: Vec<i64> = every_ten(0, 30_000).into_iter().rev().collect();
        all(&[newest_first]);
        // A week that comes before the one before it, and files that overlap.
        all(&[[week(0), week(2), week(1), week(3)].concat()]);
        all(&[[week(0), week(1)].concat(), week(1), week(0), week(9), week(3)]);
        // A row in another place, a gap that lasts, and two devices in turn.
        let mut moved = every_ten(0, 9000);
        let row = moved.remove(700);
        moved.insert(100, row);
        all(&[moved]);
        all(&[[week(0), week(50)].concat()]);
        all(&[(0..600).flat_map(|row| [row * 10, row * 10 + AWAY]).collect()]);
        all(&[[week(0), week(50), week(1), week(51), week(2)].concat()]);
        // Shuffled, by a multiplier.
        all(&[(0..2003).map(|row| row * 1234 % 2003 * 10).collect()]);
        // More rows than are read ahead, which a file of all its rows has, too.
        let long = every_ten(AWAY, AWAY + 10 * (MOST as i64 + 1));
        all(&[[every_ten(0, 500), long, every_ten(500 + 10 * (MOST as i64 + 1), 400_000)].concat()]);
    }
}
