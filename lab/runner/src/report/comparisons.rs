//! Tables of comparisons of encrypted readings with a limit, for the page, for Markdown and for a terminal.

use std::fmt::Write as _;

use sotto_chart::escape;

use super::distinct_of;
use super::format::{bytes, duration};
use crate::comparison_row::ComparisonRow;
use crate::definition::Definition;
use crate::store::Collection;

/// The heads of a table; the first [`TEXTS`] columns are text, the others numbers.
pub const HEADS: [&str; 12] = [
    "engine, method",
    "scheme, parameters",
    "security",
    "readings an evaluation",
    "an evaluation",
    "on a processor",
    "a reading",
    "up, a reading",
    "keys",
    "wrong",
    "undecided",
    "largest error",
];
/// Columns of text.
pub const TEXTS: usize = 2;

/// The marks between which a page has its tables.
pub(super) const MARKS: [&str; 2] = ["<!-- lab comparisons: begin -->", "<!-- lab comparisons: end -->"];

/// Returns the texts of a row, in the order of the columns.
pub fn cells(row: &ComparisonRow) -> [String; 12] {
    let score = &row.score;
    let inside = |count: usize| if count > 0 { format!(", {count} in the gap") } else { String::new() };
    [
        format!("{} {}", row.engine, row.method),
        format!("{}, n = {}: {}", row.scheme.to_uppercase(), row.n, row.parameters),
        row.security_bits.map_or_else(|| "below 128, or unknown".to_owned(), |bits| format!("{bits}")),
        row.batch.to_string(),
        duration(row.median_us),
        row.processor_us.map_or(String::new(), duration),
        duration(row.per_reading_us()),
        bytes(row.bytes_per_reading()),
        bytes(row.bytes_keys as f64),
        format!("{} of {}", score.wrong, score.readings),
        format!(
            "{}{}",
            score.undecided,
            inside(score.undecided - score.undecided_outside.min(score.undecided))
        ),
        if row.exact { "exact".to_owned() } else { format!("{:.1e}", score.largest_error) },
    ]
}

/// Returns the titles of the tables with their rows.
pub fn tables(rows: &[ComparisonRow]) -> Vec<(String, Vec<&ComparisonRow>)> {
    let names = distinct_of(rows, |row| (row.definition.as_str(), row.comparison.as_str()));
    let of = |(definition, comparison): (&str, &str)| {
        let rows: Vec<&ComparisonRow> =
            rows.iter().filter(|row| row.definition == definition && row.comparison == comparison).collect();
        (format!("{comparison}{}", about(definition, comparison, rows[0])), rows)
    };
    names.into_iter().map(of).collect()
}

/// Describes range, limit and readings of a comparison.
fn about(definition: &str, comparison: &str, row: &ComparisonRow) -> String {
    let source = &row.source;
    let known = Definition::named(definition).ok();
    let known = known.and_then(|d| d.comparisons.into_iter().find(|one| one.name == comparison));
    known.map_or(String::new(), |one| {
        let [least, largest] = one.range;
        let gap = if one.gap > 0.0 { format!(", gap {}", one.gap) } else { String::new() };
        format!(": x > {} in {least} … {largest}{gap}; readings: {source}", one.limit)
    })
}

/// Returns the tables as Markdown.
pub(super) fn markdown(rows: &[ComparisonRow]) -> String {
    let mut text = String::new();
    for (title, rows) in tables(rows) {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        // Writing to a string cannot fail.
        let _ = write!(text, "{title}:\n\n{}", line(&HEADS.map(str::to_owned)));
        let rule = |column| if column < TEXTS { "---" } else { "---:" }.to_owned();
        text += &line(&(0..HEADS.len()).map(rule).collect::<Vec<_>>());
        rows.iter().for_each(|row| text += &line(&cells(row)));
        text.push('\n');
    }
    text
}

/// Returns the page's section. Empty without rows.
pub(super) fn section(rows: &[ComparisonRow]) -> String {
    let mut text = String::new();
    for name in distinct_of(rows, |row| row.definition.as_str()) {
        let definition = Definition::named(name);
        let told = definition.map_or(String::new(), |definition| {
            format!(
                "<h2 id=\"{0}\">{1}</h2><p><code>sotto-lab run {0}</code></p><p>{2}</p>",
                escape(name),
                escape(&definition.title),
                escape(&definition.about)
            )
        });
        text += &told;
    }
    let heads: String = HEADS.iter().map(|head| format!("<th>{}</th>", escape(head))).collect();
    for (title, rows) in tables(rows) {
        let body: String = rows
            .iter()
            .map(|row| {
                let cells = cells(row);
                let first = format!("<tr><th>{}</th>", escape(&cells[0]));
                let rest = cells[1..].iter().map(|cell| format!("<td>{}</td>", escape(cell)));
                first + &rest.collect::<String>() + "</tr>"
            })
            .collect();
        let _ = write!(
            text,
            "<section><h3>{}</h3><div class=\"wide\"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>\
             </section>",
            escape(&title)
        );
    }
    text
}

/// Returns the text between the marks of a page; `commit` names the measured code.
pub(super) fn between_marks(collection: &Collection, commit: &str) -> String {
    let machine = collection.machine.as_ref();
    let machine = machine.map_or(String::new(), |m| {
        let load = m.load.map_or(String::new(), |load| format!("load {load} when the run began; "));
        format!("{}, {}; one thread, {load}", m.processor, m.vectors.join(", "))
    });
    let origin = format!("{machine}`sotto-lab run comparisons` at commit {commit}.");
    format!("{origin}\n\n{}", markdown(&collection.comparisons))
}

#[cfg(test)]
mod tests {
    use super::super::replaced;
    use super::*;
    use crate::comparison_row::Score;

    fn row(engine: &str, exact: bool) -> ComparisonRow {
        let score = Score {
            readings: 64,
            wrong: 1,
            undecided: 3,
            undecided_outside: 1,
            largest_error: 0.03,
            in_gap: 2,
        };
        ComparisonRow {
            definition: "comparisons".into(),
            comparison: "8 bits".into(),
            quick: false,
            source: "generated".into(),
            engine: engine.into(),
            version: "1".into(),
            flags: String::new(),
            threads: 1,
            method: "sign".into(),
            scheme: "ckks".into(),
            n: 32768,
            parameters: "depth <11>".into(),
            log2_qp: Some(628.0),
            security_bits: Some(128),
            batch: 1000,
            median_us: 5e5,
            mean_us: 5e5,
            sd_us: 0.0,
            count: 3,
            processor_us: Some(4e5),
            bytes_readings: 6_000_000,
            bytes_answer: 100,
            bytes_keys: 31_000_000,
            exact,
            score,
        }
    }

    #[test]
    fn a_row_tells_time_bytes_and_exactness() {
        let rows = [row("lattigo", false), row("sotto", true)];
        let text = markdown(&rows);
        let expected = "| lattigo sign | CKKS, n = 32768: depth <11> | 128 | 1000 | 500 ms | 400 ms | 400 µs | 6.00 kB | 31.0 MB | \
                        1 of 64 | 3, 2 in the gap | 3.0e-2 |\n";
        assert!(text.contains(expected), "{text}");
        assert!(
            text.starts_with("8 bits: x > 144 in 0 … 255; readings: generated:\n\n| engine, method |"),
            "{text}"
        );
        assert!(text.contains("| sotto sign |") && text.contains("| exact |\n\n"), "{text}");
        let page = section(&rows);
        assert!(page.contains("depth &lt;11&gt;") && page.contains("sotto-lab run comparisons"), "{page}");
        assert_eq!(section(&[]), "");
    }

    #[test]
    fn a_pages_tables_are_replaced_and_its_text_stays() {
        let collection = Collection { comparisons: vec![row("sotto", true)], ..Collection::default() };
        let page = format!("before\n{}\nold\n{}\nafter\n", MARKS[0], MARKS[1]);
        let part = between_marks(&collection, "0123");
        let first = replaced(&page, MARKS, &part).unwrap_or_default();
        assert!(
            first.starts_with("before\n") && first.ends_with("\nafter\n") && !first.contains("old"),
            "{first}"
        );
        assert!(first.contains("at commit 0123.") && first.contains("| sotto sign |"));
        assert_eq!(replaced(&first, MARKS, &part), Some(first), "and again");
        assert_eq!(replaced("no marks", MARKS, &part), None);
    }
}
