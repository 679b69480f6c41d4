//! Values with a delimiter between them: the header, and rows as they arrive.

mod delimiter;

use std::borrow::Cow;
use std::path::Path;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use sotto_pack::Reason;
use zeroize::Zeroizing;

use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::cells::{Cell, Record, holds, joined, time_text};
use crate::source::files::columns::{Wanted, position};
use crate::source::files::encoding::decode;
use crate::source::files::input::{Input, LONGEST_ROW, More, refused, too_long};
use delimiter::first_line;

pub(super) const NAME: &str = "csv";

/// Values with a delimiter between them.
pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        NAME
    }

    fn sniff(&self, _: &[u8]) -> Option<bool> {
        // Any text is a column at least.
        Some(true)
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        Ok(Table::open(input, opening)?.map(|table| Box::new(table) as Box<dyn Rows>))
    }
}

/// Positions of the requested columns.
#[derive(Clone)]
struct ColumnPositions {
    time: Vec<usize>,
    values: Vec<usize>,
    conditions: Vec<(usize, String)>,
    /// Names of all columns of the file.
    names: Vec<String>,
}

/// The delimiter and the columns of a file. A file that replaces it may have no header.
#[derive(Clone)]
pub(in crate::source) struct Header {
    delimiter: u8,
    places: ColumnPositions,
}

/// A file of delimited values.
struct Table {
    input: Input,
    core: Reader,
    fields: Zeroizing<Vec<u8>>,
    /// End of each field in `fields`; the first `count` entries belong to the current record.
    ends: Vec<usize>,
    count: usize,
    /// The line number of the record.
    line: u64,
    /// Lines skipped before the CSV reader started.
    before: u64,
    header: Header,
    /// True if the current record has not been returned yet.
    held: bool,
    /// Number of records read, including the header.
    reads: u64,
    /// Number of rows returned or skipped.
    rows: u64,
}

impl Table {
    /// Reads the header, or without a header the first row. Returns `None` if the file has no line. A file that
    /// replaced another one may continue without a header.
    fn open(mut input: Input, opening: &Opening<'_>) -> Result<Option<Self>, SourceError> {
        let Opening { wanted, delimiter, header, before } = *opening;
        let before = before.and_then(Rows::header).cloned();
        let (skipped, guessed) = first_line(&mut input, header)?;
        let delimiter = delimiter.or(before.as_ref().map(|header| header.delimiter)).unwrap_or(guessed);
        let places = ColumnPositions {
            time: Vec::new(),
            values: Vec::new(),
            conditions: Vec::new(),
            names: Vec::new(),
        };
        let mut table = Self {
            input,
            core: ReaderBuilder::new().delimiter(delimiter).build(),
            fields: Zeroizing::new(vec![0; 256]),
            ends: vec![0; 16],
            count: 0,
            line: 0,
            before: skipped,
            header: Header { delimiter, places },
            held: false,
            reads: 0,
            rows: 0,
        };
        if !table.read()? {
            return Ok(None);
        }
        let names =
            if header { table.names(wanted)? } else { (1..=table.count).map(|n| n.to_string()).collect() };
        match (ColumnPositions::find(&names, wanted, &table.input.path), before) {
            (Ok(places), _) => {
                table.header.places = places;
                table.held = !header;
            }
            (Err(_), Some(before)) => {
                table.header = before;
                table.held = true;
            }
            (Err(error), None) => return Err(error),
        }
        Ok(Some(table))
    }

    fn field(&self, position: usize) -> Option<&[u8]> {
        if position >= self.count {
            return None;
        }
        let start = if position == 0 { 0 } else { *self.ends.get(position - 1)? };
        self.fields.get(start..*self.ends.get(position)?)
    }

    /// Returns a field as text; refuses bytes that are not of the encoding.
    fn text(&self, position: usize, wanted: &Wanted) -> Result<Cow<'_, str>, SourceError> {
        decode(self.field(position).unwrap_or_default(), wanted.encoding)
            .ok_or_else(|| SourceError::NotUtf8 { path: self.input.path.clone(), line: self.line })
    }

    fn names(&self, wanted: &Wanted) -> Result<Vec<String>, SourceError> {
        let name = |position| Ok(self.text(position, wanted)?.trim().to_owned());
        (0..self.count).map(name).collect()
    }

    fn meets_conditions(&self, wanted: &Wanted) -> Result<bool, SourceError> {
        for (position, text) in &self.header.places.conditions {
            if !holds(&self.text(*position, wanted)?, text) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if the row has values after the last column: then no value can be assigned to a column safely.
    fn is_wide(&self) -> bool {
        (self.header.places.names.len()..self.count)
            .any(|position| self.field(position).is_some_and(|field| !field.trim_ascii().is_empty()))
    }

    fn record(&self, wanted: &Wanted, wide: bool) -> Result<Record, SourceError> {
        let places = &self.header.places;
        let part = |position: &usize| Ok(time_text(&self.text(*position, wanted)?));
        let time = joined(places.time.iter().map(part).collect::<Result<Vec<_>, SourceError>>()?);
        let cell = |position: &usize| match self.field(*position) {
            _ if wide => Cell::Missing(Reason::Text),
            Some(bytes) => Cell::read_bytes(bytes, wanted.encoding),
            None => Cell::default(),
        };
        let cells = Zeroizing::new(places.values.iter().map(cell).collect());
        Ok(Record { line: self.line, time, cells })
    }

    /// Reads a record. Returns false at the end of the file.
    fn read(&mut self) -> Result<bool, SourceError> {
        let (mut fields, mut ends, mut consumed) = (0, 0, 0);
        self.count = 0;
        let mut finished = false;
        // With a lone CR as line end, the CSV reader counts no lines: count records instead.
        self.line = self.before + self.core.line().max(self.reads + 1);
        loop {
            let bytes = self.input.bytes();
            if bytes.is_empty() && !finished {
                match self.input.more()? {
                    More::Bytes => {}
                    More::End => finished = true,
                    // The file was truncated: the rest of this record is lost.
                    More::Cut => return Ok(false),
                }
                continue;
            }
            let blank = fields == 0 && ends == 0;
            let (result, read, written, ended) =
                self.core.read_record(bytes, &mut self.fields[fields..], &mut self.ends[ends..]);
            self.input.consume(read);
            (fields, ends, consumed) = (fields + written, ends + ended, consumed + read);
            if blank && written == 0 && ended == 0 && result == ReadRecordResult::InputEmpty {
                // Empty lines do not count towards a record's length.
                consumed = 0;
            }
            if consumed > LONGEST_ROW {
                return Err(too_long(&self.input.path, self.line));
            }
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => double(&mut self.fields),
                ReadRecordResult::OutputEndsFull => double(&mut self.ends),
                ReadRecordResult::End => return Ok(false),
                ReadRecordResult::Record => {
                    self.count = ends;
                    self.reads += 1;
                    return Ok(true);
                }
            }
        }
    }
}

impl Rows for Table {
    fn next(&mut self, wanted: &Wanted) -> Result<Option<Record>, SourceError> {
        loop {
            if !std::mem::take(&mut self.held) && !self.read()? {
                return Ok(None);
            }
            self.rows += 1;
            let wide = self.is_wide();
            if wide && self.rows == 1 {
                let (line, names, values) = (self.line, self.header.places.names.len(), self.count);
                let reason = format!(
                    "line {line} has {values} values and the header has {names} names; \
                     name the character between values with --delimiter, or mend the header"
                );
                return Err(refused(&self.input.path, reason));
            }
            if self.meets_conditions(wanted)? {
                return self.record(wanted, wide).map(Some);
            }
        }
    }

    fn is_replaced(&self) -> bool {
        self.input.is_replaced()
    }

    fn names(&self) -> &[String] {
        &self.header.places.names
    }

    fn has_free_comma(&self) -> bool {
        self.header.delimiter != b','
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl ColumnPositions {
    fn find(names: &[String], wanted: &Wanted, path: &Path) -> Result<Self, SourceError> {
        let values =
            wanted.values.iter().map(|name| position(names, name, path)).collect::<Result<_, _>>()?;
        let condition = |(name, text): &(String, String)| Ok((position(names, name, path)?, text.clone()));
        let conditions = wanted.conditions.iter().map(condition).collect::<Result<_, SourceError>>()?;
        Ok(Self { time: wanted.time(names, path)?, values, conditions, names: names.to_vec() })
    }
}

fn double<T: Clone + Default>(buffer: &mut Vec<T>) {
    buffer.resize(2 * buffer.len(), T::default());
}
