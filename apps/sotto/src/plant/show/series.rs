//! The rows of an answer as series over time.

use std::collections::BTreeMap;

use sotto_chart::extent;
use sotto_owner::{Answer, Assurance, Row};

/// All rows of one result.
pub(super) struct Series<'a> {
    /// The result's name; `name[0]`, `name[1]`, … form one series.
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    /// True if its values are never below zero.
    pub(super) is_size: bool,
    /// One line for each device, or a single line over all devices.
    pub(super) lines: Vec<Line<'a>>,
}

/// The rows of one device in time order.
pub(super) struct Line<'a> {
    pub(super) device: Option<&'a str>,
    pub(super) rows: Vec<&'a Row>,
}

/// A row that has a finite value.
#[derive(Clone, Copy)]
pub(super) struct Point<'a> {
    pub(super) row: &'a Row,
    pub(super) value: f64,
    /// The bound; 0 if the row has none, or an infinite one.
    pub(super) bound: f64,
}

impl<'a> Point<'a> {
    pub(super) fn new(row: &'a Row) -> Option<Self> {
        let value = row.value.filter(|value| value.is_finite())?;
        let bound = row.bound.filter(|bound| bound.is_finite()).unwrap_or_default().abs();
        Some(Self { row, value, bound })
    }

    /// Returns true if nothing shows that the value is right.
    pub(super) fn is_unchecked(&self) -> bool {
        self.row.assurance == Assurance::Unchecked
    }

    pub(super) fn low(&self) -> f64 {
        self.value - self.bound
    }

    pub(super) fn high(&self) -> f64 {
        self.value + self.bound
    }
}

/// Returns the middle of a row's group, in milliseconds since 1970.
pub(super) fn middle(row: &Row) -> f64 {
    (row.from_ms as f64 + row.to_ms as f64) / 2.0
}

/// Returns the ends of rows, in milliseconds since 1970 and in RFC 3339.
pub(super) fn times<'a>(rows: impl IntoIterator<Item = &'a Row>) -> impl Iterator<Item = (i64, &'a str)> {
    rows.into_iter().flat_map(|row| [(row.from_ms, row.from.as_str()), (row.to_ms, row.to.as_str())])
}

/// Returns the series of an answer, in the order in which their names first occur.
pub(super) fn series(answer: &Answer) -> Vec<Series<'_>> {
    let (sizes, mut all) = (answer.sizes(), Vec::<Series<'_>>::new());
    // Bins and groups that recur are no series over time.
    for row in answer.rows.iter().filter(|row| row.bin.is_none() && row.recurs.is_none()) {
        let (name, device) = (base(&row.name), row.subject());
        let at = all.iter().position(|series| series.name == name).unwrap_or_else(|| {
            all.push(Series { name, unit: "", is_size: sizes.contains(name), lines: Vec::new() });
            all.len() - 1
        });
        let series = &mut all[at];
        if series.unit.is_empty() {
            series.unit = &row.unit;
        }
        match series.lines.iter_mut().find(|line| line.device == device) {
            Some(line) => line.rows.push(row),
            None => series.lines.push(Line { device, rows: vec![row] }),
        }
    }
    for line in all.iter_mut().flat_map(|series| &mut series.lines) {
        line.rows.sort_by_key(|row| (row.from_ms, row.to_ms));
    }
    all
}

/// Returns the name without the index of a vector's element.
pub(crate) fn base(name: &str) -> &str {
    let index = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    index.filter(|(_, digits)| digits.parse::<u64>().is_ok()).map_or(name, |(name, _)| name)
}

impl<'a> Series<'a> {
    pub(super) fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.lines.iter().flat_map(|line| line.rows.iter().copied())
    }

    pub(super) fn points(&self) -> impl Iterator<Item = Point<'a>> + '_ {
        self.rows().filter_map(Point::new)
    }

    /// Returns the ends of an axis for these values and their bounds: sizes begin at zero.
    pub(super) fn ends(&self, points: impl Iterator<Item = Point<'a>>) -> Option<(f64, f64)> {
        let (low, high) = extent(points.flat_map(|point| [point.low(), point.high()]))?;
        Some(if self.is_size { (0.0, high.max(0.0)) } else { (low, high) })
    }
}

impl<'a> Line<'a> {
    pub(super) fn points(&self) -> impl Iterator<Item = Point<'a>> + '_ {
        self.rows.iter().filter_map(|row| Point::new(row))
    }

    /// Returns the points in runs without a gap. A gap is a row without a value, or an interval that no row covers and
    /// that is longer than half a row.
    pub(super) fn runs(&self) -> Vec<Vec<Point<'a>>> {
        let mut runs: Vec<Vec<Point<'a>>> = Vec::new();
        let mut before: Option<&Row> = None;
        for row in &self.rows {
            if let Some(point) = Point::new(row) {
                let joined = before.is_some_and(|before| {
                    2 * (row.from_ms - before.to_ms) <= before.to_ms - before.from_ms
                        && Point::new(before).is_some()
                });
                match runs.last_mut().filter(|_| joined) {
                    Some(run) => run.push(point),
                    None => runs.push(vec![point]),
                }
            }
            before = Some(row);
        }
        runs
    }
}

/// Returns the number of readings of the result that has most, each counted once. None for moving averages and earlier groups,
/// which use a reading several times.
pub(super) fn readings(answer: &Answer) -> Option<u64> {
    if ["moving_average", " offset "].iter().any(|words| answer.question.contains(words)) {
        return None;
    }
    let mut of: BTreeMap<&str, u64> = BTreeMap::new();
    for row in answer.rows.iter().filter(|row| row.bin.is_none()) {
        let count = of.entry(base(&row.name)).or_default();
        *count = count.saturating_add(row.count);
    }
    // Takes the maximum, not the sum: results over one channel share its readings.
    let most = of.into_values().max().unwrap_or_default();
    let bins = |of: &super::histogram::Histogram<'_>| of.groups.iter().map(|group| group.rows[0].count).sum();
    let binned: Option<u64> = super::histogram::histograms(&answer.rows).iter().map(bins).max();
    Some(most.max(binned.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{answer, hourly, row};
    use super::*;

    #[test]
    fn elements_of_a_vector_form_one_series() {
        for (name, expected) in [
            ("values(t)[12]", "values(t)"),
            ("values(t)", "values(t)"),
            ("a[b]", "a[b]"),
            ("[3]", ""),
            ("x[]", "x[]"),
        ] {
            assert_eq!(base(name), expected);
        }
        let answer =
            answer((0..3).map(|at| row(&format!("values(t)[{at}]"), None, at, Some(1.0), 0.0)).collect());
        let series = series(&answer);
        assert_eq!((series.len(), series[0].lines[0].rows.len()), (1, 3));
    }

    #[test]
    fn a_missing_value_or_a_missing_time_ends_a_run() {
        let mut rows = hourly("mean(t)", &[Some(1.0), Some(2.0), None, Some(3.0), Some(f64::NAN), Some(4.0)]);
        // No row covers hours 6 and 7.
        rows.push(row("mean(t)", None, 8, Some(5.0), 0.0));
        let answer = answer(rows);
        let lengths: Vec<usize> = series(&answer)[0].lines[0].runs().iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 1, 1, 1]);
    }

    #[test]
    fn a_reading_counts_once() {
        let mut rows = hourly("mean(t)", &[Some(1.0), Some(2.0)]);
        rows.extend(hourly("max(t)", &[Some(1.0), Some(2.0)]));
        assert_eq!(readings(&answer(rows)), Some(12));
    }
}
