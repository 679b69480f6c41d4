//! Definitions whose schemes do the same task: one table, a line for each engine, scheme and parameter set.

use std::fmt::Write as _;

use sotto_chart::escape;

use super::format::{bytes, duration};
use super::{distinct, distinct_of};
use crate::definition::{Definition, Scheme};
use crate::row::Row;
use crate::store::Collection;

/// The first columns of a table, of which [`TEXTS`] are text.
const HEADS: [&str; 4] = ["engine, scheme", "parameters", "security", "bytes"];
const TEXTS: usize = 2;

/// The marks between which a page has its table.
pub(super) const MARKS: [&str; 2] = ["<!-- lab window-sums: begin -->", "<!-- lab window-sums: end -->"];

/// A table: title, heads, lines.
pub type Table = (String, Vec<String>, Vec<Vec<String>>);

/// Returns true if a definition's rows are shown in one table.
pub fn is_together(definition: &str) -> bool {
    Definition::named(definition).is_ok_and(|definition| definition.together)
}

/// Returns the table of each such definition. A time is the fastest and the median of the repetitions, bytes are of the
/// first operation that has some.
pub fn tables(rows: &[Row]) -> Vec<Table> {
    let names = distinct_of(rows, |row| row.definition.as_str());
    names.into_iter().filter(|name| is_together(name)).map(|name| table(name, rows)).collect()
}

fn table(definition: &str, rows: &[Row]) -> Table {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.definition == definition).collect();
    let operations = distinct(&rows, Row::label);
    let heads = HEADS.map(str::to_owned).into_iter().chain(operations.iter().map(|name| meaning(name)));
    let key = |row: &Row| (row.engine.clone(), row.scheme.clone(), row.parameters.clone(), row.n);
    let line = |one| {
        let of: Vec<&Row> = rows.iter().copied().filter(|row| key(row) == one).collect();
        let time = |operation: &String| {
            of.iter().find(|row| row.label() == *operation).map_or("–".to_owned(), |row| time(row))
        };
        facts(&of).into_iter().chain(operations.iter().map(time)).collect()
    };
    (definition.to_owned(), heads.collect(), distinct(&rows, key).into_iter().map(line).collect())
}

/// Returns the first cells of a line.
fn facts(rows: &[&Row]) -> [String; 4] {
    let row = rows[0];
    let ring = Scheme::named(&row.scheme).is_some_and(Scheme::has_ring);
    let n = if ring { format!("n = {}, ", row.n) } else { String::new() };
    [
        format!("{} {}", row.engine, row.scheme),
        format!("{n}{}", row.parameters),
        row.security_bits.map_or("below 128".to_owned(), |bits| bits.to_string()),
        rows.iter().find_map(|row| row.bytes).map_or("–".to_owned(), |size| bytes(size as f64)),
    ]
}

fn time(row: &Row) -> String {
    let least = row.least_us.map_or(String::new(), |least| format!("{}; ", duration(least)));
    let unsure = if row.verified { "" } else { " not verified" };
    format!("{least}{}{unsure}", duration(row.median_us))
}

/// Returns an operation's name for people.
fn meaning(operation: &str) -> String {
    let name = match operation {
        "window_encrypt" => "encrypt a window",
        "window_sum_1000" => "add 1,000",
        "window_sum_10000" => "add 10,000",
        "window_open_1000" => "open the sum of 1,000",
        "window_open_10000" => "open the sum of 10,000",
        other => other,
    };
    name.to_owned()
}

/// Returns a definition's table for the page. Empty if its rows have tables of their own.
pub(super) fn section(definition: &Definition, rows: &[Row]) -> String {
    if !definition.together {
        return String::new();
    }
    let (_, heads, lines) = table(&definition.name, rows);
    let heads: String = heads.iter().map(|head| format!("<th>{}</th>", escape(head))).collect();
    let line = |cells: Vec<String>| {
        let rest = cells[1..].iter().map(|cell| format!("<td>{}</td>", escape(cell)));
        format!("<tr><th>{}</th>{}</tr>", escape(&cells[0]), rest.collect::<String>())
    };
    let body: String = lines.into_iter().map(line).collect();
    format!(
        "<p>Fastest; median of the repetitions.</p><div class=\"wide\"><table><thead><tr>{heads}</tr></thead>\
         <tbody>{body}</tbody></table></div>"
    )
}

/// Returns the tables as Markdown.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut text = String::new();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    for (title, heads, lines) in tables(rows) {
        let rule = |column| if column < TEXTS { "---" } else { "---:" }.to_owned();
        let rules: Vec<String> = (0..heads.len()).map(rule).collect();
        // Writing to a string cannot fail.
        let _ =
            write!(text, "{title}, fastest; median of the repetitions:\n\n{}{}", line(&heads), line(&rules));
        lines.iter().for_each(|cells| text += &line(cells));
        text.push('\n');
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
    let names =
        distinct_of(&collection.rows, |row| (row.engine.as_str(), row.version.as_str(), row.flags.as_str()));
    let names = names.into_iter().map(|(engine, version, flags)| format!("{engine} {version} ({flags})"));
    let names = names.collect::<Vec<_>>().join(", ");
    let tables = markdown(&collection.rows);
    format!("{machine}`sotto-lab run window-sums` at commit {commit}; {names}.\n\n{tables}")
}

#[cfg(test)]
mod tests {
    use super::super::replaced;
    use super::*;

    fn row(engine: &str, scheme: &str, operation: &str, us: f64) -> Row {
        Row {
            definition: "window-sums".into(),
            scheme: scheme.into(),
            parameters: "<keys>".into(),
            least_us: Some(us / 2.0),
            bytes: (operation == "window_encrypt").then_some(60),
            ..Row::example(engine, operation, 4096, us)
        }
    }

    #[test]
    fn a_line_has_the_fastest_and_the_median_of_every_operation() {
        let rows = [
            row("sotto", "sums", "window_encrypt", 0.5),
            row("sotto", "sums", "window_sum_1000", 4.0),
            Row { verified: false, security_bits: None, ..row("tenseal", "bfv", "window_encrypt", 1000.0) },
            Row::example("sotto", "add", 4096, 1.0),
        ];
        let text = markdown(&rows);
        let expected = "| engine, scheme | parameters | security | bytes | encrypt a window | add 1,000 |\n\
                        | --- | --- | ---: | ---: | ---: | ---: |\n\
                        | sotto sums | <keys> | 128 | 60.0 B | 0.25 µs; 0.50 µs | 2.00 µs; 4.00 µs |\n\
                        | tenseal bfv | n = 4096, <keys> | below 128 | 60.0 B | 500 µs; 1.00 ms not verified | – |\n\n";
        assert!(text.ends_with(expected), "{text}");
        let definition = Definition::named("window-sums").unwrap_or_else(|error| panic!("{error}"));
        let page = section(&definition, &rows);
        assert!(page.contains("&lt;keys&gt;") && page.contains("0.25 µs; 0.50 µs"), "{page}");
        assert!(is_together("window-sums") && !is_together("operations") && !is_together("unknown"));
    }

    #[test]
    fn a_pages_table_is_replaced_and_names_the_versions() {
        let collection =
            Collection { rows: vec![row("sotto", "sums", "window_encrypt", 0.5)], ..Collection::default() };
        let page = format!("before\n{}\nold\n{}\nafter\n", MARKS[0], MARKS[1]);
        let text = replaced(&page, MARKS, &between_marks(&collection, "0123")).unwrap_or_default();
        assert!(
            text.starts_with("before\n") && text.ends_with("\nafter\n") && !text.contains("old"),
            "{text}"
        );
        assert!(text.contains("at commit 0123; sotto 1 ().") && text.contains("| sotto sums |"), "{text}");
    }
}
