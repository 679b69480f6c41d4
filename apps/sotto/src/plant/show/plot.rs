//! Answers as charts in a terminal.

use std::fmt::Write as _;

use sotto_owner::{Answer, Row};

const WIDTH: usize = 64;
const HEIGHT: usize = 12;
/// Dots of a character of Braille, by column and row.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A chart for each result and device, over time.
pub(crate) fn plot(answer: &Answer) -> String {
    let mut series: Vec<(&str, Option<&str>, Vec<&Row>)> = Vec::new();
    for row in &answer.rows {
        let name = row.name.split('[').next().unwrap_or(&row.name);
        let name = if row.name.ends_with(']') { name } else { row.name.as_str() };
        let device = row.device.as_deref();
        match series.iter_mut().find(|(known, of, _)| (*known, *of) == (name, device)) {
            Some((_, _, rows)) => rows.push(row),
            None => series.push((name, device, vec![row])),
        }
    }
    let mut text = String::new();
    for (name, device, rows) in series {
        let unit = rows.iter().map(|row| row.unit.as_str()).find(|unit| !unit.is_empty()).unwrap_or("");
        let of = device.map_or_else(String::new, |device| format!(", {device}"));
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        let _ = writeln!(text, "{name}{unit}{of}");
        text.push_str(&chart(&rows));
    }
    text.trim_end().to_owned()
}

fn chart(rows: &[&Row]) -> String {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| Some(((row.from_ms as f64 + row.to_ms as f64) / 2.0, row.value?)))
        .collect();
    let Some(first) = points.first() else { return "  no value\n".to_owned() };
    let ends = |of: fn(&(f64, f64)) -> f64| {
        points
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let (left, right) = ends(|point| point.0);
    let (mut low, mut high) = ends(|point| point.1);
    if high - low <= 1e-12 * first.1.abs() {
        (low, high) = (low - 1.0, high + 1.0);
    }
    let mut cells = vec![[0u32; WIDTH]; HEIGHT];
    for (time, value) in &points {
        let along = |at: f64, from: f64, to: f64, dots: usize| {
            let part = if to > from { (at - from) / (to - from) } else { 0.5 };
            ((part * (dots - 1) as f64).round() as usize).min(dots - 1)
        };
        let x = along(*time, left, right, 2 * WIDTH);
        let y = 4 * HEIGHT - 1 - along(*value, low, high, 4 * HEIGHT);
        cells[y / 4][x / 2] |= DOTS[x % 2][y % 4];
    }
    let mut text = String::new();
    for (at, line) in cells.iter().enumerate() {
        let label = match at {
            0 => short(high),
            at if at == HEIGHT - 1 => short(low),
            _ => String::new(),
        };
        let dots: String = line.iter().filter_map(|dots| char::from_u32(0x2800 + dots)).collect();
        let _ = writeln!(text, "{label:>10} ┤{}", dots.trim_end_matches('\u{2800}'));
    }
    let (from, to) = (rows.first().map_or("", |row| &row.from), rows.last().map_or("", |row| &row.to));
    let (from, to) = (from.get(..16).unwrap_or(from), to.get(..16).unwrap_or(to));
    let gap = WIDTH.saturating_sub(from.len() + to.len());
    let _ = writeln!(text, "{:>10} └{}\n{:12}{from}{:gap$}{to}", "", "─".repeat(WIDTH), "", "");
    text
}

fn short(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) { format!("{value:.2e}") } else { format!("{value:.3}") }
}
