//! The table of all rows.

use std::fmt::Write as _;

use sotto_chart::{LocalTime, escape};
use sotto_owner::{Answer, Row};

use super::super::columns::{place, subject};
use super::super::series::{Point, times};
use super::text::{counted, grouped, value};

/// A table of more rows than this is folded.
const OPEN: usize = 200;

pub(super) fn rows(answer: &Answer) -> String {
    if answer.rows.is_empty() {
        return "<p class=\"quiet\">No window has arrived for this question: see <code>sotto status</code>.</p>".to_owned();
    }
    let devices = subject(&answer.rows);
    let missing = answer.rows.iter().any(|row| row.missing > 0);
    let ranked = answer.rows.iter().any(|row| row.rank.is_some());
    let offsets = LocalTime::new(times(&answer.rows)).names();
    let times = Times::new(answer, offsets.len() > 1);
    let offset = offsets
        .first()
        .filter(|_| offsets.len() == 1)
        .map_or_else(String::new, |offset| format!(" ({offset})"));
    let mut text = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
    if answer.rows.iter().any(|row| row.recurs.is_some()) {
        text.push_str("<th>group</th>");
    } else {
        let _ = write!(text, "<th>from{offset}</th><th>to{offset}</th>");
    }
    text.push_str(if ranked { "<th>place</th>" } else { "" });
    text.push_str(&devices.map_or_else(String::new, |of| format!("<th>{of}</th>")));
    text.push_str("<th>result</th><th class=\"number\">value</th><th class=\"number\">readings</th>");
    text.push_str(if missing { "<th class=\"number\">missing</th>" } else { "" });
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in &answer.rows {
        text.push_str(&line(row, &times, Columns { ranked, devices: devices.is_some(), missing }));
    }
    text.push_str("</tbody>\n</table></div>\n");
    if answer.rows.len() > OPEN {
        let count = counted(answer.rows.len() as u64, "row");
        return format!("<details><summary>{count}</summary>\n{text}</details>\n");
    }
    text
}

/// The parts of a time that are shown.
struct Times {
    /// Number of characters shown, the offset not counted.
    length: usize,
    offset: bool,
}

impl Times {
    /// Chooses days, minutes or the full text: the shortest form that tells all times of the answer apart.
    fn new(answer: &Answer, offset: bool) -> Self {
        let all = |end: &str| {
            let is = |text: &String| text.get(10..).is_some_and(|rest| rest.starts_with(end));
            answer.rows.iter().all(|row| is(&row.from) && is(&row.to))
        };
        let minutes =
            |text: &String| text.get(16..20).is_some_and(|rest| matches!(rest, ":00+" | ":00-" | ":00Z"));
        let length = match () {
            () if all("T00:00:00+") || all("T00:00:00-") => 10,
            () if answer.rows.iter().all(|row| minutes(&row.from) && minutes(&row.to)) => 16,
            () => usize::MAX,
        };
        Self { length, offset: offset && length > 10 }
    }

    fn show(&self, text: &str) -> String {
        let end = text.len().saturating_sub(6);
        let (Some(time), Some(offset)) = (text.get(..end), text.get(end..)) else { return escape(text) };
        let time = time.get(..self.length.min(time.len())).unwrap_or(time).replace('T', " ");
        escape(&if self.offset { format!("{time} {offset}") } else { time })
    }
}

/// Columns that not every answer has.
#[derive(Clone, Copy)]
struct Columns {
    ranked: bool,
    devices: bool,
    missing: bool,
}

fn line(row: &Row, times: &Times, Columns { ranked, devices, missing }: Columns) -> String {
    let mut text = match row.recurs {
        Some(recurs) => format!("<tr><td>{}</td>", escape(&recurs.to_string())),
        None => format!("<tr><td>{}</td><td>{}</td>", times.show(&row.from), times.show(&row.to)),
    };
    if ranked {
        let _ = write!(text, "<td>{}</td>", escape(&place(row)));
    }
    if devices {
        let _ = write!(text, "<td>{}</td>", escape(row.subject().unwrap_or_default()));
    }
    let class = if Point::new(row).is_some() { "number" } else { "why" };
    let _ = write!(
        text,
        "<td>{}</td><td class=\"{class}\">{}</td><td class=\"number\">{}</td>",
        escape(&row.name),
        escape(&value(row)),
        grouped(row.count)
    );
    if missing {
        let _ = write!(text, "<td class=\"number\">{}</td>", grouped(row.missing));
    }
    text.push_str("</tr>\n");
    text
}
