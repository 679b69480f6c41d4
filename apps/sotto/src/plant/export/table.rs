//! The rows of an answer beside each other: a line for each group and device, a column for each result.

use std::collections::HashMap;

use sotto_owner::question::{Cycle, Recurs};
use sotto_owner::{Answer, Assurance, Next, Rank, Row};

use super::super::show::{base, cycles, subject};

/// The name of a result's bounds ends so, as in the Python package.
pub(super) const BOUND: &str = " ±";
/// So ends the name of a column that tells values between readings from readings.
pub(super) const INTERPOLATED: &str = " interpolated";

/// An answer as lines and columns.
pub(super) struct Table<'a> {
    pub(super) answer: &'a Answer,
    /// The columns that tell lines apart, beside their times.
    pub(super) keys: Vec<Key>,
    pub(super) results: Vec<Result<'a>>,
    pub(super) lines: Vec<Line<'a>>,
}

/// A column that tells lines apart.
#[derive(Clone, Copy)]
pub(super) enum Key {
    /// The key of a group that recurs.
    Cycle(Cycle),
    /// The place of a device.
    Place,
    /// The way in which the device next in the order is near.
    Next,
    /// The device or the tag, with the column's name.
    Subject(&'static str),
}

impl Key {
    fn all(rows: &[Row]) -> Vec<Self> {
        let mut keys: Vec<Self> = cycles(rows).into_iter().map(Self::Cycle).collect();
        if rows.iter().any(|row| row.rank.is_some()) {
            keys.extend([Self::Place, Self::Next]);
        }
        keys.extend(subject(rows).map(Self::Subject));
        keys
    }

    /// Returns the name of the column.
    pub(super) fn name(self) -> String {
        match self {
            Self::Cycle(cycle) => cycle.words().replace(' ', "_"),
            Self::Place => "place".to_owned(),
            Self::Next => "next".to_owned(),
            Self::Subject(name) => name.to_owned(),
        }
    }

    /// Returns true if the column has whole numbers.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Place | Self::Cycle(Cycle::HourOfDay | Cycle::MonthOfYear))
    }
}

/// A result: a column of values and one of bounds.
pub(super) struct Result<'a> {
    /// Its name; `name[0]`, `name[1]`, … are one.
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    /// True if values lie between readings: a further column tells which.
    pub(super) interpolated: bool,
}

/// The rows of one group and device.
pub(super) struct Line<'a> {
    first: &'a Row,
    /// The row of each result, if it has one.
    rows: Vec<Option<&'a Row>>,
}

/// The time and the device or tag of a line.
type Of<'a> = (i64, i64, Option<Recurs>, Option<&'a str>);

impl<'a> Table<'a> {
    pub(super) fn of(answer: &'a Answer) -> Self {
        let mut table = Self { answer, keys: Key::all(&answer.rows), results: Vec::new(), lines: Vec::new() };
        let (mut columns, mut lines) = (HashMap::<&str, usize>::new(), HashMap::<Of<'_>, usize>::new());
        for row in &answer.rows {
            // A histogram's bins have columns of their own.
            let name = if row.bin.is_some() { row.name.as_str() } else { base(&row.name) };
            let column = *columns.entry(name).or_insert_with(|| {
                table.results.push(Result { name, unit: &row.unit, interpolated: false });
                table.results.len() - 1
            });
            if table.results[column].unit.is_empty() {
                table.results[column].unit = &row.unit;
            }
            table.results[column].interpolated |= row.interpolated;
            let key = (row.from_ms, row.to_ms, row.recurs, row.subject());
            // Windows of several devices may have equal times: each has a line of its own.
            let free = lines.get(&key).copied().filter(|at| table.lines[*at].row(column).is_none());
            let at = free.unwrap_or_else(|| {
                table.lines.push(Line { first: row, rows: Vec::new() });
                lines.insert(key, table.lines.len() - 1);
                table.lines.len() - 1
            });
            table.lines[at].put(column, row);
        }
        table
    }
}

impl<'a> Line<'a> {
    fn put(&mut self, column: usize, row: &'a Row) {
        if self.rows.len() <= column {
            self.rows.resize(column + 1, None);
        }
        self.rows[column] = Some(row);
    }

    fn row(&self, column: usize) -> Option<&'a Row> {
        self.rows.get(column).copied().flatten()
    }

    fn all(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.rows.iter().copied().flatten()
    }

    /// Returns the start and the end of the group, as RFC 3339 and in milliseconds since 1970.
    pub(super) fn times(&self) -> [(&'a str, i64); 2] {
        [(&self.first.from, self.first.from_ms), (&self.first.to, self.first.to_ms)]
    }

    /// Returns the text of a key; empty if the line has none.
    pub(super) fn key(&self, key: Key) -> String {
        let rank = || self.all().find_map(|row| row.rank);
        let text = match key {
            Key::Cycle(cycle) => self.first.recurs.and_then(|recurs| recurs.key(cycle)),
            Key::Place => rank().map(|Rank { place, .. }| place.to_string()),
            Key::Next => rank().and_then(|rank| rank.next).map(|next| {
                match next {
                    Next::Equal => "equal",
                    Next::Overlaps => "overlaps",
                }
                .to_owned()
            }),
            Key::Subject(_) => self.first.subject().map(str::to_owned),
        };
        text.unwrap_or_default()
    }

    /// Returns true if the value of a result lies between readings; None if it has no value.
    pub(super) fn is_interpolated(&self, column: usize) -> Option<bool> {
        self.row(column).filter(|row| row.value.is_some()).map(|row| row.interpolated)
    }

    /// Returns the value of a result, and its bound.
    pub(super) fn value(&self, column: usize) -> [Option<f64>; 2] {
        self.row(column).map_or([None; 2], |row| [row.value, row.bound])
    }

    /// Returns the number of readings of the result that has fewest, of those with a value.
    pub(super) fn readings(&self) -> u64 {
        let with_value = self.all().filter(|row| row.value.is_some()).map(|row| row.count).min();
        with_value.or_else(|| self.all().map(|row| row.count).min()).unwrap_or_default()
    }

    /// Returns the number of missing readings of the result that lacks most.
    pub(super) fn missing(&self) -> u64 {
        self.all().map(|row| row.missing).max().unwrap_or_default()
    }

    /// Returns how far the values are checked: the least of all.
    pub(super) fn assurance(&self) -> Assurance {
        self.all().map(|row| row.assurance).max().unwrap_or(Assurance::Authenticated)
    }

    /// Returns the reasons of missing values, each once.
    pub(super) fn why(&self) -> String {
        let mut all: Vec<&str> = Vec::new();
        for row in self.all().filter(|row| row.value.is_none()) {
            let why =
                row.why.as_deref().unwrap_or(if row.count == 0 { "no reading" } else { "undetermined" });
            if !all.contains(&why) {
                all.push(why);
            }
        }
        all.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::show::fixture::{answer, row};
    use super::*;

    #[test]
    fn results_of_a_group_are_one_line_and_no_value_is_lost() {
        let answer = answer(vec![
            row("mean(t)", Some("a"), 0, Some(1.0), 0.5),
            row("max(t)", Some("a"), 0, Some(2.0), 0.0),
            row("mean(t)", Some("b"), 0, Some(3.0), 0.5),
            row("mean(t)", Some("b"), 0, Some(4.0), 0.5),
            row("max(t)", Some("b"), 1, None, 0.0),
        ]);
        let table = Table::of(&answer);
        assert_eq!(table.results.iter().map(|result| result.name).collect::<Vec<_>>(), ["mean(t)", "max(t)"]);
        let values: Vec<_> = table.lines.iter().map(|line| [line.value(0)[0], line.value(1)[0]]).collect();
        assert_eq!(values, [[Some(1.0), Some(2.0)], [Some(3.0), None], [Some(4.0), None], [None, None]]);
        assert_eq!(table.lines[3].why(), "no reading");
        assert_eq!(table.lines[0].readings(), 6);
        let missing = Row { count: 0, ..row("max(t)", None, 0, None, 0.0) };
        let answer = self::answer(vec![row("mean(t)", None, 0, Some(1.0), 0.5), missing]);
        assert_eq!(Table::of(&answer).lines[0].readings(), 6, "a result without a value has no say");
    }

    #[test]
    fn tags_places_and_values_between_readings_are_told() {
        let rank = |place, next| Some(Rank { place, next });
        let tagged =
            |tag: &str, value| Row { tag: Some(tag.to_owned()), ..row("mean(t)", None, 0, value, 0.5) };
        let keys = |table: &Table<'_>| {
            let line = |line: &Line<'_>| table.keys.iter().map(|key| line.key(*key)).collect::<Vec<_>>();
            let names = table.keys.iter().map(|key| key.name()).collect::<Vec<_>>();
            (names.join(" "), table.lines.iter().map(line).collect::<Vec<_>>())
        };
        let tags = answer(vec![tagged("barn", Some(1.0)), tagged("north", Some(2.0))]);
        assert_eq!(
            keys(&Table::of(&tags)),
            ("tag".to_owned(), vec![vec!["barn".to_owned()], vec!["north".to_owned()]])
        );
        let ranked = answer(vec![
            Row { rank: rank(1, Some(Next::Overlaps)), ..row("max(t)", Some("roof"), 0, Some(3.0), 0.5) },
            Row { rank: rank(2, None), ..row("max(t)", Some("barn"), 0, Some(2.9), 0.5) },
        ]);
        let lines = [["1", "overlaps", "roof"], ["2", "", "barn"]];
        let lines = lines.map(|line| line.map(str::to_owned).to_vec()).to_vec();
        assert_eq!(keys(&Table::of(&ranked)), ("place next device".to_owned(), lines));
        let between = answer(vec![
            row("interpolate(t, 2h)[0]", None, 0, Some(1.0), 0.5),
            Row { interpolated: true, ..row("interpolate(t, 2h)[1]", None, 1, Some(2.0), 0.5) },
            row("interpolate(t, 2h)[2]", None, 2, None, 0.0),
        ]);
        let table = Table::of(&between);
        let told: Vec<_> = table.lines.iter().map(|line| line.is_interpolated(0)).collect();
        assert_eq!((table.results[0].interpolated, told), (true, vec![Some(false), Some(true), None]));
    }
}
