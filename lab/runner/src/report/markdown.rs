//! Tables for a README.

use std::fmt::Write as _;

use super::format::duration;
use super::{claims, comparisons, distinct, groups, together};
use crate::compare;
use crate::row::Row;
use crate::store::Collection;

/// Returns a table for each definition, scheme and size.
pub(super) fn tables(collection: &Collection) -> String {
    let mut text = String::new();
    if let Some(machine) = &collection.machine {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "{}, {}; one thread each. Medians; the last column is how many times as fast sotto is as the fastest other.\n",
            machine.processor, machine.system
        );
    }
    let groups = groups(&collection.rows);
    let mut last = "";
    for group in groups.iter().filter(|group| !together::is_together(group.definition)) {
        if group.definition != last {
            last = group.definition;
            text += &claims::markdown(last, &collection.rows);
        }
        let mut sizes = distinct(&group.rows, |row| row.n);
        sizes.sort_unstable();
        for n in sizes {
            let rows: Vec<&Row> = group.rows.iter().copied().filter(|row| row.n == n).collect();
            let name = [group.definition, group.parameters].join(" ");
            let _ = writeln!(text, "{}, {}, n = {n}:\n", name.trim(), group.scheme.to_uppercase());
            text += &table(&rows);
            text.push('\n');
        }
    }
    text + &together::markdown(&collection.rows) + &comparisons::markdown(&collection.comparisons)
}

fn table(rows: &[&Row]) -> String {
    let engines = distinct(rows, |row| row.engine.as_str());
    let mut text = format!(
        "| operation | {} | |\n| --- |{}\n",
        engines.join(" | "),
        " ---: |".repeat(engines.len() + 1)
    );
    for operation in distinct(rows, Row::label) {
        let of: Vec<&Row> = rows.iter().copied().filter(|row| row.label() == operation).collect();
        let cells = engines.iter().map(|engine| {
            let row = of.iter().find(|row| row.engine == *engine);
            row.map_or("–".to_owned(), |row| {
                format!("{}{}", duration(row.median_us), if row.verified { "" } else { " (not verified)" })
            })
        });
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let ours = of.iter().find(|row| row.engine == "sotto");
        let ratio = ours.and_then(|ours| compare::ratio(ours, of.iter().copied()));
        let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}×"));
        let _ = writeln!(text, "| {operation} | {cells} | {ratio} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_one_that_markdown_reads() {
        let rows = vec![
            Row::example("sotto", "add", 4096, 5.0),
            Row::example("seal", "add", 4096, 20.0),
            Row { verified: false, ..Row::example("seal", "square", 4096, 7.0) },
        ];
        let text = tables(&Collection { rows, ..Collection::default() });
        let expected = "operations, BFV, n = 4096:\n\n| operation | sotto | seal | |\n| --- | ---: | ---: | ---: |\n\
                        | add | 5.00 µs | 20.0 µs | 4.00× |\n| square | – | 7.00 µs (not verified) |  |\n\n";
        assert_eq!(text, expected);
    }
}
