//! The open file: delimited values or JSON lines.

use std::path::{Path, PathBuf};

use super::cells::Record;
use super::columns::Wanted;
use super::input::{Input, More, is_stream, refused};
use super::json::Lines;
use super::table::{Shape, Table};
use super::{FileOptions, Format};
use crate::source::SourceError;
use crate::stop::Stop;

/// Result of reading a row.
pub(super) enum Next {
    /// A row.
    Record(Record),
    /// The end of the file.
    End,
    /// The end of a file that was replaced by another one.
    Replaced,
}

enum Rows {
    Table(Box<Table>),
    Lines(Box<Lines>),
}

/// The open file.
pub(super) struct Reader {
    path: PathBuf,
    rows: Rows,
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
            if let Some(rows) = open(input, options, wanted, None)? {
                return Ok(Self { path: path.to_owned(), rows });
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
            if let Some(rows) = open(input, options, wanted, Some(&self.rows))? {
                return Ok(Self { path: self.path.clone(), rows });
            }
        }
    }

    /// Returns the next row.
    pub(super) fn next(&mut self, wanted: &Wanted) -> Result<Next, SourceError> {
        let (record, replaced) = match &mut self.rows {
            Rows::Table(table) => (table.next(wanted)?, table.is_replaced()),
            Rows::Lines(lines) => (lines.next(wanted)?, lines.is_replaced()),
        };
        Ok(match record {
            Some(record) => Next::Record(record),
            None if replaced => Next::Replaced,
            None => Next::End,
        })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        match &self.rows {
            Rows::Table(table) => table.shape().names().to_vec(),
            Rows::Lines(lines) => lines.names().to_vec(),
        }
    }

    /// Returns true if a comma can be the decimal mark, because it is not the delimiter.
    pub(super) fn has_free_comma(&self) -> bool {
        matches!(&self.rows, Rows::Table(table) if table.shape().delimiter() != b',')
    }
}

/// Reads the beginning of a file; returns `None` if it has no line. `before` is the file that it replaced.
fn open(
    mut input: Input,
    options: &FileOptions,
    wanted: &Wanted,
    before: Option<&Rows>,
) -> Result<Option<Rows>, SourceError> {
    input.begin()?;
    let shape: Option<Shape> = match before {
        Some(Rows::Table(table)) => Some(table.shape().clone()),
        _ => None,
    };
    if is_json(&mut input, options.format)? {
        return Ok(Lines::open(input, wanted)?.map(|lines| Rows::Lines(Box::new(lines))));
    }
    let delimiter = options.delimiter.and_then(|delimiter| u8::try_from(delimiter).ok());
    Ok(Table::open(input, wanted, delimiter, options.header, shape)?
        .map(|table| Rows::Table(Box::new(table))))
}

/// Returns true for JSON lines. With `Format::Auto`, the file must begin with an object, or with an array, which is
/// refused later.
fn is_json(input: &mut Input, format: Format) -> Result<bool, SourceError> {
    if format != Format::Auto {
        return Ok(format == Format::JsonLines);
    }
    loop {
        let mut begins = input.bytes().iter().filter(|byte| !byte.is_ascii_whitespace());
        match (begins.next(), begins.next()) {
            (Some(b'{'), _) | (Some(b'['), Some(b'{')) => return Ok(true),
            (Some(b'['), None) | (None, _) if input.bytes().len() < 4096 => {}
            _ => return Ok(false),
        }
        if input.more()? == More::End {
            return Ok(false);
        }
    }
}
