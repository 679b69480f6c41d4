//! Files as they occur in practice: of any format, standard input, growing files.

pub(super) mod cells;
mod civil;
pub(super) mod columns;
pub(super) mod encoding;
pub(super) mod input;
mod options;
mod reader;
mod stream;
mod times;

use std::collections::VecDeque;
use std::path::PathBuf;

use sotto_pack::{Channel, LeftOut, Reason};
use zeroize::Zeroizing;

pub use encoding::Encoding;
pub use options::FileOptions;

use super::{Row, Source, SourceError};
use crate::stop::Stop;
use cells::Record;
use columns::{TimeColumns, Wanted};
use reader::{Next, Reader};
use times::{Guess, Local, TimeFormat};

/// Maximum characters of a cell that an error shows.
const LONGEST_CELL: usize = 40;
/// Rows examined to guess the format of times and the decimal mark.
const LOOKED_AT: usize = 1000;

/// Rows of one or more files, in file order.
///
/// - The first rows of a file determine its time format. If day and month are ambiguous in the first 1000 rows, the
///   format of the file before decides. Rows with another format are left out as [`Reason::NoTime`].
/// - Local times are in the zone of the options. A time that the clocks skipped is left out as [`Reason::NoSuchTime`].
///   A time that they showed twice means the first occurrence, unless that is not after the row before it in the file:
///   then it means the second.
/// - Without a time column, row k of all files is k periods after the start; rows that fail the conditions are not
///   counted.
/// - A cell without a number is [`Reason::Empty`], [`Reason::NotANumber`] or [`Reason::Text`].
/// - With `follow`, the last file is read as it grows, in whole lines. If it is replaced or truncated, it is read again
///   from its beginning, where a header may be missing. A file that is truncated and grows past its old length within
///   100 ms is not noticed.
pub struct FileSource {
    options: FileOptions,
    channels: Vec<Channel>,
    wanted: Wanted,
    custom: Option<TimeFormat>,
    start: Option<i64>,
    stop: Stop,
    paced: bool,
    /// Files not opened yet.
    waiting: VecDeque<PathBuf>,
    reader: Option<Reader>,
    /// Rows read ahead to guess the formats.
    ahead: VecDeque<Record>,
    form: Option<TimeFormat>,
    decimal_comma: Option<bool>,
    local: Local,
    /// Number of rows returned.
    given: i64,
    left_out: LeftOut,
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
        let column = |channel| columns::column_of(channel, &options.columns).to_owned();
        let values = channels.iter().map(column).collect();
        let (conditions, encoding) = (options.conditions.clone(), options.encoding);
        let paced = options.follow || options.paths.iter().any(|path| input::is_stream(path));
        let mut source = Self {
            channels: channels.to_vec(),
            wanted: Wanted { time, values, conditions, encoding },
            custom,
            start,
            stop,
            paced,
            waiting: options.paths.iter().cloned().collect(),
            reader: None,
            ahead: VecDeque::new(),
            form: None,
            decimal_comma: None,
            local: Local::new(options.zone.zone().clone()),
            given: 0,
            left_out: LeftOut::default(),
            options,
        };
        if !source.options.paths.first().is_some_and(|path| source.would_wait(path)) {
            source.open_next()?;
        }
        Ok(source)
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
        let follow = self.options.follow && self.waiting.is_empty();
        self.reader = Some(Reader::open(&path, follow, &self.options, &self.wanted, &self.stop)?);
        self.local.begin();
        self.guess()?;
        Ok(true)
    }

    /// Returns the next row of the open file; `None` at its end.
    fn read(&mut self) -> Result<Option<Record>, SourceError> {
        loop {
            let Some(reader) = &mut self.reader else { return Ok(None) };
            match reader.next(&self.wanted)? {
                Next::Record(record) => return Ok(Some(record)),
                Next::End => self.reader = None,
                Next::Replaced => {
                    let again = reader.again(&self.options, &self.wanted, &self.stop)?;
                    self.reader = Some(again);
                    self.local.begin();
                }
            }
        }
    }

    /// Reads the first rows of a file until its formats are known.
    fn guess(&mut self) -> Result<(), SourceError> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let path = reader.path().to_owned();
        let marks = self.options.decimal_comma.is_none() && reader.has_free_comma();
        self.decimal_comma = if marks { None } else { Some(self.options.decimal_comma.unwrap_or(false)) };
        let times = self.wanted.time.is_some() && self.custom.is_none();
        let (mut guess, mut commas, mut points) = (Guess::default(), false, false);
        while self.ahead.len() < LOOKED_AT {
            let known = !times || guess.forms().len() == 1;
            if known && (!marks || self.paced) {
                break;
            }
            let Some(record) = self.read()? else { break };
            if let Some(time) = record.time.as_ref().filter(|_| times) {
                guess.look(time);
            }
            if self.ahead.is_empty() && times && guess.forms().is_empty() && self.reader_guesses_time() {
                let columns = self.reader.as_ref().map(Reader::names).unwrap_or_default();
                return Err(SourceError::NoTimeColumn { path, columns });
            }
            for cell in record.cells.iter() {
                commas |= cell.decimal_comma() == Some(true);
                points |= cell.decimal_comma() == Some(false);
            }
            self.ahead.push_back(record);
        }
        if marks && commas && points {
            return Err(SourceError::AmbiguousDecimals { path });
        }
        if marks && (commas || points) {
            self.decimal_comma = Some(commas);
        }
        if times { self.settle(&guess, path) } else { Ok(()) }
    }

    fn reader_guesses_time(&self) -> bool {
        matches!(self.wanted.time, Some(TimeColumns::Guessed))
    }

    /// Decides the time format of the file.
    fn settle(&mut self, guess: &Guess, path: PathBuf) -> Result<(), SourceError> {
        let Some(first) = self.ahead.front() else { return Ok(()) };
        let (line, rows) = (first.line, self.ahead.len());
        let cell = first.time.as_deref().unwrap_or_default().chars().take(LONGEST_CELL).collect();
        let column = || match &self.wanted.time {
            Some(TimeColumns::Named(names)) => names.join(" and "),
            _ => "time".to_owned(),
        };
        let before = self.form.take();
        self.form = match guess.forms() {
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

    /// Returns the time of a row, in milliseconds since 1970.
    fn time(&mut self, record: &Record) -> Result<i64, Reason> {
        if let Some(start) = self.start {
            let passed = self.given.saturating_mul(i64::from(self.options.period.max(1)));
            self.given = self.given.saturating_add(1);
            return Ok(start.saturating_add(passed));
        }
        let form = self.custom.as_ref().or(self.form.as_ref()).ok_or(Reason::NoTime)?;
        let when = record.time.as_ref().and_then(|text| form.read(text)).ok_or(Reason::NoTime)?;
        self.local.instant(when)
    }

    /// Converts the cells of a row. If the first rows had no decimal mark, the first number with one decides it.
    fn row(&mut self, at: i64, record: &Record) -> Row {
        let (mut values, mut missing) = (Zeroizing::new(Vec::new()), Vec::new());
        for cell in record.cells.iter() {
            if self.decimal_comma.is_none() {
                self.decimal_comma = cell.decimal_comma();
            }
            let number = cell.number(self.decimal_comma.unwrap_or(false));
            values.push(number.ok());
            missing.push(number.err());
        }
        Row { at, values, missing }
    }
}

impl Source for FileSource {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        loop {
            let record = match self.ahead.pop_front() {
                Some(record) => Some(record),
                None => self.read()?,
            };
            let Some(record) = record else {
                if self.open_next()? {
                    continue;
                }
                return Err(SourceError::Ended);
            };
            match self.time(&record) {
                Ok(at) => return Ok(self.row(at, &record)),
                Err(reason) => self.left_out.add(reason, self.channels.len() as u64),
            }
        }
    }

    fn take_left_out(&mut self) -> LeftOut {
        std::mem::take(&mut self.left_out)
    }

    fn paced(&self) -> bool {
        self.paced
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        let (options, stop) = (self.options.clone(), self.stop.clone());
        *self = Self::open(options, &self.channels, stop)?;
        Ok(())
    }
}
