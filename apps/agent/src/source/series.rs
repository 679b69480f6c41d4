//! One column of a file of comma-separated values.

use std::fs::File;
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use sotto_pack::Channel;

use super::{Row, Source, SourceError};
use crate::arguments::RowRange;

/// The largest file: 1 GiB.
const LARGEST_FILE: u64 = 1 << 30;
/// The longest row, and header: 256 KiB. A reader holds one, and some words for each of its cells.
const LONGEST_ROW: usize = 256 << 10;

/// A file, read row by row: what does not end within [`LONGEST_ROW`] bytes is refused.
struct Rows {
    file: Take<File>,
    /// Bytes that the row may still take.
    left: usize,
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.left);
        let count = self.file.read(&mut buffer[..most])?;
        self.left -= count;
        if count == 0 && self.left == 0 && self.file.limit() > 0 {
            return Err(io::Error::other(format!("a row has more than {LONGEST_ROW} bytes")));
        }
        Ok(count)
    }
}

/// A column of a file, row by row, without waiting. A cell that holds no finite number is a missing reading. Times are
/// made up: row k, counted in the whole file, is k periods after the beginning of 1970.
pub struct Series {
    path: PathBuf,
    reader: Reader<Rows>,
    record: ByteRecord,
    column: usize,
    channels: Vec<Channel>,
    next: u64,
    rows: RowRange,
    period: i64,
}

impl Series {
    /// Opens a file. `rows` are counted from 0, without the header. `declared` is the range; without it, the file is read
    /// once to find the smallest and the largest number of all its rows, so that devices that share a file agree.
    ///
    /// # Errors
    /// [`SourceError`] when the file cannot be read, is larger than 1 GiB, or has no such column or no number in it.
    pub fn open(
        path: &Path,
        column: &str,
        rows: Option<RowRange>,
        declared: Option<(f64, f64)>,
        period: u32,
    ) -> Result<Self, SourceError> {
        let (mut reader, position) = open_column(path, column)?;
        let (minimum, maximum) = match declared {
            Some(range) => range,
            None => {
                let range = range_of(&mut reader, position, path)?;
                (reader, _) = open_column(path, column)?;
                range.ok_or_else(|| SourceError::NoNumbers {
                    path: path.to_owned(),
                    column: column.to_owned(),
                })?
            }
        };
        let channel = Channel {
            name: column.trim().to_owned(),
            unit: String::new(),
            minimum,
            maximum,
            resolution: None,
        };
        Ok(Self {
            path: path.to_owned(),
            reader,
            record: ByteRecord::new(),
            column: position,
            channels: vec![channel],
            next: 0,
            rows: rows.unwrap_or(RowRange { from: 0, to: u64::MAX }),
            period: i64::from(period.max(1)),
        })
    }
}

impl Source for Series {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        loop {
            let row = self.next;
            if row >= self.rows.to || !next_record(&mut self.reader, &mut self.record, &self.path)? {
                return Err(SourceError::Ended);
            }
            self.next += 1;
            if row >= self.rows.from {
                let at = self.period.saturating_mul(row.cast_signed());
                let value = number(&self.record, self.column);
                return Ok(Row::new(at, vec![value]));
            }
        }
    }

    fn paced(&self) -> bool {
        false
    }
}

/// A reader after the header, and the position of the column.
fn open_column(path: &Path, column: &str) -> Result<(Reader<Rows>, usize), SourceError> {
    let failed = |error: std::io::Error| file_error(path, error.to_string());
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(file_error(path, "it is not a file".to_owned()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(file_error(path, format!("it has more than {LARGEST_FILE} bytes; split it")));
    }
    let rows = Rows { file: file.take(LARGEST_FILE), left: LONGEST_ROW };
    let mut reader = ReaderBuilder::new().flexible(true).trim(Trim::All).from_reader(rows);
    let header = reader.byte_headers().map_err(|error| file_error(path, error.to_string()))?;
    let name = |bytes| String::from_utf8_lossy(bytes);
    let found: Vec<usize> =
        header.iter().enumerate().filter(|(_, bytes)| name(bytes) == column.trim()).map(|(i, _)| i).collect();
    match found[..] {
        [position] => Ok((reader, position)),
        [] => {
            let columns = header.iter().map(|bytes| name(bytes).into_owned()).collect();
            Err(SourceError::NoColumn {
                path: path.to_owned(),
                column: column.to_owned(),
                columns,
                nearest: None,
            })
        }
        _ => {
            let (path, column) = (path.to_owned(), column.to_owned());
            Err(SourceError::AmbiguousColumn { path, column, count: found.len() })
        }
    }
}

/// The smallest and the largest number, a little apart if they are the same.
fn range_of(
    reader: &mut Reader<Rows>,
    column: usize,
    path: &Path,
) -> Result<Option<(f64, f64)>, SourceError> {
    let (mut record, mut range) = (ByteRecord::new(), None);
    while next_record(reader, &mut record, path)? {
        if let Some(value) = number(&record, column) {
            let (minimum, maximum) = range.unwrap_or((value, value));
            range = Some((f64::min(minimum, value), f64::max(maximum, value)));
        }
    }
    Ok(range.map(|(minimum, maximum)| {
        let apart = if minimum == maximum { 1f64.max(minimum.abs() / 64.0) } else { 0.0 };
        (minimum - apart, maximum + apart)
    }))
}

fn next_record(reader: &mut Reader<Rows>, record: &mut ByteRecord, path: &Path) -> Result<bool, SourceError> {
    reader.get_mut().left = LONGEST_ROW;
    reader.read_byte_record(record).map_err(|error| file_error(path, error.to_string()))
}

fn number(record: &ByteRecord, column: usize) -> Option<f64> {
    let cell = std::str::from_utf8(record.get(column)?).ok()?;
    cell.parse::<f64>().ok().filter(|value| value.is_finite())
}

fn file_error(path: &Path, reason: String) -> SourceError {
    SourceError::File { path: path.to_owned(), reason }
}
