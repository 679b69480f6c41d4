//! What `check` tells about files.

use serde::Serialize;
use sotto_pack::{Clock, Period};

use super::watch::{Regular, Seen, SeenChannel, SeenState};
use crate::nouns::counted;
use crate::source::{Fault, FileFacts, Lines};
use crate::summary::Summary;

/// The counts of a run, and the record of the rows of its source.
#[derive(Debug, Serialize)]
pub(super) struct Report<'s> {
    #[serde(flatten)]
    pub(super) summary: &'s Summary,
    /// How each file was read.
    pub(super) files: &'s [FileFacts],
    pub(super) times: Times,
    /// The numbers of each channel.
    pub(super) numbers: &'s [SeenChannel],
}

/// The times of the rows.
#[derive(Debug, Serialize)]
pub(super) struct Times {
    /// Rows with a time.
    pub(super) rows: u64,
    /// The earliest time, as RFC 3339.
    pub(super) first: Option<String>,
    pub(super) last: Option<String>,
    pub(super) newest_first: bool,
    /// Rows that are earlier than the row above them.
    pub(super) backward: Lines,
    #[serde(flatten)]
    pub(super) period: Option<Regular>,
}

impl Times {
    pub(super) fn of(seen: &Seen, clock: &Clock) -> Self {
        let times = &seen.times;
        Self {
            rows: times.rows,
            first: times.span.map(|(first, _)| clock.rfc3339(first)),
            last: times.span.map(|(_, last)| clock.rfc3339(last)),
            newest_first: times.is_newest_first(),
            backward: times.backward.clone(),
            period: times.period(),
        }
    }
}

/// Returns the lines about files, times and channels. `clock` is that of times without an offset.
pub(super) fn lines(seen: &Seen, times: &Times, clock: &Clock) -> Vec<String> {
    if seen.files.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = seen.files.iter().flat_map(|file| of_file(file, clock)).collect();
    lines.push(of_times(times));
    let channels = seen.channels.iter().enumerate();
    lines.extend(channels.map(|(position, channel)| of_channel(position, channel, &seen.files)));
    lines
}

fn of_file(file: &FileFacts, clock: &Clock) -> Vec<String> {
    let mut words = vec![file.format.to_owned()];
    words.extend(file.table.as_ref().map(|table| format!("table {table:?}")));
    words.extend(file.encoding.map(str::to_owned));
    words.extend(file.compression.map(str::to_owned));
    words.extend(file.delimiter.map(|delimiter| format!("{} between values", named(delimiter))));
    words.extend(file.header_line.map(|line| format!("names in line {line}")));
    words.extend(file.decimal.map(|mark| format!("decimal {}", named(mark))));
    let mut lines =
        vec![format!("{}: {}; {}", file.path.display(), words.join(", "), counted(file.rows, "row"))];
    if let Some(format) = &file.time_format {
        let columns: Vec<String> = file.time_columns.iter().map(|name| format!("{name:?}")).collect();
        let zone = if format.ends_with("local") { format!(" in {}", clock.name()) } else { String::new() };
        lines.push(format!("  times: {}, {format}{zone}", columns.join(" and ")));
    }
    let notes = [
        ("quotes that do not match, read as characters", &file.mended_quotes),
        ("rows of several lines", &file.of_several_lines),
        ("columns named again", &file.names_again),
    ];
    let note = |(words, lines): (&str, &Lines)| lines.words().map(|list| format!("  {words}: {list}"));
    lines.extend(notes.into_iter().filter_map(note));
    if file.comments > 0 {
        lines.push(format!("  {} skipped", counted(file.comments, "comment line")));
    }
    lines.extend(file.left_out.iter().map(of_fault));
    lines.extend(file.unknown_states.iter().map(|unknown| format!("  {}", unknown.words())));
    if let Some(list) = file.too_many_values.words() {
        lines.push(format!("  more values than names: {list}"));
    }
    lines
}

fn of_fault(fault: &Fault) -> String {
    let Fault { channel, reason, lines } = fault;
    let of = channel.as_ref().map_or_else(String::new, |channel| format!("{channel}: "));
    format!("  not taken: {of}{} {}, {}", lines.count, reason.words(), lines.words().unwrap_or_default())
}

fn of_times(times: &Times) -> String {
    let Some(Regular { period_ms, jitter_ms, gaps, longest_gap_ms, longest_gap_line }) = times.period else {
        return format!("times: {}", counted(times.rows, "row"));
    };
    let mut line = format!("times: every {}", period_words(period_ms));
    if jitter_ms > 0 {
        line += &format!(" ± {}", duration(jitter_ms));
    }
    if times.newest_first {
        line += ", the newest row first";
    } else if let Some(list) = times.backward.words() {
        line += &format!(", {} earlier than the one above ({list})", counted(times.backward.count, "row"));
    }
    if let (Some(longest), Some(behind)) = (longest_gap_ms, longest_gap_line) {
        line += &format!(
            ", {}, the longest of {} before line {behind}",
            counted(gaps, "gap"),
            in_two_units(longest)
        );
    }
    line
}

fn of_channel(position: usize, seen: &SeenChannel, files: &[FileFacts]) -> String {
    let SeenChannel { channel, unit, numbers, minimum, maximum, out_of_range, states, .. } = seen;
    let place = |file: &FileFacts| file.columns.get(position).filter(|column| *column != channel).cloned();
    let column =
        files.first().and_then(place).map_or_else(String::new, |column| format!(" (column {column:?})"));
    if !states.is_empty() {
        let reported = states.iter().filter(|state| state.reports > 0);
        let words: Vec<String> =
            reported.map(|SeenState { state, reports }| format!("{reports} {state}")).collect();
        let of = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
        return format!("{channel}{column}: {}{of}", counted(*numbers, "report"));
    }
    let mut line = format!("{channel}{column}: {}", counted(*numbers, "number"));
    if let (Some(minimum), Some(maximum)) = (minimum, maximum) {
        line += format!(" from {minimum} to {maximum} {unit}").trim_end();
    }
    if let Some(list) = out_of_range.words() {
        line += &format!("; not taken: {} out of range, {list}", out_of_range.count);
    }
    line
}

/// Names a delimiter or a decimal mark.
fn named(mark: char) -> String {
    match mark {
        ',' => "comma".to_owned(),
        ';' => "semicolon".to_owned(),
        '\t' => "tab".to_owned(),
        '|' => "bar".to_owned(),
        ' ' => "blank".to_owned(),
        '.' => "point".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Writes a period, of no whole milliseconds with its frequency.
fn period_words(period: Period) -> String {
    if let Some(milliseconds) = period.milliseconds() {
        return duration(milliseconds.into());
    }
    let period = period.milliseconds_of(1);
    format!("{period:.3} ms ({:.1} Hz)", 1000.0 / period)
}

const UNITS: [(i64, &str); 5] =
    [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];

/// Writes milliseconds with their two largest units: `34 d 3 h`. Cuts the rest off.
fn in_two_units(milliseconds: i64) -> String {
    let largest = UNITS.iter().position(|(size, _)| milliseconds >= *size).unwrap_or(UNITS.len() - 1);
    let (size, unit) = UNITS[largest];
    let whole = format!("{} {unit}", milliseconds / size);
    match UNITS.get(largest + 1).map(|(smaller, unit)| (milliseconds % size / smaller, unit)) {
        Some((rest, unit)) if rest > 0 => format!("{whole} {rest} {unit}"),
        _ => whole,
    }
}

/// Writes milliseconds with the largest unit that needs no fraction.
pub(super) fn duration(milliseconds: i64) -> String {
    let fits = |(size, _): &&(i64, &str)| milliseconds % size == 0;
    let (size, unit) = UNITS.iter().find(fits).unwrap_or(&(1, "ms"));
    format!("{} {unit}", milliseconds / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_their_two_largest_units() {
        let words = [2_951_694_000, 86_400_000, 5_400_000, 61_001, 999, 86_401_000].map(in_two_units);
        assert_eq!(words, ["34 d 3 h", "1 d", "1 h 30 min", "1 min 1 s", "999 ms", "1 d"]);
    }
}
