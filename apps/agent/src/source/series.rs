//! One column of a file, with synthetic times.

use std::path::Path;

use sotto_pack::Channel;

use super::files::{Encoding, FileOptions};
use super::{FileSource, Row, Source, SourceError};
use crate::arguments::RowRange;
use crate::stop::Stop;

/// Maximum size of a file: 1 GiB.
const LARGEST_FILE: u64 = 1 << 30;

/// A column of a file, row by row, without waiting. A cell without a finite number is a missing reading.
///
/// Times are synthetic: row k of the whole file is k periods after the beginning of 1970.
pub struct Series {
    source: FileSource,
    channels: Vec<Channel>,
    next: u64,
    rows: RowRange,
}

impl Series {
    /// Opens a file. `rows` are counted from 0, without the header.
    ///
    /// `declared` is the range. Without it, the file is read once to find the minimum and the maximum of all its rows,
    /// so that devices that share a file have the same range.
    ///
    /// # Errors
    /// [`SourceError`] if the file cannot be read, is larger than 1 GiB, has no such column, or has no number in it.
    pub fn open(
        path: &Path,
        column: &str,
        rows: Option<RowRange>,
        declared: Option<(f64, f64)>,
        period: u32,
    ) -> Result<Self, SourceError> {
        let mut source = open(path, column, period)?;
        let (minimum, maximum) = match declared {
            Some(range) => range,
            None => {
                let range = range_of(&mut source)?;
                source = open(path, column, period)?;
                range.ok_or_else(|| SourceError::NoNumbers {
                    path: path.to_owned(),
                    column: column.to_owned(),
                })?
            }
        };
        let channel = Channel { name: column.trim().to_owned(), minimum, maximum, ..Channel::default() };
        let rows = rows.unwrap_or(RowRange { from: 0, to: u64::MAX });
        Ok(Self { source, channels: vec![channel], next: 0, rows })
    }
}

impl Source for Series {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        while self.next < self.rows.to {
            let row = self.source.next_row()?;
            self.next += 1;
            if self.next > self.rows.from {
                return Ok(row);
            }
        }
        Err(SourceError::Ended)
    }

    fn paced(&self) -> bool {
        false
    }
}

fn open(path: &Path, column: &str, period: u32) -> Result<FileSource, SourceError> {
    let refused = |reason: String| SourceError::File { path: path.to_owned(), reason };
    let metadata = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?;
    if !metadata.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(refused(format!("it has more than {LARGEST_FILE} bytes; split it")));
    }
    let options = FileOptions {
        paths: vec![path.to_owned()],
        start: Some("1970-01-01T00:00:00Z".to_owned()),
        encoding: Some(Encoding::Utf8),
        period,
        ..FileOptions::default()
    };
    let channel = Channel { name: column.trim().to_owned(), ..Channel::default() };
    FileSource::open(options, &[channel], Stop::new())
}

/// Returns the minimum and the maximum; widens the range slightly if they are equal.
fn range_of(source: &mut FileSource) -> Result<Option<(f64, f64)>, SourceError> {
    let mut range = None;
    loop {
        let row = match source.next_row() {
            Ok(row) => row,
            Err(SourceError::Ended) => break,
            Err(error) => return Err(error),
        };
        if let Some(value) = row.values.first().copied().flatten() {
            let (minimum, maximum) = range.unwrap_or((value, value));
            range = Some((f64::min(minimum, value), f64::max(maximum, value)));
        }
    }
    Ok(range.map(|(minimum, maximum)| {
        let apart = if minimum == maximum { 1f64.max(minimum.abs() / 64.0) } else { 0.0 };
        (minimum - apart, maximum + apart)
    }))
}
