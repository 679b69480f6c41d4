//! The rows of a file of delimited values.
//!
//! A row is a line. It has several lines only if a quoted field reaches over their ends, the row has the usual number of
//! fields, and none of the lines is a row by itself: a stray quote swallows no line's end.

use std::borrow::Cow;

use sotto_pack::Reason;
use zeroize::Zeroizing;

use super::head::{Header, MOST_HEAD_LINES, Search, guess, names};
use super::split::{Fields, Found, count, without_end};
use crate::source::SourceError;
use crate::source::files::cells::{Cell, Record, holds};
use crate::source::files::columns::{Places, Wanted};
use crate::source::files::decimals::Marks;
use crate::source::files::encoding::decode;
use crate::source::files::facts::Shape;
use crate::source::files::input::{Input, refused};
use crate::source::files::time_columns::joined;
use crate::source::formats::{Opening, Rows};

/// Maximum lines of a row.
const MOST_LINES: usize = 64;
/// Lines behind the names that may hold units and other words about the columns.
const WORD_LINES: u8 = 3;

/// A file of delimited values.
pub(super) struct Table {
    input: Input,
    fields: Fields,
    /// Bytes of the current row without and with its line end.
    row: usize,
    taken: usize,
    /// Lines read.
    lines: u64,
    /// The first line of the current row.
    line: u64,
    /// True if the last line ended with CR alone.
    carriage_return: bool,
    header: Header,
    named: bool,
    /// The number of names, and the number of fields of the last regular row.
    expected: [usize; 2],
    /// Lines that may still hold words about the columns.
    words: u8,
    /// True if the current row has not been returned yet.
    held: bool,
    /// Number of rows returned or skipped.
    rows: u64,
    shape: Shape,
}

impl Table {
    /// Finds the names of the columns, or without names the first row. Returns `None` if the file has no line. A file
    /// that replaced another one may continue without names.
    pub(super) fn open(input: Input, opening: &Opening<'_>) -> Result<Option<Self>, SourceError> {
        let header = Header { delimiter: b',', places: Places::default(), line: 0 };
        let mut table = Self {
            input,
            fields: Fields::default(),
            row: 0,
            taken: 0,
            lines: 0,
            line: 0,
            carriage_return: false,
            header,
            named: opening.header,
            expected: [0; 2],
            words: 0,
            held: false,
            rows: 0,
            shape: Shape::default(),
        };
        for _ in 0..opening.skip_lines {
            if !table.next_line()? {
                return Ok(None);
            }
        }
        let found =
            if opening.header { table.find_names(opening)? } else { table.number_columns(opening)? };
        Ok(found.then_some(table))
    }

    /// Looks for the line with the names of the columns. Returns false if the file has no line.
    fn find_names(&mut self, opening: &Opening<'_>) -> Result<bool, SourceError> {
        let path = self.input.path.clone();
        let before = opening.before.and_then(Rows::header).cloned();
        let mut search = Search::new(opening.wanted, &path, opening.delimiter);
        let first = opening.header_line.unwrap_or(1);
        let last = opening.header_line.unwrap_or(self.lines + MOST_HEAD_LINES);
        let mut any = false;
        while self.lines < last && self.next_line()? {
            let line = &self.input.bytes()[..self.row];
            if self.lines < first || line.trim_ascii().is_empty() {
                continue;
            }
            any = true;
            if let Some(header) = search.look(line, self.lines) {
                self.begin(header);
                return Ok(true);
            }
            if let Some(before) = before {
                self.begin(before);
                self.line = self.lines;
                self.split(false)?;
                self.held = true;
                return Ok(true);
            }
            // Rows that arrive over time are not waited for behind a line that looks like the names.
            if self.input.is_paced() && search.likely_names() > opening.wanted.values.len() {
                break;
            }
        }
        match search.error() {
            Some(error) if any => Err(error),
            _ if opening.header_line.is_some() && self.lines > 0 => {
                let reason = format!("it has {} lines, and --header-line names line {last}", self.lines);
                Err(refused(&path, reason))
            }
            _ => Ok(false),
        }
    }

    /// Numbers the columns of the first row. Returns false if the file has no line.
    fn number_columns(&mut self, opening: &Opening<'_>) -> Result<bool, SourceError> {
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

    /// Follows a line of names.
    fn begin(&mut self, header: Header) {
        self.expected = [header.places.names.len(); 2];
        self.words = WORD_LINES;
        self.header = header;
    }

    /// Reads the next line into `row`. Returns false at the end of the file.
    fn next_line(&mut self) -> Result<bool, SourceError> {
        self.input.consume(std::mem::take(&mut self.taken));
        self.row = 0;
        loop {
            let length = match self.input.line(0, self.lines + 1)? {
                Some(length) => length,
                // The last line has no end.
                None => self.input.bytes().len(),
            };
            if length == 0 {
                return Ok(false);
            }
            let line = &self.input.bytes()[..length];
            let is_rest = std::mem::take(&mut self.carriage_return) && line == b"\n";
            self.carriage_return = line.ends_with(b"\r");
            if is_rest {
                self.input.consume(length);
                continue;
            }
            (self.lines, self.taken) = (self.lines + 1, length);
            self.row = without_end(line).len();
            return Ok(true);
        }
    }

    /// Reads a row. Returns false at the end of the file.
    fn read(&mut self, wanted: &Wanted) -> Result<bool, SourceError> {
        loop {
            if !self.next_line()? {
                return Ok(false);
            }
            match self.input.bytes()[..self.row].first() {
                None => {}
                Some(b'#') => self.read_comment(wanted),
                Some(_) => {
                    self.line = self.lines;
                    self.split(true)?;
                    return Ok(true);
                }
            }
        }
    }

    /// Splits the current line, and joins it with those behind it if a quoted field reaches over its end.
    fn split(&mut self, join: bool) -> Result<(), SourceError> {
        let line = &self.input.bytes()[..self.row];
        match self.fields.split(line, self.header.delimiter) {
            Found::Regular => self.expected[1] = self.fields.len(),
            Found::Open(_) if join && self.join()? => self.shape.joined.add(self.line),
            Found::Open(_) | Found::Stray(_) => {
                let line = &self.input.bytes()[..self.row];
                self.fields.mend(line, self.header.delimiter, self.expected);
                self.shape.mended.add(self.line);
            }
        }
        Ok(())
    }

    /// Joins the current line with those behind it, up to the end of a quoted field. Returns false if a line behind it
    /// is a row by itself, or the joined row has not the usual number of fields.
    fn join(&mut self) -> Result<bool, SourceError> {
        let (delimiter, expected) = (self.header.delimiter, self.expected);
        let is_row =
            |table: &Self, line: &[u8]| expected.contains(&count(line, delimiter)) && table.has_time(line);
        let whole = is_row(self, &self.input.bytes()[..self.row]);
        let mut end = self.taken;
        for lines in 1..MOST_LINES as u64 {
            let next = match self.input.line(end, self.lines + lines)? {
                Some(length) => length,
                None => self.input.bytes().len().saturating_sub(end),
            };
            let bytes = self.input.bytes();
            let Some(line) = bytes.get(end..end + next).map(without_end).filter(|_| next > 0) else { break };
            let alone = is_row(self, line);
            end += next;
            let row = without_end(&bytes[..end]);
            match self.fields.split(row, delimiter) {
                _ if alone && whole => break,
                Found::Open(_) if alone => break,
                Found::Open(_) => {}
                Found::Regular if expected.contains(&self.fields.len()) => {
                    (self.row, self.taken, self.lines) = (row.len(), end, self.lines + lines);
                    return Ok(true);
                }
                _ => break,
            }
        }
        Ok(false)
    }

    /// Returns true if a line has a digit where rows have the time, or if rows have no time.
    fn has_time(&self, line: &[u8]) -> bool {
        let Some(place) = self.header.places.time.0.first() else { return true };
        let field = line.split(|byte| *byte == self.header.delimiter).nth(*place);
        field.is_some_and(|field| field.iter().any(u8::is_ascii_digit))
    }

    /// Follows a comment that names the columns again; skips others.
    fn read_comment(&mut self, wanted: &Wanted) {
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

    fn field(&self, position: usize) -> Option<&[u8]> {
        self.fields.get(&self.input.bytes()[..self.row], position)
    }

    fn text(&self, position: usize) -> Cow<'_, str> {
        decode(self.field(position).unwrap_or_default())
    }

    fn meets(&self, conditions: &[(usize, String)]) -> bool {
        conditions.iter().all(|(position, text)| holds(&self.text(*position), text))
    }

    /// Returns true if the row has values after the last column: then no value can be assigned to a column safely.
    fn is_wide(&self) -> bool {
        (self.header.places.names.len()..self.fields.len())
            .any(|position| self.field(position).is_some_and(|field| !field.trim_ascii().is_empty()))
    }

    /// Follows a row that names the columns again, in any order. Returns true if it is one.
    fn is_names(&mut self, wanted: &Wanted) -> Result<bool, SourceError> {
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
    fn is_words(&mut self, wanted: &Wanted) -> bool {
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

    fn record(&self, wanted: &Wanted, wide: bool) -> Record {
        let (places, unsure) = (&self.header.places, self.fields.is_unsure());
        let time = joined(places.time.0.iter().map(|position| self.text(*position)));
        let cell = |(channel, position): (usize, &usize)| match self.field(*position) {
            _ if !places.about.is_empty() && !self.meets(&places.about[channel]) => Cell::Absent,
            _ if unsure && !self.fields.is_sure(*position) => Cell::Missing(Reason::Text),
            _ if wide && !unsure => Cell::Missing(Reason::Text),
            Some(bytes) => wanted.values[channel].read_bytes(bytes),
            None => Cell::default(),
        };
        let cells = Zeroizing::new(places.values.iter().enumerate().map(cell).collect());
        Record { line: self.line, time, cells }
    }
}

impl Rows for Table {
    fn next(&mut self, wanted: &Wanted) -> Result<Option<Record>, SourceError> {
        loop {
            if !std::mem::take(&mut self.held) && !self.read(wanted)? {
                return Ok(None);
            }
            if self.words > 0 {
                let is_words = self.is_words(wanted);
                self.words = if is_words { self.words - 1 } else { 0 };
                if is_words {
                    continue;
                }
            }
            if self.is_names(wanted)? {
                continue;
            }
            self.rows += 1;
            let wide = self.is_wide();
            if wide && self.rows == 1 {
                let (line, names, values) = (self.line, self.header.places.names.len(), self.fields.len());
                let reason = format!(
                    "line {line} has {values} values and the header has {names} names; \
                     name the character between values with --delimiter, or mend the header"
                );
                return Err(refused(&self.input.path, reason));
            }
            if wide {
                self.shape.wide.add(self.line);
            }
            if self.meets(&self.header.places.conditions) {
                let record = self.record(wanted, wide);
                if self.header.places.about.is_empty()
                    || record.cells.iter().any(|cell| *cell != Cell::Absent)
                {
                    return Ok(Some(record));
                }
            }
        }
    }

    fn cell_text(&self, channel: usize) -> Option<String> {
        let place = self.header.places.values.get(channel)?;
        Some(self.text(*place).trim().to_owned())
    }

    fn is_replaced(&self) -> bool {
        self.input.is_replaced()
    }

    fn names(&self) -> &[String] {
        &self.header.places.names
    }

    fn marks(&self) -> Marks {
        if self.header.delimiter == b',' { Marks::CommaBetween } else { Marks::Free }
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }

    fn shape(&self) -> Shape {
        let Header { delimiter, line, places } = &self.header;
        let time = places.time.0.iter().map(|place| places.names[*place].clone()).collect();
        let (packing, encoding) = (self.input.packing(), self.input.encoding());
        let delimiter = Some(char::from(*delimiter));
        Shape {
            delimiter,
            header_line: Some(*line).filter(|line| *line > 0),
            time,
            packing,
            encoding,
            ..self.shape.clone()
        }
    }
}
