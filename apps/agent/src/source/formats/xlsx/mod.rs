//! Workbooks: sheets of cells, of which one is read. Cells have the values that the workbook stores, not as it shows them.

mod archive;
mod cells;
mod head;

use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use calamine::{Reader as _, SheetType};

use super::magic::XLSX;
use super::typed::{Candidates, Chosen, Lines, Sink, Typed, unharmed};
use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::columns::Wanted;
use crate::source::files::input::{Input, refused};
use cells::{Row, Workbook};
use head::{Head, Notes, Region, Search};

/// Sheets of cells.
pub(super) struct Xlsx;

impl Format for Xlsx {
    fn name(&self) -> &'static str {
        XLSX.name
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        XLSX.fits(begin)
    }

    fn has_tables(&self) -> bool {
        true
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        let (path, stop) = (input.path.clone(), input.stop());
        if input.bytes().starts_with(&[0xd0, 0xcf]) {
            let reason = "it is a workbook of before 2007, or one with a password: save it as .xlsx without a password";
            return Err(refused(&path, reason));
        }
        let opened = workbook(input.file("a workbook")?);
        let mut workbook = opened.map_err(|reason| refused(&path, reason))?;
        let Opening { wanted, header, header_line: header_row, skip_lines: skipped, table, .. } = *opening;
        let region = Region { header, header_row, skipped };
        let (sheet, mut head) = choose(&mut workbook, wanted, &path, region, table)?;
        let (named, line, chosen) = (sheet.clone(), head.row, Chosen::by_role(&head.places));
        let notes = Arc::new(Mutex::new(Notes::default()));
        let (found, wanted, of) = (Arc::clone(&notes), wanted.clone(), path.clone());
        let begin = head.row.max(skipped);
        let lines = Lines::start(&path, stop, move |sink| {
            send(&mut workbook, &sheet, &mut head, (&wanted, &of, begin), &found, sink)
        });
        let rows = Typed::new(lines, &path, chosen).named(&named).with(move |shape| {
            let Notes { units, again, comments } =
                notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
            shape.header_line = Some(line).filter(|line| *line > 0);
            (shape.units, shape.again, shape.comments) = (units, again, comments);
        });
        Ok(Some(Box::new(rows)))
    }
}

/// Opens a workbook whose parts have been checked.
fn workbook(mut file: File) -> Result<Workbook, String> {
    let damaged = || "it is damaged: copy it again".to_owned();
    unharmed(|| {
        file.rewind().map_err(|error| error.to_string())?;
        archive::check(BufReader::new(&file))?;
        file.rewind().map_err(|error| error.to_string())?;
        Workbook::new(BufReader::new(file)).map_err(|error| error.to_string())
    })
    .unwrap_or_else(|| Err(damaged()))
}

/// Returns the only sheet with the wanted columns, or the named one, and the row of its names.
fn choose(
    workbook: &mut Workbook,
    wanted: &Wanted,
    path: &Path,
    region: Region,
    named: Option<&str>,
) -> Result<(String, Head), SourceError> {
    let sheets = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let sheets: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
    let mut candidates = Candidates::new("sheet", path, &sheets, named)?;
    for sheet in candidates.names() {
        let found = unharmed(|| {
            let mut rows = cells::Rows::open(workbook, &sheet).map_err(|reason| refused(path, reason))?;
            Head::find(&mut rows, wanted, path, region)
        });
        let damaged = || Err(refused(path, format!("sheet {sheet:?} is damaged: copy the file again")));
        match found.unwrap_or_else(damaged)? {
            Search::Found(head) => candidates.found(&sheet, head),
            Search::Lacks(count, error) => candidates.lacks(count, error),
            Search::Empty => {}
        }
    }
    candidates.chosen()
}

/// Hands over the rows of a sheet behind a row.
fn send(
    workbook: &mut Workbook,
    sheet: &str,
    head: &mut Head,
    (wanted, path, behind): (&Wanted, &Path, u64),
    notes: &Mutex<Notes>,
    sink: &mut Sink,
) -> Result<(), String> {
    let (mut rows, mut row) = (cells::Rows::open(workbook, sheet)?, Row::default());
    while rows.next(&mut row)? {
        if row.number <= behind {
            continue;
        }
        let values = {
            let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
            head.values(&row, wanted, path, &mut notes)?
        };
        if let Some(values) = values
            && sink.push(row.number, values).is_err()
        {
            break;
        }
    }
    Ok(())
}
