//! A report as one self-contained page.

use std::fmt::Write as _;

use sotto_chart::escape;
use sotto_owner::{Answer, Row};

use super::super::columns::place;
use super::super::number::when;
use super::{charts, computed, rows, script, style, text};
use crate::plant::report::{Answered, Shown};

/// The most values in large type.
const MOST_NUMBERS: usize = 24;

/// Returns the page of a report.
pub(crate) fn report(title: &str, lead: &str, sections: &[Answered<'_>]) -> String {
    let sections: Vec<String> = sections.iter().map(section).collect();
    text::fill(
        include_str!("report.html"),
        &[
            ("title", &escape(title)),
            ("style", &style()),
            ("text", &paragraphs(lead)),
            ("sections", &sections.join("\n")),
            ("script", script()),
        ],
    )
}

/// Returns a text with its paragraphs, which empty lines divide.
fn paragraphs(text: &str) -> String {
    let each = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    each.map(|part| format!("<p>{}</p>\n", escape(part))).collect()
}

fn section(section: &Answered<'_>) -> String {
    let mut page = String::from("<section>\n");
    if !section.heading.is_empty() {
        let _ = writeln!(page, "<h2>{}</h2>", escape(section.heading));
    }
    page.push_str(&paragraphs(section.text));
    match &section.answer {
        None => {}
        Some((question, Err(reason))) => {
            let (question, reason) = (escape(question), escape(reason));
            let _ = writeln!(
                page,
                "<p class=\"facts\"><code>{question}</code></p>\n<pre role=\"alert\" class=\"failed\">No answer: {reason}</pre>"
            );
        }
        Some((_, Ok(answer))) => page.push_str(&answered(answer, section.shown)),
    }
    page + "</section>"
}

fn answered(answer: &Answer, shown: Shown) -> String {
    let mut page = String::new();
    if answer.rows.is_empty() {
        let why = answer.remarks().join(" ");
        let _ = writeln!(page, "<p role=\"alert\" class=\"failed\">No value. {}</p>", escape(&why));
    } else {
        let table = rows::rows(answer);
        let folded = || match table.starts_with("<details>") {
            true => table.clone(),
            false => format!("<details><summary>Values</summary>\n{table}</details>\n"),
        };
        let charts = || charts(answer).join("\n");
        page.push_str(&match shown {
            Shown::Chart => format!("{}\n{}", charts(), folded()),
            Shown::Table => table.clone(),
            Shown::Both => format!("{}\n{table}", charts()),
            Shown::Number => numbers(answer),
        });
    }
    let _ = writeln!(
        page,
        "<p class=\"facts\"><code>{}</code></p>\n<p class=\"facts\">{}</p>",
        escape(&answer.question),
        computed::facts(answer)
    );
    if !answer.notes.is_empty() {
        let notes: Vec<String> = answer.notes.iter().map(|note| escape(note)).collect();
        let _ = writeln!(page, "<ul class=\"facts\"><li>{}</li></ul>", notes.join("</li><li>"));
    }
    page
}

/// Returns values in large type.
fn numbers(answer: &Answer) -> String {
    let several = answer
        .rows
        .iter()
        .any(|row| (row.from_ms, row.recurs) != (answer.rows[0].from_ms, answer.rows[0].recurs));
    let mut page = String::from("<dl class=\"numbers\">\n");
    for row in answer.rows.iter().take(MOST_NUMBERS) {
        let place = Some(place(row)).filter(|place| !place.is_empty());
        let place = place.map_or_else(String::new, |place| format!(", place {place}"));
        let subject = row.subject().map_or_else(String::new, |subject| format!(", {subject}"));
        let time = |row: &Row| if several { format!(", {}", when(row)) } else { String::new() };
        let name = format!("{}{place}{subject}{}", row.name, time(row));
        let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escape(&name), escape(&text::value(row)));
    }
    page.push_str("</dl>\n");
    match answer.rows.len().checked_sub(MOST_NUMBERS).filter(|more| *more > 0) {
        Some(_) => format!("{page}{}", rows::rows(answer)),
        None => page,
    }
}
