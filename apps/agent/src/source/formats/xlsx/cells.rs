//! The rows of a sheet, as the crate reads them.

use std::fs::File;
use std::io::BufReader;

use calamine::{DataRef, Xlsx, XlsxCellReader};
use jiff::civil::Time;

use crate::source::files::epoch;
use crate::source::formats::typed::Value;

/// Columns of a sheet.
const MOST_COLUMNS: u32 = 16_384;
/// Days between the first days of the two calendars that workbooks have.
const DAYS_OF_1904: f64 = 1462.0;

/// A workbook.
pub(super) type Workbook = Xlsx<BufReader<File>>;

/// A row: its number, from 1, and its cells with their columns, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) cells: Vec<(u32, Value<'static>)>,
}

impl Row {
    /// Returns the cell of a column.
    pub(super) fn cell(&self, column: usize) -> Value<'_> {
        let found = self.cells.binary_search_by_key(&(column as u64), |(column, _)| u64::from(*column));
        found.map_or(Value::Empty, |at| self.cells[at].1.borrowed())
    }

    /// Returns the texts of all cells.
    pub(super) fn texts(&self) -> Vec<String> {
        let count = self.cells.last().map_or(0, |(column, _)| *column as usize + 1);
        (0..count).map(|column| self.cell(column).text().trim().to_owned()).collect()
    }
}

/// The rows of a sheet.
pub(super) struct Rows<'w> {
    reader: XlsxCellReader<'w, BufReader<File>>,
    since_1904: bool,
    /// The first cell of the next row.
    held: Option<(u32, u32, Value<'static>)>,
    ended: bool,
}

impl<'w> Rows<'w> {
    pub(super) fn open(workbook: &'w mut Workbook, sheet: &str) -> Result<Self, String> {
        let since_1904 = workbook.has_1904_epoch();
        let reader = workbook.worksheet_cells_reader(sheet).map_err(|error| error.to_string())?;
        Ok(Self { reader, since_1904, held: None, ended: false })
    }

    /// Reads the next row that has cells. Returns false behind the last one.
    pub(super) fn next(&mut self, row: &mut Row) -> Result<bool, String> {
        row.cells.clear();
        let Some((number, column, value)) = (match self.held.take() {
            Some(cell) => Some(cell),
            None => self.cell()?,
        }) else {
            return Ok(false);
        };
        row.number = u64::from(number) + 1;
        row.cells.push((column, value));
        while let Some((other, column, value)) = self.cell()? {
            if other != number {
                self.held = Some((other, column, value));
                break;
            }
            row.cells.push((column, value));
        }
        if !row.cells.is_sorted_by_key(|(column, _)| *column) {
            row.cells.sort_by_key(|(column, _)| *column);
        }
        Ok(true)
    }

    /// Returns the next cell that is not empty: row, column, value.
    fn cell(&mut self) -> Result<Option<(u32, u32, Value<'static>)>, String> {
        while !self.ended {
            let Some(cell) = self.reader.next_cell().map_err(|error| error.to_string())? else {
                self.ended = true;
                break;
            };
            let (row, column) = cell.get_position();
            let value = self.value(cell.get_value());
            if value != Value::Empty && column < MOST_COLUMNS {
                return Ok(Some((row, column, value)));
            }
        }
        Ok(None)
    }

    fn value(&self, cell: &DataRef<'_>) -> Value<'static> {
        let text = |text: &str| Value::Text(text.to_owned().into());
        match cell {
            DataRef::Int(number) => Value::Integer(*number),
            DataRef::Float(number) => Value::Real(*number),
            DataRef::String(string) => text(string),
            DataRef::SharedString(string) => text(string),
            DataRef::Bool(value) => Value::Bool(*value),
            DataRef::DateTime(time) if time.is_datetime() => self.time(time.as_f64()),
            DataRef::DateTime(time) => Value::Real(time.as_f64()),
            DataRef::DateTimeIso(string) | DataRef::DurationIso(string) => text(string),
            DataRef::Error(error) => Value::Text(error.to_string().into()),
            DataRef::Empty => Value::Empty,
        }
    }

    /// Returns the time that a number of days tells: a time of day if it is less than one.
    fn time(&self, days: f64) -> Value<'static> {
        let days = if self.since_1904 && days >= 1.0 { days + DAYS_OF_1904 } else { days };
        let Some(time) = epoch::of_days(days) else { return Value::Other };
        match (days < 1.0, time.time()) {
            (true, clock) => Value::Clock(clock),
            (false, clock) if clock == Time::midnight() => Value::Date(time.date()),
            (false, _) => Value::Local(time),
        }
    }
}
