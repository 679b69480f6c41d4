//! The formats of files, one file each. A new one is a line in [`TABLES`] or [`TEXTS`] and a file that implements [`Format`] and
//! [`Rows`].

#[cfg(any(test, not(feature = "tables")))]
mod absent;
#[cfg(feature = "tables")]
mod arrow;
mod csv;
mod influx_csv;
mod json;
mod line_protocol;
mod magic;
#[cfg(feature = "tables")]
mod parquet;
#[cfg(feature = "tables")]
mod sqlite;
mod toa5;
#[cfg(feature = "tables")]
mod typed;
#[cfg(feature = "tables")]
mod xlsx;

use std::fmt;
use std::str::FromStr;

pub use line_protocol::Value;
#[cfg(feature = "gateway")]
pub(crate) use line_protocol::{Line, Malformed};

use super::SourceError;
use super::files::cells::Record;
use super::files::columns::Wanted;
use super::files::decimal::Marks;
use super::files::facts::Shape;
use super::files::input::{Input, More, refused};

/// Tables in binary files.
#[cfg(feature = "tables")]
static TABLES: [&dyn Format; 4] = [&parquet::Parquet, &arrow::Arrow, &xlsx::Xlsx, &sqlite::Sqlite];
#[cfg(not(feature = "tables"))]
static TABLES: [&dyn Format; 4] = {
    let [parquet, arrow, xlsx, sqlite] = &absent::ALL;
    [parquet, arrow, xlsx, sqlite]
};

/// Formats of text, in the order in which a file without a named format is tried.
static TEXTS: [&dyn Format; 6] = [
    &json::JsonLines,
    &json::JsonArray,
    &toa5::Toa5,
    &influx_csv::InfluxCsv,
    &line_protocol::LineProtocol,
    &csv::Csv,
];

/// Returns all formats, in the order in which a file without a named format is tried.
fn all() -> impl Iterator<Item = &'static dyn Format> {
    TABLES.into_iter().chain(TEXTS)
}

/// A format of files.
pub(super) trait Format: Sync {
    /// Returns the name: the one of `--format`, and of the source in reports.
    fn name(&self) -> &'static str;

    /// Returns true if a file that begins with these bytes may have this format; `None` if more bytes decide.
    fn sniff(&self, begin: &[u8]) -> Option<bool>;

    /// Returns true if a file may have several tables.
    fn has_tables(&self) -> bool {
        false
    }

    /// Reads the beginning of a file. Returns `None` if the file has no line.
    ///
    /// # Errors
    /// [`SourceError`] if the file does not have the format, or lacks a column.
    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError>;
}

/// The rows of an open file.
pub(super) trait Rows: Send {
    /// Reads the next row that meets the conditions. Returns false at the end of the file.
    ///
    /// # Errors
    /// [`SourceError`] if the file cannot be read.
    fn next(&mut self, wanted: &Wanted, record: &mut Record) -> Result<bool, SourceError>;

    /// Returns the text of a channel's cell in the row that was returned last.
    fn cell_text(&self, channel: usize) -> Option<String>;

    /// Returns true if another file replaced this one.
    fn is_replaced(&self) -> bool;

    /// Returns the names of the columns.
    fn names(&self) -> &[String];

    /// Returns how marks in numbers are meant.
    fn marks(&self) -> Marks {
        Marks::Typed
    }

    /// Returns the shape of the file, as found so far.
    fn shape(&self) -> Shape {
        Shape::default()
    }

    /// Returns the header with which a file that replaces this one may continue.
    fn header(&self) -> Option<&csv::Header> {
        None
    }
}

/// Facts about a file before it is read.
pub(super) struct Opening<'o> {
    /// The requested columns.
    pub(super) wanted: &'o Wanted,
    /// The character between columns, if given.
    pub(super) delimiter: Option<u8>,
    /// True if a line names the columns.
    pub(super) header: bool,
    /// The number of that line, if given.
    pub(super) header_line: Option<u64>,
    /// Number of lines to skip at the beginning.
    pub(super) skip_lines: u64,
    /// The name of the table, if given.
    #[cfg_attr(not(feature = "tables"), allow(dead_code))]
    pub(super) table: Option<&'o str>,
    /// The file that this one replaced.
    pub(super) before: Option<&'o dyn Rows>,
}

/// Always the name of a known format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatName(&'static str);

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are the formats {}", names().join(", "))]
pub struct NoFormat;

impl FromStr for FormatName {
    type Err = NoFormat;

    fn from_str(name: &str) -> Result<Self, NoFormat> {
        names().into_iter().find(|known| *known == name).map(Self).ok_or(NoFormat)
    }
}

impl fmt::Display for FormatName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl FormatName {
    /// Values with a delimiter between them.
    pub const CSV: Self = Self(csv::NAME);
    /// One JSON object per line.
    pub const JSON_LINES: Self = Self(json::LINES);

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

fn names() -> Vec<&'static str> {
    all().map(|format| format.name()).collect()
}

/// Returns the format of a file: the named one, else the first that its beginning fits.
pub(super) fn of(input: &mut Input, named: Option<FormatName>) -> Result<&'static dyn Format, SourceError> {
    // A table is never text, whatever the option says.
    if let Some(named) = named.filter(|named| TEXTS.iter().any(|format| format.name() == named.0)) {
        for format in TABLES {
            if fits(format, input)? {
                let name = format.name();
                let reason =
                    format!("it is no {named} but a table in a binary file ({name}): pass it with --file");
                return Err(refused(&input.path, reason));
            }
        }
    }
    for format in all() {
        if named.is_some_and(|name| name.0 == format.name()) || named.is_none() && fits(format, input)? {
            return Ok(format);
        }
    }
    Err(refused(&input.path, "it has none of the known formats: name its format with --format"))
}

/// Reads bytes until they decide whether a file has the format.
fn fits(format: &dyn Format, input: &mut Input) -> Result<bool, SourceError> {
    loop {
        if let Some(fits) = format.sniff(input.bytes()) {
            return Ok(fits);
        }
        if input.more()? == More::End {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_names_of_their_own() {
        let names = names();
        for (position, name) in names.iter().enumerate() {
            assert_eq!(names.iter().position(|other| other == name), Some(position));
            assert_eq!(name.parse::<FormatName>().map(FormatName::as_str), Ok(*name));
        }
        let refused = "ods".parse::<FormatName>().unwrap_err().to_string();
        assert!(refused.contains("csv") && refused.contains("parquet"), "{refused}");
    }
}
