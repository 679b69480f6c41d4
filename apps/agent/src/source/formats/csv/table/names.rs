//! The lines of a table that name its columns or tell about them.

use std::path::Path;

use super::super::head::{Header, MOST_HEAD_LINES, Search, guess, names};
use super::super::split::{Fields, without_end};
use super::Table;
use crate::source::SourceError;
use crate::source::files::cells::Cell;
use crate::source::files::columns::Wanted;
use crate::source::files::encoding::decode;
use crate::source::files::input::refused;
use crate::source::files::places::Places;
use crate::source::files::time_columns::{is_time, joined};
use crate::source::formats::csv::STATION;
use crate::source::formats::{Opening, Rows};

/// Maximum bytes of a line above the names that is examined for readings.
const LONGEST_PASSED: usize = 4096;

impl Table {
    /// Looks for the line with the names of the columns. Returns false if the file has no line.
    pub(super) fn find_names(&mut self, opening: &Opening<'_>) -> Result<bool, SourceError> {
        let path = self.input.path.clone();
        let before = opening.before.and_then(Rows::header).cloned();
        let mut search = Search::new(opening.wanted, &path, opening.delimiter);
        let first = opening.header_line.unwrap_or(1);
        let last = opening.header_line.unwrap_or(self.lines + MOST_HEAD_LINES);
        let (mut any, mut passed) = (false, Vec::new());
        while self.lines < last && self.next_line()? {
            let line = &self.input.bytes()[..self.row];
            let describes = self.lines == 1 && opening.header_line.is_none() && line.starts_with(STATION);
            if self.lines < first || describes || line.trim_ascii().is_empty() {
                continue;
            }
            any = true;
            if let Some(header) = search.look(line, self.lines) {
                if opening.header_line.is_none() {
                    refuse_rows_above(&passed, &header, opening.wanted, &path)?;
                }
                self.begin(header);
                return Ok(true);
            }
            if line.len() <= LONGEST_PASSED {
                passed.push((self.lines, line.to_vec()));
            }
            if let Some(before) = before {
                self.begin(before);
                self.line = self.lines;
                self.split(false)?;
                self.held = true;
                return Ok(true);
            }
            // Rows that arrive over time are not waited for behind a line that looks like the names.
            let more = self.input.bytes()[self.taken..].contains(&b'\n');
            if self.input.is_paced() && !more && search.likely_names() > opening.wanted.values.len() {
                break;
            }
        }
        match search.error() {
            Some(error) if any => Err(error),
            _ if opening.header_line.is_some() && self.lines > 0 => {
                let reason = if self.lines < last {
                    format!("it has {} lines, and --header-line names line {last}", self.lines)
                } else {
                    format!("line {last}, which --header-line names, is empty")
                };
                Err(refused(&path, reason))
            }
            _ => Ok(false),
        }
    }

    /// Numbers the columns of the first row. Returns false if the file has no line.
    pub(super) fn number_columns(&mut self, opening: &Opening<'_>) -> Result<bool, SourceError> {
        let mut named = opening.delimiter;
        while self.next_line()? {
            let line = without_end(&self.input.bytes()[..self.row]);
            match *line {
                [b's', b'e', b'p', b'=', delimiter] => named = named.or(Some(delimiter)),
                [] | [b'#', ..] => {}
                _ => {
                    let delimiter = named.unwrap_or_else(|| guess(line, false));
                    let count = names(line, delimiter).len();
                    let names: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
                    let places = Places::find(&names, opening.wanted, &self.input.path)?;
                    self.begin(Header { delimiter, places, line: 0 });
                    (self.line, self.held, self.words) = (self.lines, true, 0);
                    self.split(false)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Follows a comment that names the columns again; skips others.
    pub(super) fn read_comment(&mut self, wanted: &Wanted) {
        let line = self.input.bytes()[1..self.row].trim_ascii();
        let names = names(line, self.header.delimiter);
        self.shape.comments += 1;
        if let Ok(places) = Places::find(&names, wanted, &self.input.path)
            && self.named
        {
            self.shape.again.add(self.lines);
            self.begin(Header { delimiter: self.header.delimiter, places, line: self.lines });
        }
    }

    /// Follows a row that names the columns again, in any order. Returns true if it is one.
    pub(super) fn is_names(&mut self, wanted: &Wanted) -> Result<bool, SourceError> {
        let Places { time, values, names: known, .. } = &self.header.places;
        let Some(place) = time.0.first().or(values.first()).filter(|_| self.named) else { return Ok(false) };
        // Most rows begin with a time.
        let first = self.field(*place).and_then(|field| field.trim_ascii().first().copied());
        if first.is_some_and(|first| first.is_ascii_digit() || b"+-.".contains(&first)) {
            return Ok(false);
        }
        let is_known = |place: &usize| {
            let name = &known[*place];
            (0..self.fields.len()).any(|position| self.text(position).trim().eq_ignore_ascii_case(name))
        };
        if !time.0.iter().chain(values).any(is_known) {
            return Ok(false);
        }
        let is_number = |position| matches!(Cell::read(&self.text(position)), Cell::Number(..));
        let found: Vec<String> =
            (0..self.fields.len()).map(|position| self.text(position).trim().to_owned()).collect();
        match Places::find(&found, wanted, &self.input.path) {
            Ok(places) => {
                self.shape.again.add(self.line);
                self.begin(Header { delimiter: self.header.delimiter, places, line: self.line });
                Ok(true)
            }
            Err(_) if (0..self.fields.len()).any(is_number) || !time.0.iter().all(is_known) => Ok(false),
            Err(error) => {
                let reason = format!("line {} names the columns again, in another way: {error}", self.line);
                Err(refused(&self.input.path, reason))
            }
        }
    }

    /// Returns true if the row has only words about the columns, such as units.
    pub(super) fn is_words(&mut self, wanted: &Wanted) -> bool {
        let Places { time, values, .. } = &self.header.places;
        let text = |place: &usize| self.text(*place);
        let has_digit = |place: &usize| text(place).bytes().any(|byte| byte.is_ascii_digit());
        let is_number = |place: &usize| matches!(Cell::read(&text(place)), Cell::Number(..));
        let is_blank = |place: &usize| text(place).trim().is_empty();
        if wanted.time.is_none()
            || time.0.iter().any(has_digit)
            || values.iter().any(is_number)
            || time.0.iter().chain(values).all(is_blank)
        {
            return false;
        }
        if self.shape.units.is_empty() {
            self.shape.units = values.iter().map(|place| self.text(*place).trim().to_owned()).collect();
        }
        true
    }
}

/// Refuses a file with rows above the line of the names: nobody names their columns.
fn refuse_rows_above(
    passed: &[(u64, Vec<u8>)],
    header: &Header,
    wanted: &Wanted,
    path: &Path,
) -> Result<(), SourceError> {
    let (places, mut fields) = (&header.places, Fields::default());
    let mut is_row = |line: &[u8]| {
        let line = without_end(line);
        fields.split(line, header.delimiter);
        let text = |place: &usize| decode(fields.get(line, *place).unwrap_or_default()).into_owned();
        let time = || joined(places.time.0.iter().map(text)).is_some_and(|time| is_time(&time));
        let is_number = |place: &usize| matches!(Cell::read(&text(place)), Cell::Number(..));
        fields.len() == places.names.len()
            && places.values.iter().any(is_number)
            && (wanted.time.is_none() || time())
    };
    match passed.iter().find(|(_, line)| is_row(line)) {
        None => Ok(()),
        Some((line, _)) => {
            let (names, skipped) = (header.line, header.line - 1);
            let reason = format!(
                "line {line} looks like a row, but line {names} names the columns; leave out the rows above it with \
                 --skip-lines {skipped}, or write the names into the first line"
            );
            Err(refused(path, reason))
        }
    }
}
