//! Answers as text.

use comfy_table::{CellAlignment, Table, presets};
use sotto_owner::question::Cycle;
use sotto_owner::{Answer, Row};

use super::columns::{place, subject};
use super::histogram::{histograms, text};
use super::number::{at, counted, is_time, marked, number, when};
use super::series::{readings, series};

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
    parts.extend(histograms(rows).iter().map(text));
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

fn pivot(table: &mut Table, rows: &[Row], names: &[&str]) {
    let subject = subject(rows);
    let ranked = rows.iter().any(|row| row.rank.is_some());
    let cycles = cycles(rows);
    let mut header: Vec<String> = cycles.iter().map(|cycle| cycle.words().to_owned()).collect();
    if cycles.is_empty() {
        header.push("from".to_owned());
    }
    let keys = header.len();
    header.extend(ranked.then(|| "place".to_owned()));
    header.extend(subject.map(str::to_owned));
    header.extend(names.iter().map(|name| {
        let unit = rows.iter().find(|row| row.name == *name && !row.unit.is_empty());
        // A time needs no unit.
        let unit = unit.filter(|row| !is_time(row));
        unit.map_or_else(|| (*name).to_owned(), |row| format!("{name} [{}]", row.unit))
    }));
    header.push("readings".to_owned());
    table.set_header(header);
    let mut lines: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let same = |line: &&mut Vec<&Row>| {
            line[0].from_ms == row.from_ms
                && line[0].recurs == row.recurs
                && line[0].subject() == row.subject()
                && line.iter().all(|other| other.name != row.name)
        };
        match lines.last_mut().filter(|line| same(line)) {
            Some(line) => line.push(row),
            None => lines.push(vec![row]),
        }
    }
    for (at, line) in lines.iter().enumerate() {
        if is_cut(table, at, lines.len()) {
            continue;
        }
        let part = |cycle: &Cycle| line[0].recurs.and_then(|recurs| recurs.part(*cycle)).unwrap_or_default();
        let mut cells: Vec<String> = cycles.iter().map(part).collect();
        if cycles.is_empty() {
            cells.push(when(line[0]));
        }
        cells.extend(ranked.then(|| place(line[0])));
        cells.extend(subject.map(|_| line[0].subject().unwrap_or_default().to_owned()));
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
    let first = keys + usize::from(subject.is_some()) + usize::from(ranked);
    for column in first..first + names.len() + 1 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Returns the keys of recurring groups in the order of the rows: the first changes least often.
pub(crate) fn cycles(rows: &[Row]) -> Vec<Cycle> {
    let recurs = || rows.iter().filter_map(|row| row.recurs);
    let is_there = |cycle: &Cycle| recurs().any(|recurs| recurs.part(*cycle).is_some());
    let mut cycles: Vec<Cycle> = Cycle::ALL.into_iter().filter(is_there).collect();
    cycles.sort_by_key(|cycle| !recurs().map(|recurs| recurs.position(*cycle)).is_sorted());
    cycles
}

/// Returns true for a row in the middle of a long table; a line stands for all of them.
fn is_cut(table: &mut Table, at: usize, rows: usize) -> bool {
    let cut = rows.saturating_sub(MOST_ROWS);
    if cut > 0 && at == MOST_ROWS / 2 {
        table.add_row(vec![format!("… {cut} more (--json has them)")]);
    }
    (MOST_ROWS / 2..MOST_ROWS / 2 + cut).contains(&at)
}

fn list(table: &mut Table, rows: &[Row]) {
    table.set_header(["from", subject(rows).unwrap_or("device"), "result", "value"]);
    for (at, row) in rows.iter().enumerate() {
        if is_cut(table, at, rows.len()) {
            continue;
        }
        let unit = if row.unit.is_empty() || is_time(row) { String::new() } else { format!(" {}", row.unit) };
        let device = row.subject().unwrap_or_default().to_owned();
        table.add_row([when(row), device, row.name.clone(), format!("{}{unit}", value(row))]);
    }
}

fn value(row: &Row) -> String {
    match (row.value, row.bound) {
        (Some(_), Some(_)) if is_time(row) => marked(row, at(row).unwrap_or_default()),
        (Some(value), Some(bound)) => {
            let value = marked(row, number(value, bound));
            let value = if row.interpolated { format!("{value} (between readings)") } else { value };
            at(row).map_or_else(|| value.clone(), |at| format!("{value} at {at}"))
        }
        _ if row.held_back => "unchecked".to_owned(),
        _ if row.count > 0 => "undetermined".to_owned(),
        _ => "–".to_owned(),
    }
}

/// Returns the steps of an answer's computation, its bytes and its time.
pub(crate) fn steps(answer: &Answer) -> String {
    let steps: Vec<String> = answer.steps.iter().map(|(step, count)| format!("{count} × {step}")).collect();
    // Results may share readings: bytes a reading are shown for a single result only.
    let single = series(answer).len() == 1;
    let each = readings(answer).filter(|readings| single && *readings > 0);
    let each = each.map(|readings| format!(" ({:.0} a reading)", answer.bytes_up as f64 / readings as f64));
    let each = each.unwrap_or_default();
    let cached = match answer.cached {
        0 => String::new(),
        sums => format!("not asked for again: {} of earlier answers (`sotto cache`)\n", counted(sums, "sum")),
    };
    let steps = if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") };
    format!(
        "the cloud: {} in {} on {}, {} of computing\n\
         {cached}up {} bytes{each}, down {} bytes, {:.2} s from question to answer\n\
         beside the answer, you see for each device the sums at every time of day (every tick of its windows);\n\
         divisions by counts and roots happened after decryption",
        steps,
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
    use super::super::fixture::row;
    use super::*;

    #[test]
    fn a_reading_shows_its_time_and_a_time_is_one() {
        let at = Some("2014-01-31T05:30:00+01:00".to_owned());
        let last = Row { at: at.clone(), ..row("last(t)", None, 0, Some(21.5), 0.25) };
        assert_eq!(value(&last), "21.50 ± 0.25 at 2014-01-31 05:30");
        // 2014-01-31T04:30:00Z in seconds since 1970.
        let time =
            Row { at, unit: "s".to_owned(), ..row("time_of_max(t)", None, 0, Some(1_391_142_600.0), 0.0) };
        assert_eq!(value(&time), "2014-01-31 05:30");
        assert!(!table_of(std::slice::from_ref(&time)).contains("[s]"));
        let line = Row { interpolated: true, ..row("interpolate(t)[0]", None, 0, Some(2.0), 0.0) };
        assert_eq!(value(&line), "2 (between readings)");
    }
}
