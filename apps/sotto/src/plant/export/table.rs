//! The rows of an answer beside each other: a line for each group and device, a column for each result.

use std::collections::HashMap;

use sotto_owner::question::{Cycle, Recurs};
use sotto_owner::{Answer, Assurance, Row};

use super::super::show::{base, cycles};

/// The name of a result's bounds ends so, as in the Python package.
pub(super) const BOUND: &str = " ±";

/// An answer as lines and columns.
pub(super) struct Table<'a> {
    pub(super) answer: &'a Answer,
    /// The keys of groups that recur.
    pub(super) cycles: Vec<Cycle>,
    pub(super) has_devices: bool,
    pub(super) results: Vec<Result<'a>>,
    pub(super) lines: Vec<Line<'a>>,
}

/// A result: a column of values and one of bounds.
pub(super) struct Result<'a> {
    /// Its name; `name[0]`, `name[1]`, … are one.
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
}

/// The rows of one group and device.
pub(super) struct Line<'a> {
    first: &'a Row,
    /// The row of each result, if it has one.
    rows: Vec<Option<&'a Row>>,
}

type Key<'a> = (i64, i64, Option<Recurs>, Option<&'a str>);

impl<'a> Table<'a> {
    pub(super) fn of(answer: &'a Answer) -> Self {
        let mut table = Self {
            answer,
            cycles: cycles(&answer.rows),
            has_devices: answer.rows.iter().any(|row| row.device.is_some()),
            results: Vec::new(),
            lines: Vec::new(),
        };
        let (mut columns, mut lines) = (HashMap::<&str, usize>::new(), HashMap::<Key<'_>, usize>::new());
        for row in &answer.rows {
            // A histogram's bins have columns of their own.
            let name = if row.bin.is_some() { row.name.as_str() } else { base(&row.name) };
            let column = *columns.entry(name).or_insert_with(|| {
                table.results.push(Result { name, unit: &row.unit });
                table.results.len() - 1
            });
            if table.results[column].unit.is_empty() {
                table.results[column].unit = &row.unit;
            }
            let key = (row.from_ms, row.to_ms, row.recurs, row.device.as_deref());
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

    pub(super) fn device(&self) -> Option<&'a str> {
        self.first.device.as_deref()
    }

    /// Returns the key of a group that recurs.
    pub(super) fn recurs(&self) -> Recurs {
        self.first.recurs.unwrap_or_default()
    }

    /// Returns the value of a result, and its bound.
    pub(super) fn value(&self, column: usize) -> [Option<f64>; 2] {
        self.row(column).map_or([None; 2], |row| [row.value, row.bound])
    }

    /// Returns the number of readings of the result that has fewest.
    pub(super) fn readings(&self) -> u64 {
        self.all().map(|row| row.count).min().unwrap_or_default()
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

/// Returns the name of the column of a cycle.
pub(super) fn cycle_name(cycle: Cycle) -> String {
    cycle.words().replace(' ', "_")
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
    }
}
