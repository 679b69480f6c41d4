//! Tables whose cells have types: which columns are read, and how their rows become records.

mod candidates;
mod guard;
mod lines;
mod value;

use super::{Opening, Rows};
use crate::source::SourceError;
use crate::source::files::cells::{Cell, Record, Stamp, holds};
use crate::source::files::columns::Wanted;
use crate::source::files::facts::Shape;
use crate::source::files::input::refused;
use crate::source::files::packed::Packing;
use crate::source::files::places::Places;
use std::path::{Path, PathBuf};

pub(super) use candidates::Candidates;
pub(super) use guard::unharmed;
pub(super) use lines::{Lines, Sink};
pub(super) use value::{Value, clock, date, time};

/// A table with the columns that are wanted, row by row.
pub(super) trait Table: Send {
    /// Goes to the next row and returns its number, from 1; `None` behind the last one.
    ///
    /// # Errors
    /// [`SourceError`] if the file cannot be read.
    fn advance(&mut self) -> Result<Option<u64>, SourceError>;

    /// Returns a cell of the row, by its position among the wanted columns.
    fn value(&self, position: usize) -> Value<'_>;
}

/// The wanted columns of a table.
pub(super) struct Chosen {
    /// Their positions in the table, in ascending order.
    pub(super) columns: Vec<usize>,
    /// The positions of times, channels and conditions among them.
    places: Places,
    /// The names of the time's columns.
    time: Vec<String>,
}

impl Chosen {
    /// Finds the wanted columns among the names of a table.
    ///
    /// # Errors
    /// [`SourceError`] names a column that the table lacks.
    pub(super) fn find(names: &[String], wanted: &Wanted, path: &Path) -> Result<Self, SourceError> {
        let mut places = Places::find(names, wanted, path)?;
        let time = places.time.0.iter().map(|place| names[*place].clone()).collect();
        let mut columns: Vec<usize> = places.all().map(|place| *place).collect();
        columns.sort_unstable();
        columns.dedup();
        for place in places.all() {
            *place = columns.binary_search(place).unwrap_or_default();
        }
        Ok(Self { columns, places, time })
    }

    /// Takes columns that a table gives in the order of their roles: times, channels, conditions.
    pub(super) fn by_role(places: &Places) -> Self {
        let time = places.time.0.iter().map(|place| places.names[*place].clone()).collect();
        let mut places = places.clone();
        let roles = places.all().enumerate().map(|(role, place)| *place = role).count();
        Self { columns: (0..roles).collect(), places, time }
    }
}

/// Refuses options that are about lines of text.
pub(super) fn refuse_lines(opening: &Opening<'_>, path: &Path) -> Result<(), SourceError> {
    let Opening { header, header_line, skip_lines, .. } = *opening;
    if header && header_line.is_none() && skip_lines == 0 {
        return Ok(());
    }
    Err(refused(
        path,
        "it is a table whose columns have names: leave out --header-line, --skip-lines and --no-header",
    ))
}

/// The rows of a table.
pub(super) struct Typed<T> {
    table: T,
    path: PathBuf,
    chosen: Chosen,
    shape: Shape,
    /// Adds what the table finds in its rows.
    found: Option<Box<Found>>,
}

type Found = dyn Fn(&mut Shape) + Send;

impl<T: Table> Typed<T> {
    pub(super) fn new(table: T, path: &Path, chosen: Chosen) -> Self {
        let shape = Shape { time: chosen.time.clone(), typed: true, ..Shape::default() };
        Self { table, path: path.to_owned(), chosen, shape, found: None }
    }

    /// States what the table finds in its rows.
    pub(super) fn with(mut self, found: impl Fn(&mut Shape) + Send + 'static) -> Self {
        self.found = Some(Box::new(found));
        self
    }

    /// States how the file is compressed.
    pub(super) fn packed(mut self, packing: Option<Packing>) -> Self {
        self.shape.packing = packing;
        self
    }

    /// Names the table, of a file that may have several.
    pub(super) fn named(mut self, table: &str) -> Self {
        self.shape.table = Some(table.to_owned());
        self
    }

    fn meets(&self, conditions: &[(usize, String)]) -> bool {
        conditions.iter().all(|(place, text)| holds(&self.table.value(*place).text(), text))
    }

    fn stamp(&self, wanted: &Wanted) -> Stamp {
        match &self.chosen.places.time.0[..] {
            [place] => self.table.value(*place).stamp(wanted),
            places => {
                let values: Vec<Value<'_>> = places.iter().map(|place| self.table.value(*place)).collect();
                wanted.stamp_of(values.iter().map(Value::text))
            }
        }
    }

    /// Returns how the times are read if their cell has a type of its own.
    fn words(&self) -> Option<&'static str> {
        let [place] = self.chosen.places.time.0[..] else { return None };
        match self.table.value(place) {
            Value::Instant(_) => Some("timestamps"),
            Value::Local(_) | Value::Date(_) => Some("timestamps, local"),
            _ => None,
        }
    }

    /// Reads the cells of the channels.
    fn fill(&self, cells: &mut Vec<Cell>, wanted: &Wanted, row: u64) -> Result<(), SourceError> {
        let Places { values, about, .. } = &self.chosen.places;
        cells.clear();
        for (channel, (place, column)) in values.iter().zip(&wanted.values).enumerate() {
            if about.get(channel).is_some_and(|conditions| !self.meets(conditions)) {
                cells.push(Cell::Absent);
                continue;
            }
            let cell = self.table.value(*place).cell(column).map_err(|inexact| {
                let (number, channel) = (inexact.number, &column.channel);
                let reason = format!(
                    "row {row}: {number} is too large to be an exact reading of channel {channel}; subtract a constant \
                     in the file, or declare the channel with a coarser resolution"
                );
                refused(&self.path, reason)
            })?;
            cells.push(cell);
        }
        Ok(())
    }
}

impl<T: Table> Rows for Typed<T> {
    fn next(&mut self, wanted: &Wanted, record: &mut Record) -> Result<bool, SourceError> {
        while let Some(row) = self.table.advance()? {
            if !self.meets(&self.chosen.places.conditions) {
                continue;
            }
            self.fill(&mut record.cells, wanted, row)?;
            if !self.chosen.places.about.is_empty() && record.cells.iter().all(|cell| *cell == Cell::Absent) {
                continue;
            }
            record.line = row;
            record.time = self.stamp(wanted);
            if self.shape.stamps.is_none() && record.time != Stamp::None {
                self.shape.stamps = self.words();
            }
            return Ok(true);
        }
        Ok(false)
    }

    fn cell_text(&self, channel: usize) -> Option<String> {
        let place = self.chosen.places.values.get(channel)?;
        Some(self.table.value(*place).text().into_owned())
    }

    fn is_replaced(&self) -> bool {
        false
    }

    fn names(&self) -> &[String] {
        &self.chosen.places.names
    }

    fn shape(&self) -> Shape {
        let mut shape = self.shape.clone();
        if let Some(found) = &self.found {
            found(&mut shape);
        }
        shape
    }
}
