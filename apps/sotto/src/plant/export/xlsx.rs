//! xlsx: a sheet with the values, and one with the facts about them.

use anyhow::ensure;
use jiff::civil::{Date, DateTime, date};
use rust_xlsxwriter::{Format, Workbook, Worksheet};

use super::table::{BOUND, INTERPOLATED, Line, Table};

/// Limits of the format.
const MOST_LINES: usize = 1_048_576;
const MOST_COLUMNS: usize = 16_384;
const MOST_TEXT: usize = 32_767;

/// Lines of the header: names, units.
const HEADER: usize = 2;

/// Returns a table as an xlsx file.
///
/// # Errors
/// An error if it has more lines or columns than the format.
pub(super) fn bytes(table: &Table<'_>) -> anyhow::Result<Vec<u8>> {
    let lines = table.lines.len() + HEADER;
    ensure!(
        lines <= MOST_LINES,
        "the answer has {} lines, a sheet at most {MOST_LINES}: take --parquet or --csv",
        table.lines.len()
    );
    let mut workbook = Workbook::new();
    values(table, workbook.add_worksheet())?;
    about(table, workbook.add_worksheet())?;
    Ok(workbook.save_to_buffer()?)
}

/// The next column of a sheet.
struct Columns<'w> {
    sheet: &'w mut Worksheet,
    bold: Format,
    at: usize,
}

/// A value of a cell.
enum Cell<'c> {
    Nothing,
    Number(f64),
    Truth(bool),
    Time(&'c str),
    Text(String),
}

impl Columns<'_> {
    fn add<'c>(
        &mut self,
        name: &str,
        unit: &str,
        width: f64,
        cells: impl Iterator<Item = Cell<'c>>,
    ) -> anyhow::Result<()> {
        ensure!(
            self.at < MOST_COLUMNS,
            "the answer has more columns than a sheet ({MOST_COLUMNS}): take --parquet or --csv"
        );
        let column = self.at as u16;
        self.at += 1;
        let (bold, dates) = (&self.bold, Format::new().set_num_format("yyyy-mm-dd hh:mm:ss"));
        self.sheet.write_string_with_format(0, column, cut(name), bold)?;
        self.sheet.write_string(1, column, cut(unit))?;
        self.sheet.set_column_width(column, width)?;
        for (line, cell) in (HEADER as u32..).zip(cells) {
            let sheet = &mut *self.sheet;
            match cell {
                Cell::Nothing => {}
                Cell::Number(number) => _ = sheet.write_number(line, column, number)?,
                Cell::Truth(is) => _ = sheet.write_boolean(line, column, is)?,
                Cell::Time(text) => match serial(text) {
                    Some(serial) => _ = sheet.write_number_with_format(line, column, serial, &dates)?,
                    // Sheets have no dates before 1900.
                    None => _ = sheet.write_string(line, column, text)?,
                },
                Cell::Text(text) if text.is_empty() => {}
                Cell::Text(text) => _ = sheet.write_string(line, column, cut(&text))?,
            }
        }
        Ok(())
    }
}

fn values(table: &Table<'_>, sheet: &mut Worksheet) -> anyhow::Result<()> {
    sheet.set_name("answer")?;
    sheet.set_freeze_panes(HEADER as u32, 1)?;
    let mut columns = Columns { sheet, bold: Format::new().set_bold(), at: 0 };
    let (lines, zone) = (|| table.lines.iter(), table.answer.time_zone.as_str());
    for (end, name) in ["from", "to"].into_iter().enumerate() {
        columns.add(name, zone, 20.0, lines().map(|line| Cell::Time(line.times()[end].0)))?;
    }
    // A cell has no offset, and an hour may come twice.
    columns.add("utc_offset", "of from", 10.0, lines().map(|line| Cell::Text(offset(line.times()[0].0))))?;
    for key in &table.keys {
        let cell = |line: &Line<'_>| {
            let text = line.key(*key);
            let number = text.parse().ok().filter(|_| key.is_number());
            number.map_or(Cell::Text(text), Cell::Number)
        };
        columns.add(&key.name(), "", 12.0, lines().map(cell))?;
    }
    for (at, result) in table.results.iter().enumerate() {
        for (place, bound) in ["", BOUND].into_iter().enumerate() {
            let cell = |line: &Line<'_>| {
                line.value(at)[place].filter(|value| value.is_finite()).map_or(Cell::Nothing, Cell::Number)
            };
            columns.add(&format!("{}{bound}", result.name), result.unit, 18.0, lines().map(cell))?;
        }
        if result.interpolated {
            let cell = |line: &Line<'_>| line.is_interpolated(at).map_or(Cell::Nothing, Cell::Truth);
            columns.add(&format!("{}{INTERPOLATED}", result.name), "", 12.0, lines().map(cell))?;
        }
    }
    columns.add("readings", "", 10.0, lines().map(|line| Cell::Number(line.readings() as f64)))?;
    columns.add("missing", "", 10.0, lines().map(|line| Cell::Number(line.missing() as f64)))?;
    columns.add("assurance", "", 14.0, lines().map(|line| Cell::Text(line.assurance().to_string())))?;
    columns.add("why", "", 30.0, lines().map(|line| Cell::Text(line.why())))
}

fn about(table: &Table<'_>, sheet: &mut Worksheet) -> anyhow::Result<()> {
    sheet.set_name("about")?;
    sheet.set_column_width(0, 14.0)?;
    sheet.set_column_width(1, 80.0)?;
    let answer = table.answer;
    let mut facts = vec![
        ("question", answer.question.clone()),
        ("time zone", answer.time_zone.clone()),
        ("assurance", answer.assurance().to_string()),
        ("windows", answer.windows.to_string()),
    ];
    facts.extend(answer.notes.iter().map(|note| ("note", note.clone())));
    for (line, (name, fact)) in (0..).zip(facts) {
        sheet.write_string(line, 0, name)?;
        sheet.write_string(line, 1, cut(&fact))?;
    }
    Ok(())
}

/// Returns as much of a text as a cell holds.
fn cut(text: &str) -> String {
    text.chars().take(MOST_TEXT).collect()
}

/// Returns the offset of a time in RFC 3339.
fn offset(text: &str) -> String {
    text.get(19..)
        .map_or_else(String::new, |rest| rest.trim_start_matches(|c| c != '+' && c != '-').to_owned())
}

/// Returns the local time of RFC 3339 as days since 1899-12-30, which sheets count. Returns None before March 1900, whose
/// February has a day too much there.
fn serial(text: &str) -> Option<f64> {
    const EPOCH: Date = date(1899, 12, 30);
    let local: DateTime = text.get(..19)?.parse().ok()?;
    if local.date() < date(1900, 3, 1) {
        return None;
    }
    let days = local.date().since(EPOCH).ok()?.get_days();
    let time = local.time();
    let seconds = i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    Some(f64::from(days) + seconds as f64 / 86_400.0)
}

#[cfg(test)]
mod tests {
    use super::super::super::show::fixture::{answer, hourly};
    use super::*;

    #[test]
    fn dates_count_from_the_day_that_sheets_count_from() {
        assert_eq!(serial("1900-03-01T00:00:00+00:00"), Some(61.0));
        assert_eq!(serial("2014-01-31T18:00:00+01:00"), Some(41_670.75));
        assert_eq!(serial("0987-01-01T00:00:00+00:00"), None);
        assert_eq!(offset("2014-01-31T18:00:00-03:30"), "-03:30");
    }

    #[test]
    fn too_many_columns_are_refused_with_the_way_out() {
        let rows = (0..9_000).flat_map(|at| hourly(&format!("a{at}"), &[Some(1.0)])).collect();
        let answer = answer(rows);
        let refused = bytes(&Table::of(&answer)).unwrap_err().to_string();
        assert!(refused.contains("--parquet"), "{refused}");
    }
}
