//! Text of the page: templates, numbers.

use sotto_owner::Row;

use super::super::number::{marked, number};
use super::super::series::Point;

/// Replaces each `{{name}}` of a template. Inserted text is not searched for names again.
pub(super) fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut text =
        String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, after)) = after.split_once("}}") else { break };
        text.push_str(parts.iter().find(|(known, _)| *known == name).map_or("", |(_, part)| part));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Returns a value with bound and unit, or the reason why there is none. Not escaped.
pub(super) fn value(row: &Row) -> String {
    match (Point::new(row), &row.why) {
        (Some(point), _) => {
            let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
            let between = if row.interpolated { " (between readings)" } else { "" };
            marked(row, format!("{}{unit}{between}", number(point.value, point.bound)))
        }
        (None, Some(why)) => format!("undetermined: {why}"),
        (None, None) if row.count > 0 => "undetermined".to_owned(),
        (None, None) => "no reading".to_owned(),
    }
}

/// Returns the number of readings of a row, and of the missing ones.
pub(super) fn readings(row: &Row) -> String {
    match row.missing {
        0 => counted(row.count, "reading"),
        missing => format!("{}, {missing} missing", counted(row.count, "reading")),
    }
}

/// Formats a count: `1 window`, `12 345 windows`, with thin spaces between thousands.
pub(super) fn counted(count: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Groups digits in threes.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202F}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_in_text_is_not_read_again() {
        assert_eq!(fill("<{{a}}|{{b}}|{{none}}>", &[("a", "{{b}}"), ("b", "2")]), "<{{b}}|2|>");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(counted(1, "byte"), "1 byte");
        assert_eq!(grouped(1234), "1234");
        assert_eq!(grouped(1_234_567), "1\u{202F}234\u{202F}567");
    }
}
