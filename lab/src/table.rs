//! Tables for a terminal.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table};
use sotto_runner::report::{comparisons, duration, together};
use sotto_runner::{ComparisonRow, Row, compare};

/// Returns a table with a heading and no rows; all columns but the first are numbers.
pub(super) fn empty(heading: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::UTF8_BORDERS_ONLY);
    table.set_header(heading.iter().copied());
    table
}

/// Aligns all columns but the first to the right.
pub(super) fn align_numbers(table: &mut Table) {
    for column in 1..table.column_count() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Returns one table for each parameter set, scheme and size: a row for each operation, a column for each engine.
pub(super) fn medians(rows: &[Row]) -> Vec<(String, Table)> {
    let mut groups: BTreeMap<(usize, String), Vec<&Row>> = BTreeMap::new();
    let apart = rows.iter().enumerate().filter(|(_, row)| !together::is_together(&row.definition));
    for (position, row) in apart {
        let title = format!("{} {} {} n = {}", row.definition, row.parameters, row.scheme, row.n);
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = groups.keys().find(|(_, known)| *known == title).map_or(position, |(first, _)| *first);
        groups.entry((first, title)).or_default().push(row);
    }
    groups.into_iter().map(|((_, title), rows)| (title, one(&rows))).collect()
}

fn one(rows: &[&Row]) -> Table {
    let mut engines: Vec<&str> = Vec::new();
    let mut operations: Vec<String> = Vec::new();
    for row in rows {
        if !engines.contains(&row.engine.as_str()) {
            engines.push(&row.engine);
        }
        if !operations.contains(&row.label()) {
            operations.push(row.label());
        }
    }
    let mut table = empty(&[&["operation"], &engines[..], &["against the fastest other"]].concat());
    for operation in operations {
        let of: Vec<&Row> = rows.iter().copied().filter(|row| row.label() == operation).collect();
        let cell = |engine: &&str| {
            let row = of.iter().find(|row| row.engine == **engine);
            row.map_or(String::from("–"), |row| {
                let unsure = if row.verified { "" } else { " not verified" };
                format!("{}{unsure}", duration(row.median_us))
            })
        };
        let mut cells: Vec<String> = vec![operation.clone()];
        cells.extend(engines.iter().map(cell));
        let ours = of.iter().find(|row| row.engine == "sotto");
        let ratio = ours.and_then(|ours| compare::ratio(ours, of.iter().copied()));
        cells.push(ratio.map_or(String::new(), |ratio| format!("{ratio:.2}×")));
        table.add_row(cells);
    }
    align_numbers(&mut table);
    table
}

/// Returns one table for each comparison: a row for each engine's method.
pub(super) fn comparisons(rows: &[ComparisonRow]) -> Vec<(String, Table)> {
    let one = |(title, rows): (String, Vec<&ComparisonRow>)| {
        let mut table = empty(&comparisons::HEADS);
        table.add_rows(rows.into_iter().map(comparisons::cells));
        align_numbers(&mut table);
        (title, table)
    };
    comparisons::tables(rows).into_iter().map(one).collect()
}

/// Returns one table for each definition whose schemes do the same task.
pub(super) fn together(rows: &[Row]) -> Vec<(String, Table)> {
    let one = |(title, heads, lines): together::Table| {
        let mut table = empty(&heads.iter().map(String::as_str).collect::<Vec<_>>());
        table.add_rows(lines);
        align_numbers(&mut table);
        (format!("{title}, fastest; median"), table)
    };
    together::tables(rows).into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn row(engine: &str, operation: &str, median: f64, verified: bool) -> Row {
        serde_json::from_value(serde_json::json!({
            "definition": "operations", "engine": engine, "version": "1", "scheme": "bfv", "n": 4096, "limbs": 2,
            "special_limbs": 1, "log2_q": 70.0, "log2_qp": 106.0, "security_profile": "guidelines-2024",
            "security_bits": 128, "operation": operation, "median_us": median, "mean_us": median, "sd_us": 0.0,
            "count": 3, "bytes": null, "verified": verified
        }))
        .unwrap()
    }

    #[test]
    fn operations_stand_down_and_engines_across() {
        let rows = [
            row("sotto", "add", 10.0, true),
            row("seal", "add", 25.0, true),
            row("seal", "square", 5.0, false),
        ];
        let tables = medians(&rows);
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].0, "operations bfv n = 4096");
        let text = tables[0].1.to_string();
        assert!(text.contains("2.50×") && text.contains("not verified") && text.contains('–'), "{text}");
    }
}
