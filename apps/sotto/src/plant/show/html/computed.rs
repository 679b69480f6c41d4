//! The section "How it was computed": steps, bytes, and the view of each party.

use std::fmt::Write as _;

use sotto_chart::escape;
use sotto_owner::{Answer, Assurance, Row, bytes_in_words, left_out_in_words};

use super::super::series::{readings, series};
use super::text::{counted, grouped};

/// Returns the sentence below the title.
pub(super) fn facts(answer: &Answer) -> String {
    let each = if series(answer).len() > 1 { " for each result" } else { "" };
    let readings =
        readings(answer).map(|count| format!("{}{each} in ", counted(count, "reading"))).unwrap_or_default();
    let is_unchecked = |row: &Row| row.assurance == Assurance::Unchecked && row.value.is_some();
    let unchecked = match answer.rows.iter().any(is_unchecked) {
        true => {
            " Nothing shows that values with a question mark are right: sotto verify repeats the cloud's work."
        }
        false => "",
    };
    escape(&format!(
        "Computed on {readings}{}: {} up, {} down, {:.2} s from question to answer. The time zone is {}.{unchecked}",
        counted(answer.windows, "encrypted window"),
        bytes_in_words(answer.bytes_up),
        bytes_in_words(answer.bytes_down),
        answer.seconds,
        answer.time_zone,
    ))
}

/// Returns the list at the end of the page.
pub(super) fn computed(answer: &Answer) -> String {
    let mut text = "<dl>\n".to_owned();
    let mut entry = |name: &str, lines: &[String]| {
        let escaped: Vec<String> = lines.iter().map(|line| escape(line)).collect();
        let body = match escaped.as_slice() {
            [line] => line.clone(),
            lines => format!("<ul><li>{}</li></ul>", lines.join("</li><li>")),
        };
        let _ = writeln!(text, "<dt>{name}</dt><dd>{body}</dd>");
    };
    let steps: Vec<String> =
        answer.steps.iter().map(|(step, count)| format!("{} × {step}", grouped(*count))).collect();
    entry(
        "On the cloud, encrypted",
        &[format!(
            "{} on {}: {} of computing",
            counted(answer.jobs, "job"),
            counted(answer.windows, "window"),
            crate::phases::duration(answer.evaluate_us as f64)
        )],
    );
    if answer.cached > 0 {
        entry("Not asked for again", &[format!("{} of earlier answers", counted(answer.cached, "sum"))]);
    }
    if !steps.is_empty() {
        entry("Operations", &[steps.join(", ")]);
    }
    entry(
        "Bytes",
        &[
            format!("{} of encrypted windows went up, from the devices", bytes_in_words(answer.bytes_up)),
            format!("{} of encrypted results came down", bytes_in_words(answer.bytes_down)),
        ],
    );
    entry("After decryption", &["divisions by counts, and roots".to_owned()]);
    entry(
        "The owner also sees",
        &["the sums at each tick of the windows' time of day, device by device".to_owned()],
    );
    let left: Vec<String> = answer
        .left_out
        .iter()
        .filter(|(_, counts)| !counts.is_empty())
        .map(|(channel, counts)| format!("{channel}: {}", left_out_in_words(counts)))
        .collect();
    if !left.is_empty() {
        entry("Readings left out by devices", &left);
    }
    let mut whys: Vec<String> = answer.rows.iter().filter_map(|row| row.why.clone()).collect();
    whys.sort_unstable();
    whys.dedup();
    if !whys.is_empty() {
        entry("Undetermined values", &whys);
    }
    if !answer.notes.is_empty() {
        entry("Notes", &answer.notes);
    }
    text.push_str("</dl>");
    text
}
