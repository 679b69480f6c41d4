//! Groups that recur in the terminal: bars or dots for one cycle, shades for two.

use std::fmt::Write as _;

use sotto_chart::Linear;
use sotto_owner::{Assurance, Row};

use super::super::cycles::{Recurring, names, position};
use super::super::number::{marked, number};
use super::super::series::Point;

/// Columns of the longest bar.
const BAR: usize = 40;
/// Shades from the lowest values to the highest.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];

/// Returns the charts of a result, one for each device.
pub(super) fn chart(of: &Recurring<'_>) -> String {
    let Some((low, high)) = of.ends(false) else { return format!("{}: no value\n", of.title()) };
    let scale = Linear::round(low, high, SHADES.len());
    let mut text = String::new();
    for (device, rows) in &of.devices {
        let device = device.map_or_else(String::new, |device| format!(", {device}"));
        let _ = writeln!(text, "{}{device} by {}", of.title(), of.by());
        match of.down {
            None => bars(of, scale, rows, &mut text),
            Some(_) => shades(of, scale, rows, &mut text),
        }
    }
    text
}

/// Writes a line for each group: its name, a bar of a size or the place of another value, the value.
fn bars(of: &Recurring<'_>, scale: Linear, rows: &[&Row], text: &mut String) {
    let names = names(of.across);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    for (at, name) in names.iter().enumerate() {
        let row = rows.iter().find(|row| position(row, of.across) == at);
        let shown = row.map_or_else(|| "–".to_owned(), |row| shown(row));
        let place = row.and_then(|row| Point::new(row)).map(|point| scale.part(point.value));
        let mark = match place.map(|part| (part * BAR as f64).round() as usize) {
            None => String::new(),
            // A bar has the length of its value.
            Some(columns) if of.is_size => "█".repeat(columns),
            Some(columns) => format!("{:1$}●", "", columns.min(BAR - 1)),
        };
        let _ = writeln!(text, "{name:>width$} │{mark:BAR$} {shown}");
    }
    let (low, high) = (scale.label(scale.low), scale.label(scale.high));
    let gap = BAR.saturating_sub(low.chars().count() + high.chars().count()).max(1);
    let _ = writeln!(text, "{:>width$} └{}", "", "─".repeat(BAR));
    let _ = writeln!(text, "{:>width$}  {low}{:gap$}{high}", "", "");
}

fn shown(row: &Row) -> String {
    Point::new(row).map_or_else(|| "–".to_owned(), |point| marked(row, number(point.value, point.bound)))
}

/// Writes a line for each group of one cycle, with two characters for each of the other, and the values of the shades.
fn shades(of: &Recurring<'_>, scale: Linear, rows: &[&Row], text: &mut String) {
    let Some(down) = of.down else { return };
    let (columns, lines) = (names(of.across), names(down));
    let width = lines.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    for (line, name) in lines.iter().enumerate() {
        let mut cells = String::new();
        for column in 0..columns.len() {
            let is_here = |row: &&&Row| position(row, down) == line && position(row, of.across) == column;
            cells
                .push_str(&rows.iter().find(is_here).map_or_else(|| "  ".to_owned(), |row| cell(row, scale)));
        }
        let _ = writeln!(text, "{name:>width$} │{}", cells.trim_end());
    }
    let _ = writeln!(text, "{:>width$} └{}", "", "─".repeat(2 * columns.len()));
    let each = columns.len().div_ceil(12).max(1);
    let axis: String = columns
        .iter()
        .step_by(each)
        .map(|name| {
            // The hour alone of `13:00`.
            let short: String = name.chars().take_while(|c| *c != ':').take(2 * each - 1).collect();
            format!("{short:<wide$}", wide = 2 * each)
        })
        .collect();
    let _ = writeln!(text, "{:>width$}  {}", "", axis.trim_end());
    let ticks: Vec<String> = scale.ticks().map(|tick| scale.label(tick)).collect();
    let steps = ticks
        .windows(2)
        .zip(shade_steps(scale))
        .map(|(ends, shade)| format!("{shade}{shade} {} to {}", ends[0], ends[1]));
    let legend: Vec<String> = steps.collect();
    let _ = writeln!(text, "{:>width$}  {}; blank: no value", "", legend.join("  "));
}

/// Returns the shades of a scale's steps.
fn shade_steps(scale: Linear) -> impl Iterator<Item = char> {
    (0..scale.steps).map(move |step| SHADES[step + SHADES.len() - scale.steps.min(SHADES.len())])
}

/// Returns the two characters of a cell: `?` is the mark of an unchecked value.
fn cell(row: &Row, scale: Linear) -> String {
    let Some(point) = Point::new(row) else { return "  ".to_owned() };
    let step = ((scale.part(point.value) * scale.steps as f64) as usize).min(scale.steps.saturating_sub(1));
    let shade = shade_steps(scale).nth(step).unwrap_or(SHADES[0]);
    let second = if row.assurance == Assurance::Unchecked { '?' } else { shade };
    [shade, second].iter().collect()
}

#[cfg(test)]
mod tests {
    use sotto_owner::question::Recurs;

    use super::super::super::cycles::{recurring, tests::week};
    use super::super::super::fixture::{answer, row};
    use super::*;

    #[test]
    fn two_cycles_are_a_map_with_axes_and_a_legend() {
        let mut answer = week();
        answer.rows[23].assurance = Assurance::Unchecked;
        let text = chart(&recurring(&answer)[0]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "mean(t) [°C] by weekday and hour of day");
        // Values from 0 to 73 in steps of 20: Mondays are 0 to 23.
        assert_eq!(lines[1], format!("mon │{}{}▒?", "░".repeat(40), "▒".repeat(6)));
        assert_eq!(lines[6], format!("sat │{}{}", "▓".repeat(20), "█".repeat(28)));
        assert_eq!(lines[7], "sun │");
        assert!(lines[9].starts_with("     00  02  04  06"), "{}", lines[9]);
        assert_eq!(lines[10], "     ░░ 0 to 20  ▒▒ 20 to 40  ▓▓ 40 to 60  ██ 60 to 80; blank: no value");
        assert!(lines.iter().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn one_cycle_is_a_line_for_each_group_with_its_value() {
        let of = |month: u8, value: f64| {
            let recurs = Recurs { month_of_year: Some(month), ..Recurs::default() };
            sotto_owner::Row { recurs: Some(recurs), ..row("mean(t)", Some("a"), 0, Some(value), 0.5) }
        };
        let answer = answer(vec![of(1, -10.0), of(2, 0.0), of(12, 10.0)]);
        let text = chart(&recurring(&answer)[0]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "mean(t) [°C], a by month of year");
        assert_eq!(lines[1], format!("jan │●{:39} -10.00 ± 0.50", ""));
        assert_eq!(lines[2], format!("feb │{:20}●{:19} 0.00 ± 0.50", "", ""));
        assert_eq!(lines[3], format!("mar │{:40} –", ""));
        assert_eq!(lines[12], format!("dec │{:39}● 10.00 ± 0.50", ""));
        assert!(lines[14].starts_with("     -10") && lines[14].ends_with("10"), "{}", lines[14]);
    }
}
