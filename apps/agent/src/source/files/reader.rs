//! The open file.

use std::path::{Path, PathBuf};

use super::cells::Record;
use super::columns::Wanted;
use super::decimal::Marks;
use super::facts::Shape;
use super::input::{Input, is_stream, refused};
use super::options::FileOptions;
use crate::source::SourceError;
use crate::source::formats::{self, Opening, Rows};
use crate::stop::Stop;

/// Result of reading a row.
pub(super) enum Next {
    /// A row was read.
    Record,
    /// The end of the file.
    End,
    /// The end of a file that was replaced by another one.
    Replaced,
}

/// The open file.
pub(super) struct Reader {
    path: PathBuf,
    format: &'static str,
    rows: Box<dyn Rows>,
}

impl Reader {
    /// Opens a file; with `follow`, waits for its first line.
    pub(super) fn open(
        path: &Path,
        follow: bool,
        options: &FileOptions,
        wanted: &Wanted,
        stop: &Stop,
    ) -> Result<Self, SourceError> {
        let mut again = false;
        loop {
            let input = Input::open(path, follow, again, stop)?;
            if let Some((format, rows)) = open(input, options, wanted, None)? {
                return Ok(Self { path: path.to_owned(), format, rows });
            }
            // Only a followed file that was replaced before its first line is opened again.
            if !follow || is_stream(path) {
                return Err(refused(path, "it is empty"));
            }
            again = true;
        }
    }

    /// Opens the file that replaced this one; waits until it exists and has a line.
    pub(super) fn again(
        &self,
        options: &FileOptions,
        wanted: &Wanted,
        stop: &Stop,
    ) -> Result<Self, SourceError> {
        loop {
            let input = Input::open(&self.path, true, true, stop)?;
            if let Some((format, rows)) = open(input, options, wanted, Some(&*self.rows))? {
                return Ok(Self { path: self.path.clone(), format, rows });
            }
        }
    }

    /// Reads the next row into `record`.
    pub(super) fn next(&mut self, wanted: &Wanted, record: &mut Record) -> Result<Next, SourceError> {
        Ok(match self.rows.next(wanted, record)? {
            true => Next::Record,
            false if self.rows.is_replaced() => Next::Replaced,
            false => Next::End,
        })
    }

    /// Reads a file again and returns the text of a channel's cell in a line.
    pub(super) fn cell(
        path: &Path,
        line: u64,
        channel: usize,
        options: &FileOptions,
        wanted: &Wanted,
        stop: &Stop,
    ) -> Result<Option<String>, SourceError> {
        let (mut reader, mut record) = (Self::open(path, false, options, wanted, stop)?, Record::default());
        while let Next::Record = reader.next(wanted, &mut record)? {
            if record.line == line {
                return Ok(reader.rows.cell_text(channel));
            }
        }
        Ok(None)
    }

    /// Returns the text of a channel's cell in the row that was returned last.
    pub(super) fn cell_text(&self, channel: usize) -> Option<String> {
        self.rows.cell_text(channel)
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        self.rows.names().to_vec()
    }

    /// Returns the name of the format.
    pub(super) fn format(&self) -> &'static str {
        self.format
    }

    /// Returns how marks in numbers are meant.
    pub(super) fn marks(&self) -> Marks {
        self.rows.marks()
    }

    /// Returns the shape of the file, as found so far.
    pub(super) fn shape(&self) -> Shape {
        self.rows.shape()
    }
}

/// The name of a file's format, and its rows.
type Opened = (&'static str, Box<dyn Rows>);

/// Reads the beginning of a file; returns `None` if it has no line. `before` is the file that it replaced.
fn open(
    mut input: Input,
    options: &FileOptions,
    wanted: &Wanted,
    before: Option<&dyn Rows>,
) -> Result<Option<Opened>, SourceError> {
    input.begin(options.encoding)?;
    let delimiter = options.delimiter.and_then(|delimiter| u8::try_from(delimiter).ok());
    let FileOptions { header, header_line, skip_lines, .. } = *options;
    let table = options.table.as_deref();
    let opening = Opening { wanted, delimiter, header, header_line, skip_lines, table, before };
    let format = formats::of(&mut input, options.format)?;
    if table.is_some() && !format.has_tables() {
        return Err(refused(&input.path, format!("it is one table ({}): leave out --table", format.name())));
    }
    Ok(format.open(input, &opening)?.map(|rows| (format.name(), rows)))
}
