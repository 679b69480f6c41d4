//! The report: a page with tables and charts, Markdown tables for a README, and the rows as CSV.

mod across;
mod benchmarks;
mod cards;
mod chart;
mod claims;
pub mod comparisons;
mod format;
mod glance;
mod hexl;
mod margins;
mod markdown;
mod page;
mod pareto;
mod picture;
mod published;
mod sizes;
mod sweeps;
mod tables;
mod tasks;
pub mod together;

use std::fs;
use std::path::{Path, PathBuf};

pub use format::duration;

use crate::error::RunnerError;
use crate::row::Row;
use crate::store::Collection;

/// Writes `report.html`, `report.md` and `report.csv` about the rows of a folder into another, or the same one.
///
/// # Errors
/// `File` if a file cannot be read or written, `Row` if a line is not a row, `Nothing` if there are no rows.
pub fn write(folder: &Path, into: &Path) -> Result<Vec<PathBuf>, RunnerError> {
    let collection = read(folder)?;
    fs::create_dir_all(into).map_err(RunnerError::file(into))?;
    let files = [
        ("report.html", html(&collection)),
        ("report.md", markdown(&collection)),
        ("report.csv", comma_separated(&collection.rows)),
    ];
    let write = |(name, text): (&str, String)| {
        let path = into.join(name);
        fs::write(&path, text).map_err(RunnerError::file(&path))?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}

/// Writes the page of benchmarks about a folder's rows; `commit` names the measured code.
///
/// # Errors
/// As [`write()`].
pub fn write_benchmarks(folder: &Path, commit: &str, page: &Path) -> Result<(), RunnerError> {
    let collection = read(folder)?;
    fs::write(page, benchmarks::page(&collection, commit)).map_err(RunnerError::file(page))
}

/// Draws the chart of the README about a folder's rows; `commit` names the code that was measured.
///
/// # Errors
/// [`RunnerError`] for a folder without rows that can be compared, or a file that cannot be written.
pub fn write_chart(folder: &Path, commit: &str, file: &Path) -> Result<(), RunnerError> {
    let collection = read(folder)?;
    let processor = collection.machine.as_ref().map_or("", |machine| machine.processor.as_str());
    let origin = format!(
        "{processor}; sotto-lab run operations, commit {commit}; geometric means over n = 4096 to 32768"
    );
    let picture = picture::picture(&collection.rows, &origin).ok_or_else(|| RunnerError::Nothing {
        definition: folder.display().to_string(),
        has: "no rows that can be compared".to_owned(),
    })?;
    fs::write(file, picture).map_err(RunnerError::file(file))
}

/// Puts the summary of the benchmarks between the two marks of a file.
///
/// # Errors
/// As [`write()`]; `NoPlace` if the file lacks the marks.
pub fn write_summary(folder: &Path, commit: &str, into: &Path) -> Result<(), RunnerError> {
    let collection = read(folder)?;
    put(into, benchmarks::MARKS, &format!("{}\n", benchmarks::summary(&collection, commit).trim()))
}

/// Puts the tables of comparisons between the comments `lab comparisons: begin` and `end` of a page.
///
/// # Errors
/// As [`write()`]; `NoPlace` if the file lacks the marks.
pub fn write_comparisons(folder: &Path, commit: &str, page: &Path) -> Result<(), RunnerError> {
    let collection = read(folder)?;
    put(page, comparisons::MARKS, &comparisons::between_marks(&collection, commit))
}

/// Puts the table of sums of windows between the comments `lab window-sums: begin` and `end` of a page.
///
/// # Errors
/// As [`write()`]; `NoPlace` if the file lacks the marks.
pub fn write_window_sums(folder: &Path, commit: &str, page: &Path) -> Result<(), RunnerError> {
    let collection = read(folder)?;
    put(page, together::MARKS, &together::between_marks(&collection, commit))
}

/// Writes a part, which ends with a line, between two marks of a file.
fn put(path: &Path, marks: [&str; 2], part: &str) -> Result<(), RunnerError> {
    let text = fs::read_to_string(path).map_err(RunnerError::file(path))?;
    let text = replaced(&text, marks, part).ok_or_else(|| RunnerError::NoPlace { path: path.to_owned() })?;
    fs::write(path, text).map_err(RunnerError::file(path))
}

/// Returns a text with the part between two marks replaced. None if the text lacks the marks.
fn replaced(text: &str, [begin, end]: [&str; 2], part: &str) -> Option<String> {
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{part}{end}{after}"))
}

/// Returns the page.
pub fn html(collection: &Collection) -> String {
    page::page(collection)
}

fn read(folder: &Path) -> Result<Collection, RunnerError> {
    let collection = Collection::read(folder)?;
    if collection.rows.is_empty() && collection.comparisons.is_empty() {
        let definition = folder.display().to_string();
        return Err(RunnerError::Nothing { definition, has: "no rows".to_owned() });
    }
    Ok(collection)
}

/// Returns the tables for a README.
pub fn markdown(collection: &Collection) -> String {
    markdown::tables(collection)
}

/// Returns the rows as CSV with a heading.
pub fn comma_separated(rows: &[Row]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Rows are flat and the writer is in memory, so that neither can fail.
    rows.iter().for_each(|row| drop(writer.serialize(row)));
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Rows that are shown together: of one definition, parameter set and scheme.
struct Group<'a> {
    definition: &'a str,
    parameters: &'a str,
    scheme: &'a str,
    rows: Vec<&'a Row>,
}

/// Returns the groups in the order of measurement.
fn groups(rows: &[Row]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in rows {
        let (definition, parameters, scheme) = (&*row.definition, &*row.parameters, &*row.scheme);
        let same =
            |g: &&mut Group<'_>| (g.definition, g.parameters, g.scheme) == (definition, parameters, scheme);
        match groups.iter_mut().find(same) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { definition, parameters, scheme, rows: vec![row] }),
        }
    }
    groups
}

/// Returns the distinct values in the order of their first occurrence.
fn distinct<'a, T: PartialEq>(rows: &[&'a Row], of: impl Fn(&'a Row) -> T) -> Vec<T> {
    found_once(rows.iter().copied().map(of))
}

/// Returns the distinct values of other rows, as [`distinct`].
fn distinct_of<'a, R, T: PartialEq>(rows: &'a [R], of: impl Fn(&'a R) -> T) -> Vec<T> {
    found_once(rows.iter().map(of))
}

fn found_once<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}
