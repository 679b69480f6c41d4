//! Answers as text.

use comfy_table::{CellAlignment, Table, presets};
use sotto_owner::{Answer, Row};

/// The most rows of a table; the middle of a longer one is cut out.
const MOST_ROWS: usize = 400;

/// Returns the rows of an answer as text, histograms after the other results.
pub(crate) fn answer_text(answer: &Answer) -> String {
    table_of(&answer.rows)
}

/// Returns a table with a line for each group and device, and a column for each result; then the histograms.
pub(crate) fn table_of(rows: &[Row]) -> String {
    let others: Vec<Row> = rows.iter().filter(|row| row.bin.is_none()).cloned().collect();
    let mut parts = Vec::new();
    if !others.is_empty() {
        parts.push(results(&others).to_string());
    }
    parts.extend(super::histogram::histograms(rows).iter().map(super::histogram::text));
    parts.join("\n")
}

fn results(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.name.as_str()) && names.len() < 8 {
            names.push(&row.name);
        }
    }
    let wide = rows.iter().filter(|row| !names.contains(&row.name.as_str())).count() == 0;
    if wide {
        pivot(&mut table, rows, &names);
    } else {
        list(&mut table, rows);
    }
    table
}

pub(super) fn when(row: &Row) -> String {
    // The date alone if the group is a whole number of days, else date and time.
    let (date, time) = row.from.split_once('T').unwrap_or((&row.from, ""));
    let clock = time.get(..5).unwrap_or("");
    let whole = clock == "00:00" && row.to.get(11..16) == Some("00:00");
    if whole { date.to_owned() } else { format!("{date} {}", time.get(..8).unwrap_or(time)) }
}

fn pivot(table: &mut Table, rows: &[Row], names: &[&str]) {
    let per_device = rows.iter().any(|row| row.device.is_some());
    let mut header = vec!["from".to_owned()];
    header.extend(per_device.then(|| "device".to_owned()));
    header.extend(names.iter().map(|name| {
        let unit = rows.iter().find(|row| row.name == *name && !row.unit.is_empty());
        unit.map_or_else(|| (*name).to_owned(), |row| format!("{name} [{}]", row.unit))
    }));
    header.push("readings".to_owned());
    table.set_header(header);
    let mut lines: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let same = |line: &&mut Vec<&Row>| {
            line[0].from_ms == row.from_ms
                && line[0].device == row.device
                && line.iter().all(|other| other.name != row.name)
        };
        match lines.last_mut().filter(|line| same(line)) {
            Some(line) => line.push(row),
            None => lines.push(vec![row]),
        }
    }
    let cut = lines.len().saturating_sub(MOST_ROWS);
    for (at, line) in lines.iter().enumerate() {
        if cut > 0 && (MOST_ROWS / 2..MOST_ROWS / 2 + cut).contains(&at) {
            if at == MOST_ROWS / 2 {
                table.add_row(vec![format!("… {cut} more (--json has them)")]);
            }
            continue;
        }
        let mut cells = vec![when(line[0])];
        cells.extend(per_device.then(|| line[0].device.clone().unwrap_or_default()));
        for name in names {
            let row = line.iter().find(|row| row.name == *name);
            cells.push(row.map_or_else(String::new, |row| value(row)));
        }
        let counts = line.iter().map(|row| row.count);
        let (least, most) = (counts.clone().min().unwrap_or_default(), counts.max().unwrap_or_default());
        // The results of a line may cover different readings: a product has only those of both channels.
        let count = if least == most { most.to_string() } else { format!("{least}–{most}") };
        let missing = line.iter().map(|row| row.missing).max().filter(|missing| *missing > 0);
        cells.push(count + &missing.map_or_else(String::new, |missing| format!(" (−{missing})")));
        table.add_row(cells);
    }
    let first = 1 + usize::from(per_device);
    for column in first..first + names.len() + 1 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn list(table: &mut Table, rows: &[Row]) {
    table.set_header(["from", "device", "result", "value"]);
    let cut = rows.len().saturating_sub(MOST_ROWS);
    for (at, row) in rows.iter().enumerate() {
        if cut > 0 && (MOST_ROWS / 2..MOST_ROWS / 2 + cut).contains(&at) {
            if at == MOST_ROWS / 2 {
                table.add_row(vec![format!("… {cut} more (--json has them)")]);
            }
            continue;
        }
        let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
        let device = row.device.clone().unwrap_or_default();
        table.add_row([when(row), device, row.name.clone(), format!("{}{unit}", value(row))]);
    }
}

fn value(row: &Row) -> String {
    match (row.value, row.bound) {
        (Some(value), Some(bound)) => number(value, bound),
        _ if row.count > 0 => "undetermined".to_owned(),
        _ => "–".to_owned(),
    }
}

/// Formats a value and its bound: two digits of the bound, and the value to the same decimal place.
pub(crate) fn number(value: f64, bound: f64) -> String {
    if bound <= 1e-9 * value.abs().max(1e-300) || bound == 0.0 {
        let text = format!("{value:.6}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return text.to_owned();
    }
    if !(1e-12..1e12).contains(&bound) || value.abs() >= 1e15 {
        return format!("{value:.6e} ± {bound:.1e}");
    }
    let places = places(bound);
    format!("{value:.places$} ± {}", rounded_up(bound))
}

/// Formats two digits of a bound, rounded up, because a bound rounded down would not hold. f64's own rounding error is
/// ignored.
pub(crate) fn rounded_up(bound: f64) -> String {
    if bound == 0.0 {
        return "0".to_owned();
    }
    if !(1e-12..1e12).contains(&bound) {
        return format!("{bound:.1e}");
    }
    let places = places(bound);
    let scale = 10f64.powi(places as i32);
    format!("{:.places$}", (bound * scale * (1.0 - 1e-9)).ceil() / scale)
}

/// Returns the decimal places that show two digits of a bound.
fn places(bound: f64) -> usize {
    (1.0 - bound.abs().log10().floor()).clamp(0.0, 12.0) as usize
}

/// Formats a count and its noun.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Returns the steps of an answer's computation, its bytes and its time.
pub(crate) fn explanation(answer: &Answer) -> String {
    let steps: Vec<String> = answer.steps.iter().map(|(step, count)| format!("{count} × {step}")).collect();
    // Results may share readings: bytes a reading are shown for a single result only.
    let single = super::series::series(answer).len() == 1;
    let each = super::series::readings(answer).filter(|readings| single && *readings > 0);
    let each = each.map(|readings| format!(" ({:.0} a reading)", answer.bytes_up as f64 / readings as f64));
    let each = each.unwrap_or_default();
    format!(
        "the cloud: {} in {} on {}, {} of computing\n\
         up {} bytes{each}, down {} bytes, {:.2} s from question to answer\n\
         beside the answer, you see for each device the sums at every time of day (every tick of its windows);\n\
         divisions by counts and roots happened after decryption",
        steps.join(", "),
        counted(answer.jobs, "job"),
        counted(answer.windows, "window"),
        crate::phases::duration(answer.evaluate_us as f64),
        answer.bytes_up,
        answer.bytes_down,
        answer.seconds,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_to_the_place_of_their_bound() {
        for (value, bound, shown) in [
            (39.4567, 0.05, "39.457 ± 0.050"),
            (0.002_913, 0.000_123, "0.00291 ± 0.00013"),
            (1234.5, 30.0, "1234 ± 30"),
            (12.0, 0.0, "12"),
            (-0.5, 1e-15, "-0.5"),
        ] {
            assert_eq!(number(value, bound), shown);
        }
    }
}
