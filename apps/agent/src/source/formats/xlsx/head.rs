//! The row of a sheet that names its columns.

use std::path::Path;

use crate::source::SourceError;
use crate::source::files::columns::Wanted;
use crate::source::files::facts::Lines;
use crate::source::files::input::refused;
use crate::source::files::places::Places;
use crate::source::files::time_columns::is_time;
use crate::source::formats::typed::Value;

use super::cells::{Row, Rows};

/// Rows among which the names of the columns are looked for.
const MOST_HEAD_ROWS: u64 = 60;
/// Rows behind the names that may hold units and other words about the columns.
const WORD_ROWS: u8 = 3;

/// Where the names are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// True if a row names the columns.
    pub(super) header: bool,
    /// Its number, if given.
    pub(super) header_row: Option<u64>,
    /// Number of rows to skip.
    pub(super) skipped: u64,
}

/// The names of the columns, and the rows of words about them.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) places: Places,
    /// The row of the names; 0 if there is none.
    pub(super) row: u64,
    /// Rows that may still hold words about the columns.
    words: u8,
    named: bool,
}

/// Facts found among the rows.
#[derive(Clone, Debug, Default)]
pub(in crate::source::formats) struct Notes {
    /// Words under the names of the channels' columns.
    pub(in crate::source::formats) units: Vec<String>,
    /// Rows that name the columns again.
    pub(in crate::source::formats) again: Lines,
    /// Rows that begin with #.
    pub(in crate::source::formats) comments: u64,
}

/// Outcome of the search in a sheet.
pub(super) enum Search {
    Found(Head),
    /// The number of names in the row that is most likely the head, and the error that names those that it lacks.
    Lacks(usize, SourceError),
    /// The sheet has no rows.
    Empty,
}

impl Head {
    /// Looks for the names in the first rows of a sheet.
    pub(super) fn find(
        rows: &mut Rows<'_>,
        wanted: &Wanted,
        path: &Path,
        region: Region,
    ) -> Result<Search, SourceError> {
        let (mut row, mut likely, mut above) = (Row::default(), None::<(usize, SourceError)>, Vec::new());
        let last = region.header_row.unwrap_or(region.skipped + MOST_HEAD_ROWS);
        while rows.next(&mut row).map_err(|reason| refused(path, reason))? && row.number <= last {
            if row.number <= region.skipped || region.header_row.is_some_and(|number| row.number < number) {
                continue;
            }
            if !region.header {
                let names: Vec<String> = (1..=row.texts().len()).map(|number| number.to_string()).collect();
                return Ok(match Places::find(&names, wanted, path) {
                    Ok(places) => Search::Found(Self { places, row: 0, words: 0, named: false }),
                    Err(error) => Search::Lacks(names.len(), error),
                });
            }
            let names = names_of(&row);
            match Places::find(&names, wanted, path) {
                Ok(places) => {
                    let head = Self { places, row: row.number, words: WORD_ROWS, named: true };
                    if region.header_row.is_none() {
                        head.refuse_rows_above(&above, wanted, path)?;
                    }
                    return Ok(Search::Found(head));
                }
                Err(error) => {
                    let count = names.iter().filter(|name| name.chars().any(char::is_alphabetic)).count();
                    if likely.as_ref().is_none_or(|(most, _)| count > *most) {
                        likely = Some((count, error));
                    }
                }
            }
            above.push(row.clone());
        }
        Ok(likely.map_or(Search::Empty, |(count, error)| Search::Lacks(count, error)))
    }

    /// Refuses a sheet with rows above the row of the names: nobody names their columns.
    fn refuse_rows_above(&self, above: &[Row], wanted: &Wanted, path: &Path) -> Result<(), SourceError> {
        let Places { time, values, .. } = &self.places;
        let is_row = |row: &&Row| {
            let has_time = || {
                time.0.first().is_some_and(|place| match row.cell(*place) {
                    Value::Local(_) | Value::Date(_) => true,
                    value => is_time(&value.text()),
                })
            };
            values.iter().any(|place| is_number(&row.cell(*place))) && (wanted.time.is_none() || has_time())
        };
        let Some(found) = above.iter().find(is_row) else { return Ok(()) };
        let reason = format!(
            "row {} looks like a row of readings, but row {} names the columns; leave out the rows above it with \
             --skip-lines {}, or write the names into the first row",
            found.number,
            self.row,
            self.row - 1
        );
        Err(refused(path, reason))
    }

    /// Returns the values of the wanted columns of a row, in the order of their roles; `None` if the row holds no
    /// readings, but names or words.
    pub(super) fn values(
        &mut self,
        row: &Row,
        wanted: &Wanted,
        path: &Path,
        notes: &mut Notes,
    ) -> Result<Option<Vec<Value<'static>>>, String> {
        let first = row.cells.first().filter(|(column, _)| *column == 0);
        if matches!(first, Some((_, Value::Text(text))) if self.named && text.starts_with('#') && !is_error(text))
        {
            notes.comments += 1;
            return Ok(None);
        }
        if self.words > 0 {
            self.words -= 1;
            if self.is_words(row, wanted) {
                if notes.units.is_empty() {
                    let text = |place: &usize| row.cell(*place).text().trim().to_owned();
                    notes.units = self.places.values.iter().map(text).collect();
                }
                return Ok(None);
            }
            self.words = 0;
        }
        if self.is_names(row, wanted, path)? {
            notes.again.add(row.number);
            return Ok(None);
        }
        Ok(Some(self.places.all().map(|place| row.cell(*place).into_owned()).collect()))
    }

    /// Returns true if the row has only words about the columns, such as units.
    fn is_words(&self, row: &Row, wanted: &Wanted) -> bool {
        let Places { time, values, .. } = &self.places;
        let is_word = |place: &usize| match row.cell(*place) {
            Value::Empty => true,
            Value::Text(text) => !text.bytes().any(|byte| byte.is_ascii_digit()),
            _ => false,
        };
        wanted.time.is_some()
            && time.0.iter().all(is_word)
            && !values.iter().any(|place| is_number(&row.cell(*place)))
            && time.0.iter().chain(values).any(|place| row.cell(*place) != Value::Empty)
    }

    /// Follows a row that names the columns again, in any order. Returns true if it is one.
    fn is_names(&mut self, row: &Row, wanted: &Wanted, path: &Path) -> Result<bool, String> {
        let Places { time, values, names: known, .. } = &self.places;
        let Some(place) = time.0.first().or(values.first()).filter(|_| self.named) else { return Ok(false) };
        if !matches!(row.cell(*place), Value::Text(_) | Value::Empty) {
            return Ok(false);
        }
        let names = names_of(row);
        let is_known = |place: &usize| names.iter().any(|name| name.eq_ignore_ascii_case(&known[*place]));
        if !time.0.iter().chain(values).any(is_known) {
            return Ok(false);
        }
        match Places::find(&names, wanted, path) {
            Ok(places) if roles(&places) == roles(&self.places) => {
                (self.places, self.row, self.words) = (places, row.number, WORD_ROWS);
                Ok(true)
            }
            Err(error)
                if time.0.iter().all(is_known) && !row.cells.iter().any(|(_, cell)| is_number(cell)) =>
            {
                Err(format!("row {} names the columns again, in another way: {error}", row.number))
            }
            _ => Ok(false),
        }
    }
}

/// Returns the names in a row.
fn names_of(row: &Row) -> Vec<String> {
    let mut names = row.texts();
    if let Some(name) =
        names.first_mut().and_then(|first| first.strip_prefix('#')).map(|name| name.trim().to_owned())
    {
        names[0] = name;
    }
    names
}

/// Returns the number of columns of each role.
fn roles(places: &Places) -> (usize, usize, Vec<usize>) {
    (places.time.0.len(), places.conditions.len(), places.about.iter().map(Vec::len).collect())
}

fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Integer(_) | Value::Real(_))
}

/// Returns true for `#N/A`, `#DIV/0!` and others, which begin as a comment does.
fn is_error(text: &str) -> bool {
    text.len() < 16 && (text.ends_with(['!', '?']) || matches!(text, "#N/A" | "#DATA!"))
}
