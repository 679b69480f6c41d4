//! CSV by RFC 4180, with all digits of values and bounds.

use std::fmt::Write as _;

use super::table::{BOUND, INTERPOLATED, Table};

/// Returns a table as CSV. Units are in brackets behind the names of columns.
pub(super) fn text(table: &Table<'_>) -> String {
    let mut text = String::new();
    let mut line = |fields: Vec<String>| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", fields.join(","));
    };
    let mut header = vec!["from".to_owned(), "to".to_owned()];
    header.extend(table.keys.iter().map(|key| key.name()));
    for result in &table.results {
        let unit = if result.unit.is_empty() { String::new() } else { format!(" [{}]", result.unit) };
        header.extend(["", BOUND].map(|bound| field(&format!("{}{bound}{unit}", result.name))));
        header.extend(result.interpolated.then(|| field(&format!("{}{INTERPOLATED}", result.name))));
    }
    header.extend(["readings", "missing", "assurance", "why"].map(str::to_owned));
    line(header);
    for of in &table.lines {
        let mut fields: Vec<String> = of.times().map(|(text, _)| text.to_owned()).into();
        fields.extend(table.keys.iter().map(|key| field(&of.key(*key))));
        for (column, result) in table.results.iter().enumerate() {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            fields.extend(of.value(column).map(number));
            let is_between = || of.is_interpolated(column).map_or_else(String::new, |is| is.to_string());
            fields.extend(result.interpolated.then(is_between));
        }
        fields.extend([of.readings(), of.missing()].map(|count| count.to_string()));
        fields.extend([of.assurance().to_string(), field(&of.why())]);
        line(fields);
    }
    text
}

/// Quotes a field if RFC 4180 requires it. A text that a spreadsheet would take for a formula gets a quote before it.
pub(crate) fn field(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        return field(&format!("'{text}"));
    }
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use sotto_owner::Row;
    use sotto_owner::question::{Recurs, Weekday};

    use super::super::super::show::fixture::{answer, row};
    use super::super::table::Table;
    use super::*;

    #[test]
    fn fields_are_quoted_and_are_no_formulas() {
        let recurs = Recurs { hour_of_day: Some(7), weekday: Some(Weekday::Tue), month_of_year: None };
        let mut rows = vec![
            row("covariance(x, y)", Some("=1+1"), 0, Some(-1.5), 0.25),
            row("mean(t)", Some("=1+1"), 0, None, 0.0),
        ];
        rows.iter_mut().for_each(|row| row.recurs = Some(recurs));
        let answer = answer(rows);
        let text = text(&Table::of(&answer));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "from,to,hour_of_day,weekday,device,\"covariance(x, y) [°C]\",\"covariance(x, y) ± [°C]\",mean(t) [°C],mean(t) ± [°C],readings,missing,assurance,why",
                "2014-01-31T00:00:00+01:00,2014-01-31T01:00:00+01:00,7,tue,'=1+1,-1.5,0.25,,,6,0,authenticated,no reading"
            ]
        );
    }
    #[test]
    fn lines_of_tags_and_values_between_readings_are_told_apart() {
        let of = |tag: &str, interpolated| Row {
            tag: Some(tag.to_owned()),
            interpolated,
            ..row("interpolate(t, 2h)[0]", None, 0, Some(1.5), 0.25)
        };
        let answer = answer(vec![of("barn", false), of("north", true)]);
        let text = text(&Table::of(&answer));
        let cut: Vec<&str> =
            text.lines().map(|line| line.splitn(3, ',').last().unwrap_or_default()).collect();
        assert_eq!(
            cut,
            [
                "tag,\"interpolate(t, 2h) [°C]\",\"interpolate(t, 2h) ± [°C]\",\"interpolate(t, 2h) interpolated\",readings,missing,assurance,why",
                "barn,1.5,0.25,false,6,0,authenticated,",
                "north,1.5,0.25,true,6,0,authenticated,",
            ]
        );
    }
}
