//! Options that control how files are read.

use std::path::PathBuf;

use sotto_pack::{Clock, Period};

use super::decimal::Decimal;
use super::encoding::Encoding;
use super::local::Local;
use super::time_columns::MOST_TIME_COLUMNS;
use super::times::TimeFormat;
use crate::source::SourceError;
use crate::source::formats::FormatName;

/// Options that control how files are read.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// The files, read one after another; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The format of the files; found in the first bytes of each if not given.
    pub format: Option<FormatName>,
    /// The column of the time, or those of date and time of day, or of year, month, day, hour, minute and second.
    /// Guessed by name if neither this nor `start` is given.
    pub time: Vec<String>,
    /// The format of times, as for `strftime`, or `seconds`, `milliseconds`, `microseconds`, `nanoseconds` since 1970, or
    /// `excel` for days of a spreadsheet; guessed from the first rows if not given.
    pub time_format: Option<String>,
    /// The time of the first row, for files without a time column: row k is at `start` + k · `period`.
    pub start: Option<String>,
    /// Pairs of channel and column. A channel without a pair is read from the column with its name. A column
    /// `state[entity_id=sensor.hum]` gives a reading in rows with that text in the column in brackets alone.
    pub columns: Vec<(String, String)>,
    /// Conditions: pairs of column and text. Rows with another text are skipped; numbers are compared as numbers.
    pub conditions: Vec<(String, String)>,
    /// The delimiter; guessed from the first line if not given.
    pub delimiter: Option<char>,
    /// The decimal mark; the other one separates groups of thousands. If not given, the numbers of the file decide, and
    /// numbers with two readings are refused.
    pub decimal: Option<Decimal>,
    /// The encoding of text. If not given, UTF-16 if the first bytes show it, else UTF-8; bytes that are not UTF-8 are
    /// read as Windows-1252.
    pub encoding: Option<Encoding>,
    /// The number of the line that names the columns, from 1; found by the names if not given.
    pub header_line: Option<u64>,
    /// Number of lines to skip at the beginning of each file.
    pub skip_lines: u64,
    /// The sheet of a workbook, or the table of a database; the only one with the wanted columns if not given.
    pub table: Option<String>,
    /// Texts or numbers that stand for no reading, each of one channel or of all.
    pub missing: Vec<(Option<String>, String)>,
    /// Factors of the numbers of one channel or of all: a reading is number · factor + offset. The last one counts.
    pub scale: Vec<(Option<String>, f64)>,
    /// Offsets likewise.
    pub offset: Vec<(Option<String>, f64)>,
    /// Units of the numbers, which are converted to those of the channels after factor and offset.
    pub from_unit: Vec<(Option<String>, String)>,
    /// True to wait for more rows at the end of the last file.
    pub follow: bool,
    /// True if a file may lack channels that another one has. Without effect where rows arrive over time.
    pub may_lack: bool,
    /// True if the first line names the columns; otherwise they are called 1, 2, 3 and so on.
    pub header: bool,
    /// The time zone of local times.
    pub zone: Clock,
    /// The time between rows of files without a time column.
    pub period: Period,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            format: None,
            time: Vec::new(),
            time_format: None,
            start: None,
            columns: Vec::new(),
            conditions: Vec::new(),
            delimiter: None,
            decimal: None,
            encoding: None,
            header_line: None,
            skip_lines: 0,
            table: None,
            missing: Vec::new(),
            scale: Vec::new(),
            offset: Vec::new(),
            from_unit: Vec::new(),
            follow: false,
            may_lack: false,
            header: true,
            zone: Clock::utc(),
            period: Period::from_milliseconds(1000),
        }
    }
}

impl FileOptions {
    /// Refuses unusable options.
    pub(super) fn check(&self) -> Result<(), SourceError> {
        if self.paths.is_empty() {
            return Err(refused("--csv", "name a file, or - for standard input"));
        }
        let unfit = |delimiter: &char| !delimiter.is_ascii() || "\"\r\n".contains(*delimiter);
        if self.delimiter.as_ref().is_some_and(unfit) {
            return Err(refused(
                "--delimiter",
                "give one ASCII character that is neither a quote nor an end of line",
            ));
        }
        if self.time.len() > MOST_TIME_COLUMNS {
            return Err(refused(
                "--time",
                "give one column, those of date and time of day, or those of year, month, day, hour, minute and second",
            ));
        }
        if !self.time.is_empty() && self.start.is_some() {
            return Err(refused(
                "--start",
                "it is for files without a time column: leave out --time or --start",
            ));
        }
        if self.header_line.is_some_and(|line| line <= self.skip_lines || !self.header) {
            return Err(refused(
                "--header-line",
                "give a line behind the skipped ones, and leave out --no-header",
            ));
        }
        let is_number = |(_, number): &(Option<String>, f64)| number.is_finite();
        if !self.scale.iter().all(|scale| is_number(scale) && scale.1 != 0.0) {
            return Err(refused("--scale", "give a number other than 0"));
        }
        if !self.offset.iter().all(is_number) {
            return Err(refused("--offset", "give a number"));
        }
        Ok(())
    }

    /// Returns the format of times, if given.
    pub(super) fn custom_form(&self) -> Result<Option<TimeFormat>, SourceError> {
        let form = self.time_format.as_deref().map(TimeFormat::custom).transpose();
        form.map_err(|error| refused("--time-format", format!("{error}; an example is '%d.%m.%Y %H:%M'")))
    }

    /// Returns the time of the first row, in milliseconds since 1970, if given.
    pub(super) fn start(&self, custom: Option<&TimeFormat>) -> Result<Option<i64>, SourceError> {
        let Some(text) = self.start.as_deref().map(str::trim) else { return Ok(None) };
        let forms = custom.map_or_else(|| TimeFormat::of(text), |form| vec![form.clone()]);
        let [form] = &forms[..] else {
            return Err(refused("--start", "give a time such as 2026-03-01T06:00 or 2026-03-01T06:00:00Z"));
        };
        let when = form
            .read(text)
            .ok_or_else(|| refused("--start", "it does not have the format of --time-format"))?;
        let at = Local::new(self.zone.zone().clone()).instant(&when, 0);
        at.map(Some)
            .map_err(|_| refused("--start", format!("the clocks of {} skipped this time", self.zone.name())))
    }
}

fn refused(option: &'static str, reason: impl Into<String>) -> SourceError {
    SourceError::Option { option, reason: reason.into() }
}
