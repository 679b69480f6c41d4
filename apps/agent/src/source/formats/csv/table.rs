//! The rows of a file of delimited values.
//!
//! A row is a line. It has several lines only if a quoted field reaches over their ends, the row has the usual number of
//! fields, and none of the lines is a row by itself: a stray quote swallows no line's end.

mod names;

use std::borrow::Cow;

use sotto_pack::Reason;

use super::head::Header;
use super::split::{Fields, Found, count, fields_of, without_end};
use crate::source::SourceError;
use crate::source::files::cells::{Cell, Record, holds};
use crate::source::files::columns::Wanted;
use crate::source::files::decimal::Marks;
use crate::source::files::encoding::decode;
use crate::source::files::facts::Shape;
use crate::source::files::input::{Input, refused};
use crate::source::files::places::Places;
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
    /// True if the last line has no end.
    unended: bool,
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
            unended: false,
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
            let ended = self.input.line(0, self.lines + 1)?;
            let length = ended.unwrap_or(self.input.bytes().len());
            self.unended = ended.is_none();
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
        let field = fields_of(line, self.header.delimiter).nth(*place);
        field.is_some_and(|field| field.iter().any(u8::is_ascii_digit))
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

    fn fill(&self, record: &mut Record, wanted: &Wanted, wide: bool) {
        let (places, unsure) = (&self.header.places, self.fields.is_unsure());
        record.line = self.line;
        record.time = match places.time.0[..] {
            [position] => wanted.stamp_of_bytes(self.field(position).unwrap_or_default()),
            ref positions => wanted.stamp_of(positions.iter().map(|position| self.text(*position))),
        };
        let cell = |(channel, position): (usize, &usize)| match self.field(*position) {
            _ if !places.about.is_empty() && !self.meets(&places.about[channel]) => Cell::Absent,
            // The last cell of a file that was cut off may lack its last digits.
            Some(_)
                if self.unended
                    && position + 1 == self.fields.len()
                    && self.fields.len() < places.names.len() =>
            {
                Cell::Missing(Reason::Text)
            }
            _ if unsure && !self.fields.is_sure(*position) => Cell::Missing(Reason::Text),
            _ if wide && !unsure => Cell::Missing(Reason::Text),
            Some(bytes) => wanted.values[channel].read_bytes(bytes),
            None => Cell::default(),
        };
        record.cells.clear();
        record.cells.extend(places.values.iter().enumerate().map(cell));
    }
}

impl Rows for Table {
    fn next(&mut self, wanted: &Wanted, record: &mut Record) -> Result<bool, SourceError> {
        loop {
            if !std::mem::take(&mut self.held) && !self.read(wanted)? {
                return Ok(false);
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
            // Where blanks separate values, nobody knows which one a shorter row lacks.
            let shorter = self.header.delimiter == b' ' && self.fields.len() < self.header.places.names.len();
            let wide = self.is_wide();
            if wide && self.rows == 1 {
                let (line, names, values) = (self.line, self.header.places.names.len(), self.fields.len());
                let reason = match self.header.line {
                    0 => format!(
                        "line {line} has {values} values, and there are {names} columns; name the character between values with \
                         --delimiter"
                    ),
                    head => format!(
                        "line {line} has {values} values, and line {head} has {names} names; if the names are in another line, pass it with \
                         --header-line, or name the character between values with --delimiter"
                    ),
                };
                return Err(refused(&self.input.path, reason));
            }
            if wide {
                self.shape.wide.add(self.line);
            }
            if self.meets(&self.header.places.conditions) {
                self.fill(record, wanted, wide || shorter);
                if self.header.places.about.is_empty()
                    || record.cells.iter().any(|cell| *cell != Cell::Absent)
                {
                    return Ok(true);
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
