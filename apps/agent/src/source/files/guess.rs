//! Finds the formats of a file in its first rows, and in all of them where these do not decide.

use std::path::Path;

use sotto_pack::Reason;

use super::cells::{Cell, Record};
use super::columns::Wanted;
use super::decimal::{Decimal, Marks};
use super::decimals::{Decided, Evidence, Example};
use super::reader::{Next, Reader};
use super::times::{Guess, TimeFormat};
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
        let (mut guess, mut evidence) = (Guess::default(), Evidence::default());
        while self.ahead.len() < LOOKED_AT {
            let known = !times || guess.forms().len() == 1;
            if known && self.paced {
                break;
            }
            let Some(record) = self.read()? else { break };
            if let Some(time) = record.time.as_ref().filter(|_| times) {
                guess.look(time);
            }
            let none = times && guess.forms().is_empty() && self.is_time_guessed();
            if none && self.paced && self.ahead.is_empty() {
                return Err(self.no_time_column(&path));
            }
            for (cell, column) in record.cells.iter().zip(&self.wanted.values) {
                evidence.look(record.line, *cell, column, marks);
            }
            self.ahead.push_back(record);
        }
        if times {
            self.settle(&guess, &path)?;
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

    /// Decides the time format of the file.
    fn settle(&mut self, guess: &Guess, path: &Path) -> Result<(), SourceError> {
        let Some(first) = self.ahead.front() else { return Ok(()) };
        let (line, rows, path) = (first.line, self.ahead.len(), path.to_owned());
        let cell = first.time.as_deref().unwrap_or_default().chars().take(LONGEST_CELL).collect();
        let column = || match &self.wanted.time {
            Some(TimeColumns::Named(names)) => names.join(" and "),
            _ => "time".to_owned(),
        };
        let before = self.form.take();
        self.form = match guess.forms() {
            [] if self.is_time_guessed() => return Err(self.no_time_column(&path)),
            [] => return Err(SourceError::UnknownTime { path, line, column: column(), cell }),
            [form] => Some(form.clone()),
            forms => before.filter(|before| forms.contains(before)),
        };
        if self.form.is_none() {
            let (day_first, month_first) = guess.formats();
            return Err(SourceError::AmbiguousTime { path, column: column(), rows, day_first, month_first });
        }
        Ok(())
    }

    /// Finds out whether the newest row comes first.
    fn order(&mut self) {
        let Some(form) = self.form().cloned() else { return };
        let times: Vec<_> =
            self.ahead.iter().filter_map(|record| form.read(record.time.as_deref()?)).collect();
        self.local.order(times.iter());
    }

    /// Returns the format of times.
    pub(super) fn form(&self) -> Option<&TimeFormat> {
        self.custom.as_ref().or(self.form.as_ref())
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
        let wanted = Wanted { time: None, values: values.clone(), conditions: conditions.clone() };
        let mut reader = Reader::open(path, false, &self.options, &wanted, &self.stop)?;
        while let Next::Record(record) = reader.next(&wanted)? {
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
