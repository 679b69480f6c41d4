//! Published figures beside measured ones.

use sotto_chart::escape;

use super::Group;
use super::format::duration;
use crate::definition::{Definition, Figure, Paper, csv_table};
use crate::row::Row;

/// Returns the published tables that a definition shows unchanged.
pub(super) fn papers(definition: &Definition) -> String {
    let one = |paper: &Paper| {
        let lines = csv_table(&paper.file);
        let (first, rest) = lines.split_first()?;
        let cells = |line: &Vec<String>, tag: &str| {
            line.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect::<String>()
        };
        let body: String = rest.iter().map(|line| format!("<tr>{}</tr>", cells(line, "td"))).collect();
        Some(format!(
            "<details><summary>As published: {}; {}</summary><div class=\"wide\"><table><thead><tr>{}</tr></thead>\
             <tbody>{body}</tbody></table></div></details>",
            escape(&paper.title),
            escape(&paper.machine),
            cells(first, "th")
        ))
    };
    definition.papers.iter().filter_map(one).collect()
}

/// Returns the table of a group; empty if the definition has no published figures of the scheme.
pub(super) fn table(group: &Group<'_>) -> String {
    let Ok(definition) = Definition::named(group.definition) else { return String::new() };
    let figures = definition.published.iter().flat_map(|table| table.figures());
    let body: String = figures
        .filter(|figure| figure.scheme.name() == group.scheme)
        .filter_map(|figure| line(&figure, &group.rows))
        .collect();
    if body.is_empty() {
        return body;
    }
    format!(
        "<h4>Published and measured</h4><p class=\"small\">The published figures come from other machines, named with each: \
         they only show how operations and schemes compare with each other.</p><div class=\"wide\"><table>\
         <thead><tr><th>operation</th><th>n</th><th>published</th><th>library and machine there</th><th>measured here</th>\
         </tr></thead><tbody>{body}</tbody></table></div>"
    )
}

fn line(figure: &Figure, rows: &[&Row]) -> Option<String> {
    let same = |row: &&&Row| {
        row.n == figure.degree && row.operation == figure.operation && row.codec == figure.codec
    };
    let measured: Vec<String> = rows
        .iter()
        .filter(same)
        .map(|row| format!("{} {}", escape(&row.engine), duration(row.median_us)))
        .collect();
    if measured.is_empty() {
        return None;
    }
    let codec = figure.codec.as_deref().map_or(String::new(), |codec| format!(" {codec}"));
    Some(format!(
        "<tr><th>{}{}</th><td>{}</td><td>{}</td><td>{}, {}, {}</td><td>{}</td></tr>",
        escape(&figure.operation),
        escape(&codec),
        figure.degree,
        duration(figure.microseconds),
        escape(&figure.library),
        escape(&figure.machine),
        escape(&figure.source),
        measured.join("<br>")
    ))
}
