//! Files as they occur in practice: of any format, standard input, growing files.

pub(super) mod cells;
mod civil;
pub(super) mod column_options;
pub(super) mod columns;
mod conversion;
pub(super) mod decimal;
mod decimals;
pub(super) mod encoding;
pub(super) mod epoch;
pub(super) mod facts;
#[cfg(feature = "gateway")]
mod field_column;
mod guess;
pub(super) mod input;
pub(super) mod local;
pub(super) mod names;
pub(super) mod numbers;
mod options;
pub(super) mod packed;
pub(super) mod places;
mod reader;
mod states;
mod stream;
pub(super) mod time_columns;
mod times;
mod units;

use std::collections::VecDeque;
use std::path::PathBuf;

use sotto_pack::{Channel, LeftOut, Reason};
use zeroize::Zeroizing;

pub use decimal::Decimal;
pub use encoding::{Encoding, NoEncoding};
pub(in crate::source) use facts::count as count_fault;
pub use facts::{Fault, FileFacts, Lines, UnknownState};
#[cfg(feature = "gateway")]
pub(crate) use field_column::FieldColumn;
pub use options::FileOptions;

use super::{Row, Source, SourceError};
use crate::stop::Stop;
use cells::{Cell, Record, Stamp};
use columns::{Column, Wanted};
use decimals::Evidence;
use facts::Shape;
use local::Local;
use reader::{Next, Reader};
use time_columns::TimeColumns;
use times::TimeFormat;

/// Rows examined to guess the format of times and the decimal mark.
const LOOKED_AT: usize = 1000;

/// Rows of one or more files, in file order.
///
/// - The first rows of a file determine its time format. If day and month are ambiguous in the first 1000 rows, the
///   format of the file before decides. Rows with another format are left out as [`Reason::NoTime`].
/// - Local times are in the zone of the options. A time that the clocks skipped is left out as [`Reason::NoSuchTime`].
///   A time that they showed twice means the occurrence that the order of the rows tells.
/// - The numbers of a file decide its decimal mark. Where `1.002` can be two readings and no number decides, opening
///   fails: see [`SourceError::AmbiguousNumber`]. Rows that arrive over time cannot be read ahead: there the first
///   number with a mark decides, or ends the source.
/// - Without a time column, row k of all files is k periods after the start; rows that fail the conditions are not
///   counted.
/// - A cell without a number is [`Reason::Empty`], [`Reason::NotANumber`] or [`Reason::Text`].
/// - With `follow`, the last file is read as it grows, in whole lines. If it is replaced or truncated, it is read again
///   from its beginning, where a header may be missing. A file that is truncated and grows past its old length within
///   100 ms is not noticed.
pub struct FileSource {
    options: FileOptions,
    channels: Vec<Channel>,
    /// The columns of all channels.
    columns: Vec<Column>,
    /// The columns of those that the open file has.
    wanted: Wanted,
    /// For each of these, the position of its channel.
    places: Vec<usize>,
    /// The files that lack channels which others have, and these channels.
    lacking: Vec<(PathBuf, Vec<String>)>,
    custom: Option<TimeFormat>,
    start: Option<i64>,
    stop: Stop,
    paced: bool,
    /// Files not opened yet.
    waiting: VecDeque<PathBuf>,
    reader: Option<Reader>,
    /// Rows read ahead to guess the formats.
    ahead: VecDeque<Record>,
    /// The row that is being read.
    record: Record,
    /// The format of times of the file before.
    before: Option<TimeFormat>,
    decimal: Option<Decimal>,
    local: Local,
    /// Number of rows with a time counted from the start.
    given: i64,
    left_out: LeftOut,
    /// The line of the last row.
    line: u64,
    /// Names of the open file's columns.
    names: Vec<String>,
    /// The open file, or the last one.
    open: FileFacts,
    shape: Shape,
    /// The files before it.
    facts: Vec<FileFacts>,
}

impl FileSource {
    /// Opens the files. Reads the beginning of the first one if that does not block.
    ///
    /// # Errors
    /// [`SourceError`] names the file or option, and the way out.
    pub fn open(options: FileOptions, channels: &[Channel], stop: Stop) -> Result<Self, SourceError> {
        options.check()?;
        columns::check_channels(channels, &options.columns)?;
        let custom = options.custom_form()?;
        let start = options.start(custom.as_ref())?;
        let time = match (&options.time[..], start) {
            ([], Some(_)) => None,
            ([], None) => Some(TimeColumns::Guessed),
            (names, _) => Some(TimeColumns::Named(names.to_vec())),
        };
        let values = channels.iter().map(|channel| Column::new(channel, &options));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let conditions = options.conditions.clone();
        let paced = options.follow || options.paths.iter().any(|path| input::is_stream(path));
        let mut source = Self {
            channels: channels.to_vec(),
            columns: values.clone(),
            places: (0..values.len()).collect(),
            lacking: Vec::new(),
            wanted: Wanted { time, form: custom.clone(), values, conditions },
            custom,
            start,
            stop,
            paced,
            waiting: options.paths.iter().cloned().collect(),
            reader: None,
            ahead: VecDeque::new(),
            record: Record::default(),
            before: None,
            decimal: options.decimal,
            local: Local::new(options.zone.zone().clone()),
            given: 0,
            left_out: LeftOut::default(),
            line: 0,
            names: Vec::new(),
            open: FileFacts::default(),
            shape: Shape::default(),
            facts: Vec::new(),
            options,
        };
        if !source.options.paths.first().is_some_and(|path| source.would_wait(path)) {
            source.open_next()?;
        }
        source.lacking = source.look_at_others()?;
        Ok(source)
    }

    /// Returns the files that lack channels which other files have, each with the names of these channels.
    #[must_use]
    pub fn lacking(&self) -> &[(PathBuf, Vec<String>)] {
        &self.lacking
    }

    /// Refuses files behind the first one that cannot be read, before a reading of the first one is taken. Returns those that
    /// lack channels which others have.
    fn look_at_others(&self) -> Result<Vec<(PathBuf, Vec<String>)>, SourceError> {
        let [first, _, ..] = &self.options.paths[..] else { return Ok(Vec::new()) };
        let lacked = |places: &[usize]| -> Vec<usize> {
            (0..self.columns.len()).filter(|channel| !places.contains(channel)).collect()
        };
        let mut lacking = lacked(&self.places);
        let mut files = vec![(first.clone(), lacking.clone())];
        for path in self.options.paths.iter().skip(1).filter(|_| !self.paced) {
            let options = FileOptions { paths: vec![path.clone()], ..self.options.clone() };
            match Self::open(options, &self.channels, self.stop.clone()) {
                Ok(other) => {
                    lacking.retain(|channel| !other.places.contains(channel));
                    files.push((path.clone(), lacked(&other.places)));
                }
                // The file before may decide.
                Err(SourceError::AmbiguousTime { .. }) => lacking.clear(),
                Err(error) => return Err(error),
            }
        }
        if !lacking.is_empty() {
            // No file has one of these columns: the first file says so.
            let values = lacking.iter().map(|channel| self.columns[*channel].clone()).collect();
            let wanted = Wanted { values, ..self.wanted.clone() };
            Reader::open(first, false, &self.options, &wanted, &self.stop)?;
        }
        files.retain(|(_, lacked)| !lacked.is_empty());
        let names =
            |lacked: Vec<usize>| lacked.iter().map(|channel| self.channels[*channel].name.clone()).collect();
        Ok(files.into_iter().map(|(path, lacked)| (path, names(lacked))).collect())
    }

    /// Opens a file with the columns that it has: one at least. Another file may have the others.
    fn open_with_columns(&mut self, path: &std::path::Path, follow: bool) -> Result<Reader, SourceError> {
        self.wanted.values.clone_from(&self.columns);
        self.places = (0..self.columns.len()).collect();
        loop {
            let error = match Reader::open(path, follow, &self.options, &self.wanted, &self.stop) {
                Err(error) if self.options.may_lack && !self.paced => error,
                opened => return opened,
            };
            // A column whose name is nearly the wanted one may be it.
            let SourceError::NoColumn { column, nearest: None, .. } = &error else { return Err(error) };
            let lacking = self.wanted.values.iter().position(|wanted| wanted.requested.trim() == column);
            let Some(lacking) = lacking.filter(|_| self.places.len() > 1) else { return Err(error) };
            self.wanted.values.remove(lacking);
            self.places.remove(lacking);
        }
    }

    /// Returns true if opening the path might block: it is a stream, or an empty file that is followed.
    fn would_wait(&self, path: &std::path::Path) -> bool {
        let empty =
            || std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0);
        input::is_stream(path) || self.options.follow && empty()
    }

    /// Opens the next file and guesses its formats. Returns false if there is none.
    fn open_next(&mut self) -> Result<bool, SourceError> {
        let Some(path) = self.waiting.pop_front() else { return Ok(false) };
        if self.custom.is_none() {
            self.before = self.wanted.form.take();
        }
        let follow = self.options.follow && self.waiting.is_empty();
        let reader = self.open_with_columns(&path, follow)?;
        if !self.open.format.is_empty() {
            self.facts.push(self.facts_of_open());
        }
        self.open = FileFacts { path, format: reader.format(), ..FileFacts::default() };
        (self.shape, self.names) = (reader.shape(), reader.names());
        self.reader = Some(reader);
        self.local.begin();
        self.guess()?;
        Ok(true)
    }

    /// Reads the next row of the open file. Returns false at its end.
    fn read(&mut self, record: &mut Record) -> Result<bool, SourceError> {
        loop {
            let Some(reader) = &mut self.reader else { return Ok(false) };
            match reader.next(&self.wanted, record)? {
                Next::Record => return Ok(true),
                Next::End => {
                    (self.shape, self.names) = (reader.shape(), reader.names());
                    self.reader = None;
                }
                Next::Replaced => {
                    let again = reader.again(&self.options, &self.wanted, &self.stop)?;
                    self.reader = Some(again);
                    self.local.begin();
                }
            }
        }
    }

    /// Returns the time of a row, in milliseconds since 1970.
    fn time(&mut self, record: &Record) -> Result<i64, Reason> {
        if let Some(start) = self.start {
            let passed = self.options.period.after(self.given);
            self.given = self.given.saturating_add(1);
            return Ok(start.saturating_add(passed));
        }
        let series = record.cells.iter().position(|cell| *cell != Cell::Absent).unwrap_or_default();
        match &record.time {
            Stamp::None => Err(Reason::NoTime),
            Stamp::At(when) => self.local.instant(when, series),
            Stamp::Text(text) => {
                let form = self.wanted.form.as_ref().ok_or(Reason::NoTime)?;
                self.local.instant(&form.read(text).ok_or(Reason::NoTime)?, series)
            }
        }
    }

    /// Converts the cells of a row. If the rows before had no decimal mark, the first number with one decides it.
    fn row(&mut self, at: i64, record: &Record) -> Result<Row, SourceError> {
        let count = self.columns.len();
        let (mut values, mut missing) = (Zeroizing::new(vec![None; count]), vec![None; count]);
        let mut unknown = Vec::new();
        for (number, (cell, column)) in record.cells.iter().zip(&self.wanted.values).enumerate() {
            if self.decimal.is_none() && cell.has_mark() {
                let marks = self.reader.as_ref().map_or(decimal::Marks::Free, Reader::marks);
                let mut evidence = Evidence::default();
                evidence.look(record.line, *cell, column, marks);
                self.decimal = guess::decided(&evidence, marks, &self.open.path)?;
            }
            match column.reading(*cell, self.decimal.unwrap_or(Decimal::Point)) {
                Ok(value) => values[self.places[number]] = Some(value),
                Err(reason) => {
                    missing[self.places[number]] = reason;
                    if let Some(reason) = reason {
                        facts::count(&mut self.open.left_out, Some(&column.channel), reason, record.line);
                    }
                    if reason == Some(Reason::Text) && column.states.is_some() {
                        unknown.push(number);
                    }
                }
            }
        }
        unknown.into_iter().try_for_each(|number| self.note_state(number, record.line))?;
        Ok(Row { at, values, missing })
    }

    /// Notes the first cell of a file that names none of the states of the channel of a column.
    fn note_state(&mut self, number: usize, line: u64) -> Result<(), SourceError> {
        let column = &self.wanted.values[number];
        if self.open.unknown_states.iter().any(|unknown| unknown.channel == column.channel) {
            return Ok(());
        }
        let cell = match &self.reader {
            Some(reader) if self.paced => reader.cell_text(number),
            _ => Reader::cell(&self.open.path, line, number, &self.options, &self.wanted, &self.stop)?,
        };
        let states = column.states.as_ref().map(|state| state.states.clone()).unwrap_or_default();
        let cell = cell.unwrap_or_default().chars().take(guess::LONGEST_CELL).collect();
        let channel = column.channel.clone();
        self.open.unknown_states.push(UnknownState { channel, line, cell, states });
        Ok(())
    }

    /// Reads rows into `record` until one has a time.
    fn next_of(&mut self, record: &mut Record) -> Result<Row, SourceError> {
        loop {
            match self.ahead.pop_front() {
                Some(ahead) => *record = ahead,
                None if self.read(record)? => {}
                None => {
                    self.log_faults();
                    if self.open_next()? {
                        continue;
                    }
                    return Err(SourceError::Ended);
                }
            }
            (self.line, self.open.rows) = (record.line, self.open.rows + 1);
            match self.time(record) {
                Ok(at) => return self.row(at, record),
                Err(reason) => {
                    facts::count(&mut self.open.left_out, None, reason, record.line);
                    self.left_out.add(reason, self.channels.len() as u64);
                }
            }
        }
    }

    /// Logs the first lines of rows that gave no reading; no cell.
    fn log_faults(&self) {
        for Fault { channel, reason, lines } in &self.open.left_out {
            let (path, list) = (self.open.path.display(), lines.words().unwrap_or_default());
            let channel = channel.as_deref().unwrap_or("all channels");
            tracing::info!("{path}: {list}: no reading of {channel}: {}", reason.words());
        }
    }

    /// Returns the facts about the open file.
    fn facts_of_open(&self) -> FileFacts {
        let shape = self.reader.as_ref().map_or_else(|| self.shape.clone(), Reader::shape);
        let mark = |decimal| match decimal {
            Decimal::Point => '.',
            Decimal::Comma => ',',
        };
        FileFacts {
            compression: shape.packing.map(packed::Packing::name),
            table: shape.table,
            encoding: (!shape.typed).then(|| shape.encoding.map_or("UTF-8", Encoding::name)),
            delimiter: shape.delimiter,
            header_line: shape.header_line,
            decimal: self.decimal.map(mark),
            columns: self.columns.iter().map(|column| column.requested.clone()).collect(),
            time_columns: shape.time,
            time_format: shape
                .stamps
                .map(str::to_owned)
                .or_else(|| self.wanted.form.as_ref().map(TimeFormat::words))
                .filter(|_| self.start.is_none()),
            newest_first: self.local.is_newest_first(),
            words: shape.units,
            mended_quotes: shape.mended,
            of_several_lines: shape.joined,
            too_many_values: shape.wide,
            names_again: shape.again,
            comments: shape.comments,
            ..self.open.clone()
        }
    }
}

impl Source for FileSource {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        // The record is taken out while the source is borrowed, and put back: its memory serves every row.
        let mut record = std::mem::take(&mut self.record);
        let row = self.next_of(&mut record);
        self.record = record;
        row
    }

    fn take_left_out(&mut self) -> LeftOut {
        std::mem::take(&mut self.left_out)
    }

    fn paced(&self) -> bool {
        self.paced
    }

    fn line(&self) -> Option<u64> {
        Some(self.line)
    }

    fn file(&self) -> usize {
        self.facts.len()
    }

    fn facts(&self) -> Vec<FileFacts> {
        let open = (!self.open.format.is_empty()).then(|| self.facts_of_open());
        self.facts.iter().cloned().chain(open).collect()
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        let (options, stop) = (self.options.clone(), self.stop.clone());
        *self = Self::open(options, &self.channels, stop)?;
        Ok(())
    }
}
