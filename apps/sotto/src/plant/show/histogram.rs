//! Histograms: bars for one group, and a map of groups and bins for several.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use sotto_owner::{Assurance, Row};

use super::columns::subject;
use super::number::{counted, marked, number, when};

/// Columns of the longest bar, and of the widest map.
const BAR: usize = 40;
const MAP: usize = 60;
/// Most bins of a table; a longer histogram is listed row by row.
const MOST_BINS: usize = 24;

/// A histogram's rows: those of each group and device, bin by bin.
pub(super) struct Histogram<'r> {
    /// The result's name without the bin.
    pub(super) name: &'r str,
    /// Bins with their names, such as `[50, 100)`.
    pub(super) bins: Vec<&'r str>,
    pub(super) groups: Vec<Group<'r>>,
}

/// The bins of one group and device. The first row stands for the group.
pub(super) struct Group<'r> {
    pub(super) rows: Vec<&'r Row>,
}

impl<'r> Histogram<'r> {
    /// Returns the groups of each device, in the order of the devices' names.
    pub(super) fn by_device(&self) -> BTreeMap<Option<&str>, Vec<&Group<'r>>> {
        let mut devices: BTreeMap<_, Vec<_>> = BTreeMap::new();
        self.groups.iter().for_each(|group| devices.entry(group.device()).or_default().push(group));
        devices
    }
}

impl Group<'_> {
    pub(super) fn device(&self) -> Option<&str> {
        self.rows[0].subject()
    }

    /// Returns true if nothing shows that the counts are right.
    fn is_unchecked(&self) -> bool {
        self.rows.iter().any(|row| row.assurance == Assurance::Unchecked && row.value.is_some())
    }

    pub(super) fn most(&self) -> f64 {
        self.rows.iter().filter_map(|row| row.value).fold(0.0, f64::max)
    }
}

/// Returns the name of a histogram, and of its bin.
fn split(row: &Row) -> Option<(&str, &str)> {
    row.bin?;
    let at = row.name.rfind('[')?;
    Some((&row.name[..at], &row.name[at..]))
}

/// Returns the histograms of an answer, in the order of their names.
pub(super) fn histograms(rows: &[Row]) -> Vec<Histogram<'_>> {
    let mut all: Vec<Histogram<'_>> = Vec::new();
    for row in rows {
        let Some((name, bin)) = split(row) else { continue };
        let at = all.iter().position(|known| known.name == name).unwrap_or_else(|| {
            all.push(Histogram { name, bins: Vec::new(), groups: Vec::new() });
            all.len() - 1
        });
        let histogram = &mut all[at];
        if !histogram.bins.contains(&bin) {
            histogram.bins.push(bin);
        }
        let same = |group: &&mut Group<'_>| {
            let first = group.rows[0];
            (first.from_ms, first.to_ms, first.recurs, first.subject())
                == (row.from_ms, row.to_ms, row.recurs, row.subject())
        };
        match histogram.groups.iter_mut().rev().find(same) {
            Some(group) => group.rows.push(row),
            None => histogram.groups.push(Group { rows: vec![row] }),
        }
    }
    all
}

/// Returns a histogram as text: bars if it has one group, else a table with a column for each bin.
pub(super) fn text(histogram: &Histogram<'_>) -> String {
    match &histogram.groups[..] {
        [group] => bars(histogram, group),
        _ => table(histogram).to_string(),
    }
}

/// Returns a line for each bin: its ends, the number of readings, a bar.
pub(super) fn bars(histogram: &Histogram<'_>, group: &Group<'_>) -> String {
    let first = group.rows[0];
    let device = group.device().map_or_else(String::new, |device| format!(", {device}"));
    let mut text = format!("{}{device}, from {}: {}", histogram.name, when(first), readings(first));
    let counts: Vec<String> = group.rows.iter().map(|row| count(row)).collect();
    let names = group.rows.iter().filter_map(|row| split(row)).map(|(_, bin)| bin);
    let width = names.clone().map(|name| name.chars().count()).max().unwrap_or_default();
    let digits = counts.iter().map(|count| count.chars().count()).max().unwrap_or_default();
    let most = group.most();
    for ((row, name), count) in group.rows.iter().zip(names).zip(&counts) {
        let bar = bar(row.value.unwrap_or_default(), most);
        let line = format!("{name:>width$} │ {count:>digits$} {bar}");
        let _ = write!(text, "\n{}", line.trim_end());
    }
    text
}

/// Returns a bar in eighths of a character. A count above zero has one at least.
fn bar(value: f64, most: f64) -> String {
    const PARTS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    if value <= 0.0 || most <= 0.0 {
        return String::new();
    }
    let eighths = ((value / most * (8 * BAR) as f64).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(PARTS[eighths % 8]);
    }
    bar
}

fn count(row: &Row) -> String {
    match (row.value, row.bound) {
        (Some(value), Some(bound)) => marked(row, number(value, bound)),
        _ => "–".to_owned(),
    }
}

fn readings(row: &Row) -> String {
    let missing = if row.missing > 0 { format!(" (−{})", row.missing) } else { String::new() };
    format!("{}{missing}", counted(row.count, "reading"))
}

/// Returns a table with a line for each group and device, and a column for each bin, headed by its lower end.
fn table(histogram: &Histogram<'_>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    let devices = histogram.groups.iter().find_map(|group| subject(std::slice::from_ref(group.rows[0])));
    let wide = histogram.bins.len() > MOST_BINS;
    let mut header = vec![format!("{}: from", histogram.name)];
    header.extend(devices.map(str::to_owned));
    let first = header.len();
    if wide {
        header.push("bins with readings".to_owned());
    } else {
        let low = |bin: &&str| bin.trim_start_matches('[').split(',').next().unwrap_or_default().to_owned();
        header.extend(histogram.bins.iter().map(low));
    }
    header.push("readings".to_owned());
    let columns = header.len();
    table.set_header(header);
    for group in &histogram.groups {
        let mut cells = vec![when(group.rows[0])];
        cells.extend(devices.map(|_| group.device().unwrap_or_default().to_owned()));
        if wide {
            let full = group.rows.iter().filter(|row| row.value.is_some_and(|value| value > 0.0));
            let full = full.filter_map(|row| Some(format!("{}: {}", split(row)?.1, count(row))));
            cells.push(full.collect::<Vec<_>>().join(", "));
        } else {
            // An empty bin is a dot: the others stand out.
            let cell = |row: &&Row| {
                if row.value == Some(0.0) && row.bound == Some(0.0) { "·".to_owned() } else { count(row) }
            };
            cells.extend(group.rows.iter().map(cell));
        }
        cells.push(readings(group.rows[0]).replace(" readings", "").replace(" reading", ""));
        table.add_row(cells);
    }
    for at in if wide { columns - 1..columns } else { first..columns } {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
            if !wide {
                column.set_padding((1, u16::from(at + 1 == columns)));
            }
        }
    }
    table
}

/// Returns a map in the terminal: a column for each group, a line for each bin, the highest bin first. Darker is more.
pub(super) fn map(histogram: &Histogram<'_>) -> String {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    let [first, .., last] = &histogram.groups[..] else {
        return histogram.groups.first().map_or_else(String::new, |group| bars(histogram, group));
    };
    let mut text = String::new();
    for (device, groups) in histogram.by_device() {
        let each = groups.len().div_ceil(MAP).max(1);
        let total = |groups: &[&Group<'_>], bin: usize| -> f64 {
            groups.iter().filter_map(|group| group.rows.get(bin)?.value).sum()
        };
        let columns: Vec<&[&Group<'_>]> = groups.chunks(each).collect();
        let most = (0..histogram.bins.len())
            .flat_map(|bin| columns.iter().map(move |groups| total(groups, bin)))
            .fold(0.0, f64::max);
        let device = device.map_or_else(String::new, |device| format!(", {device}"));
        let _ = writeln!(text, "{}{device}: readings by bin, up to {most} in a column", histogram.name);
        let width = histogram.bins.iter().map(|bin| bin.chars().count()).max().unwrap_or_default();
        for (bin, name) in histogram.bins.iter().enumerate().rev() {
            let shade = |groups: &&[&Group<'_>]| {
                let part = if most > 0.0 { total(groups, bin) / most } else { 0.0 };
                SHADES[(part * 4.0).ceil() as usize]
            };
            let line: String = columns.iter().map(shade).collect();
            let _ = writeln!(text, "{name:>width$} │{}", line.trim_end());
        }
        // The mark of unchecked counts is under their column.
        let mark = |groups: &&[&Group<'_>]| {
            if groups.iter().any(|group| group.is_unchecked()) { '?' } else { '─' }
        };
        let axis: String = columns.iter().map(mark).collect();
        let _ = writeln!(text, "{:>width$} └{axis}", "");
        let (from, to) = (when(first.rows[0]), when(last.rows[0]));
        let blank = columns.len().saturating_sub(from.chars().count() + to.chars().count()).max(1);
        let _ = writeln!(text, "{:>width$}  {from}{:blank$}{to}", "", "");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::row;
    use super::*;

    fn bins(at: i64, counts: &[f64]) -> Vec<Row> {
        let of = |(bin, count): (usize, &f64)| {
            let (low, high) = (10.0 * bin as f64, 10.0 * (bin + 1) as f64);
            let close = if bin + 1 == counts.len() { ']' } else { ')' };
            let name = format!("histogram(t, {})[{low}, {high}{close}", counts.len());
            Row {
                bin: Some([low, high]),
                count: 24,
                unit: String::new(),
                ..row(&name, None, at, Some(*count), 0.0)
            }
        };
        counts.iter().enumerate().map(of).collect()
    }

    #[test]
    fn one_group_is_bars() {
        let rows = bins(0, &[8.0, 16.0, 0.0]);
        let found = histograms(&rows);
        let lines: Vec<String> = text(&found[0]).lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "histogram(t, 3), from 2014-01-31 00:00:00: 24 readings");
        assert_eq!(lines[1], format!(" [0, 10) │  8 {}", "█".repeat(20)));
        assert_eq!(lines[2], format!("[10, 20) │ 16 {}", "█".repeat(40)));
        assert_eq!(lines[3], "[20, 30] │  0");
        assert_eq!(bar(1.0, 10_000.0), "▏");
        assert_eq!(bar(1.5, 12.0), "█████");
    }

    #[test]
    fn several_groups_are_a_table_and_a_map() {
        let rows: Vec<Row> = (0..3).flat_map(|at| bins(at, &[at as f64, 4.0 - at as f64])).collect();
        let found = histograms(&rows);
        assert_eq!((found.len(), found[0].groups.len(), found[0].bins.len()), (1, 3, 2));
        let table = text(&found[0]);
        assert!(table.contains("histogram(t, 2): from") && table.contains('·'), "{table}");
        let map = map(&found[0]);
        let lines: Vec<&str> = map.lines().collect();
        assert_eq!(lines[1], "[10, 20] │█▓▒");
        assert_eq!(lines[2], " [0, 10) │ ░▒");
        assert_eq!(lines[3].trim_start(), "└───");
    }

    #[test]
    fn unchecked_counts_have_their_mark_under_the_map() {
        let mut rows: Vec<Row> = (0..3).flat_map(|at| bins(at, &[at as f64, 4.0 - at as f64])).collect();
        rows[3].assurance = sotto_owner::Assurance::Unchecked;
        let found = histograms(&rows);
        let map = map(&found[0]);
        assert_eq!(map.lines().nth(3).expect("the axis").trim_start(), "└─?─");
    }
}
