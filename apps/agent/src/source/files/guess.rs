//! Finds the formats of a file in its first rows, and in all of them where these do not decide.

use std::path::Path;

use sotto_pack::Reason;

use super::cells::{Cell, Record, Stamp};
use super::columns::Wanted;
use super::decimal::{Decimal, Marks};
use super::decimals::{Decided, Evidence, Example};
use super::reader::{Next, Reader};
use super::times::Guess;
use super::{FileSource, LOOKED_AT, TimeColumns};
use crate::source::{NoNumber, SourceError};

/// Maximum characters of a cell that an error shows.
pub(super) const LONGEST_CELL: usize = 40;

impl FileSource {
    /// Reads the first rows of a file until its formats are known. Rows that arrive over time are waited for only as
    /// long as the format of times is not known.
    pub(super) fn guess(&mut self) -> Result<(), SourceError> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let (path, marks) = (reader.path().to_owned(), reader.marks());
        self.decimal = self.options.decimal;
        let times = self.wanted.time.is_some() && self.custom.is_none();
        let (mut guess, mut evidence, mut typed) = (Guess::default(), Evidence::default(), false);
        while self.ahead.len() < LOOKED_AT {
            let known = !times || typed || guess.forms().len() == 1;
            if known && self.paced {
                break;
            }
            let mut record = Record::default();
            if !self.read(&mut record)? {
                break;
            }
            match &record.time {
                Stamp::Text(time) => guess.look(time),
                Stamp::At(_) => typed = true,
                Stamp::None => {}
            }
            let none = times && !typed && guess.forms().is_empty() && self.is_time_guessed();
            if none && self.paced && self.ahead.is_empty() {
                return Err(self.no_time_column(&path));
            }
            for (cell, column) in record.cells.iter().zip(&self.wanted.values) {
                evidence.look(record.line, *cell, column, marks);
            }
            self.ahead.push_back(record);
        }
        if times {
            self.settle(&guess, typed, &path)?;
        }
        if self.paced {
            return Ok(());
        }
        self.order();
        self.require_numbers(&path)?;
        if self.decimal.is_none() {
            let typed = marks == Marks::Typed && evidence.is_empty();
            if !evidence.is_settled() && !typed && self.reader.is_some() {
                self.scan(&path, marks, &mut evidence)?;
            }
            self.decimal = decided(&evidence, marks, &path)?;
        }
        Ok(())
    }

    fn is_time_guessed(&self) -> bool {
        matches!(self.wanted.time, Some(TimeColumns::Guessed))
    }

    fn no_time_column(&self, path: &Path) -> SourceError {
        SourceError::NoTimeColumn { path: path.to_owned(), columns: self.names.clone() }
    }

    /// Decides the format of times that are text. Cells with a type of their own need none.
    fn settle(&mut self, guess: &Guess, typed: bool, path: &Path) -> Result<(), SourceError> {
        let Some(first) = self.ahead.front() else { return Ok(()) };
        let (line, rows, path) = (first.line, self.ahead.len(), path.to_owned());
        let cell = match &first.time {
            Stamp::Text(text) => text.chars().take(LONGEST_CELL).collect(),
            _ => String::new(),
        };
        let column = || match &self.wanted.time {
            Some(TimeColumns::Named(names)) => names.join(" and "),
            _ => "time".to_owned(),
        };
        let before = self.before.take();
        let form = match guess.forms() {
            [] if typed => return Ok(()),
            [] if self.is_time_guessed() => return Err(self.no_time_column(&path)),
            [] => return Err(SourceError::UnknownTime { path, line, column: column(), cell }),
            [form] => Some(form.clone()),
            forms => before.filter(|before| forms.contains(before)),
        };
        if form.is_none() {
            let (day_first, month_first) = guess.formats();
            return Err(SourceError::AmbiguousTime { path, column: column(), rows, day_first, month_first });
        }
        self.wanted.form = form;
        Ok(())
    }

    /// Finds out whether the newest row comes first.
    fn order(&mut self) {
        for record in &mut self.ahead {
            if let Stamp::Text(text) = &record.time {
                record.time = self.wanted.stamp(text);
            }
        }
        let times = self.ahead.iter().filter_map(|record| match &record.time {
            Stamp::At(time) => Some(time),
            _ => None,
        });
        self.local.order(times);
    }

    /// Refuses a file whose first rows hold text alone in the column of a channel.
    fn require_numbers(&self, path: &Path) -> Result<(), SourceError> {
        for (channel, column) in self.wanted.values.iter().enumerate() {
            let cell = |record: &Record| record.cells.get(channel).copied().unwrap_or_default();
            let mut texts = self.ahead.iter().filter(|record| cell(record) == Cell::Missing(Reason::Text));
            let is_number = |record: &Record| matches!(cell(record), Cell::Number(..));
            let Some(first) = texts.next().filter(|_| !self.ahead.iter().any(is_number)) else { continue };
            let Some(text) =
                Reader::cell(path, first.line, channel, &self.options, &self.wanted, &self.stop)?
            else {
                continue;
            };
            let refused = NoNumber {
                path: path.to_owned(),
                line: first.line,
                column: column.requested.clone(),
                channel: column.channel.clone(),
                hint: column.hint(&text),
                cell: text.chars().take(LONGEST_CELL).collect(),
            };
            return Err(SourceError::NoNumber(Box::new(refused)));
        }
        Ok(())
    }

    /// Reads the whole file once for the marks of its numbers.
    fn scan(&self, path: &Path, marks: Marks, evidence: &mut Evidence) -> Result<(), SourceError> {
        let Wanted { values, conditions, .. } = &self.wanted;
        let (values, conditions) = (values.clone(), conditions.clone());
        let wanted = Wanted { time: None, form: None, values, conditions };
        let mut reader = Reader::open(path, false, &self.options, &wanted, &self.stop)?;
        let mut record = Record::default();
        while let Next::Record = reader.next(&wanted, &mut record)? {
            for (cell, column) in record.cells.iter().zip(&wanted.values) {
                if cell.has_mark() {
                    evidence.look(record.line, *cell, column, marks);
                }
            }
            if evidence.is_settled() {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the decimal mark; `None` if no number shows it.
///
/// # Errors
/// [`SourceError::AmbiguousNumber`] and [`SourceError::AmbiguousDecimals`].
pub(super) fn decided(
    evidence: &Evidence,
    marks: Marks,
    path: &Path,
) -> Result<Option<Decimal>, SourceError> {
    let path = path.to_owned();
    match evidence.decide(marks) {
        Decided::Mark(decimal) => Ok(Some(decimal)),
        Decided::Open => Ok(None),
        Decided::Contrary => Err(SourceError::AmbiguousDecimals { path }),
        Decided::Ask(Example { line, fraction, whole, mark }) => {
            Err(SourceError::AmbiguousNumber { path, line, mark, fraction, whole })
        }
    }
}
