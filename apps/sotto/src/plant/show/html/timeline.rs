//! Values over time as lines, bounds as bands.
//!
//! The drawing scales with the width of the page while its text keeps its size: x positions are percent of the chart's
//! width, y positions are pixels, and paths are drawn in a box of 1000 units that is stretched.

use std::fmt::Write as _;

use serde_json::json;

use super::super::scale::Scale;
use super::super::series::{Line, Point, Series, extent, middle};
use super::super::time::LocalTime;
use super::figure::{style, title};
use super::text::{escape, readings, value};

const HEIGHT: f64 = 260.0;
const WIDTH: f64 = 1000.0;
/// The largest number of ticks on the time axis.
const TICKS: usize = 8;
/// Lines of at most this many points mark every point.
const MARKED: usize = 100;

/// Returns the chart of a series that has at least one value.
pub(super) fn svg(series: &Series<'_>, local: &LocalTime, at: usize) -> String {
    let values = extent(series.points().flat_map(|point| [point.low(), point.high()])).unwrap_or((0.0, 1.0));
    let times =
        extent(series.rows().flat_map(|row| [row.from_ms as f64, row.to_ms as f64])).unwrap_or((0.0, 1.0));
    let frame = Frame { scale: Scale::round(values.0, values.1, 6), times };
    let mut text = format!(
        "<svg class=\"chart time\" role=\"img\" tabindex=\"0\" aria-labelledby=\"chart-{at}\" height=\"{}\" \
         data-height=\"{HEIGHT}\" data-read=\"{}\">\n<title id=\"chart-{at}\">{}</title>\n",
        HEIGHT + 44.0,
        escape(&frame.read_out(series)),
        escape(&title(series)),
    );
    text.push_str(&frame.grid());
    text.push_str(&frame.dates(local));
    let _ = writeln!(
        text,
        "<svg width=\"100%\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
    );
    for (at, line) in series.lines.iter().enumerate() {
        text.push_str(&frame.paths(line, at));
    }
    text.push_str("</svg>\n<g aria-hidden=\"true\">\n");
    for (at, line) in series.lines.iter().enumerate() {
        text.push_str(&frame.marks(line, at));
    }
    text.push_str("</g>\n<g class=\"cursor\" aria-hidden=\"true\"></g>\n</svg>\n");
    text
}

/// Maps values and times to positions.
struct Frame {
    scale: Scale,
    times: (f64, f64),
}

impl Frame {
    /// Returns the position along x, 0 … 1.
    fn part(&self, time: f64) -> f64 {
        let (left, right) = self.times;
        if right > left { (time - left) / (right - left) } else { 0.5 }
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT * (1.0 - self.scale.part(value))
    }

    /// Draws the grid lines and numbers of the values.
    fn grid(&self) -> String {
        let mut text = "<g class=\"grid\">\n".to_owned();
        for tick in self.scale.ticks() {
            let y = self.y(tick);
            let _ = writeln!(
                text,
                "<line x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"-8\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                y + 4.0,
                self.scale.label(tick),
            );
        }
        text.push_str("</g>\n");
        text
    }

    /// Draws the marks and dates of the times. A narrow page hides every second one, or more if there are many.
    fn dates(&self, local: &LocalTime) -> String {
        let mut text = "<g class=\"dates\">\n".to_owned();
        let ticks = local.ticks(self.times.0 as i64, self.times.1 as i64, TICKS);
        let kept = ticks.len().div_ceil(4).max(1);
        for (at, tick) in ticks.iter().enumerate() {
            let part = self.part(tick.at as f64);
            let x = 100.0 * part;
            // A tick with a date stays, because each date is written only once.
            let minor = if at % kept == 0 || tick.date.is_some() && at > 0 { "" } else { " class=\"minor\"" };
            let anchor = if part > 0.89 { "end" } else { "middle" };
            let _ = write!(
                text,
                "<line x1=\"{x:.3}%\" x2=\"{x:.3}%\" y1=\"{HEIGHT}\" y2=\"{}\"/><text x=\"{x:.3}%\" y=\"{}\" text-anchor=\"{anchor}\"{minor}>{}</text>",
                HEIGHT + 5.0,
                HEIGHT + 20.0,
                tick.label,
            );
            if let Some(date) = &tick.date {
                // Two dates side by side would touch.
                let touched = at == 0 && ticks.get(1).is_some_and(|next| next.date.is_some());
                let minor = if touched { " class=\"minor\"" } else { "" };
                let _ = write!(
                    text,
                    "<text x=\"{x:.3}%\" y=\"{}\" text-anchor=\"{anchor}\"{minor}>{date}</text>",
                    HEIGHT + 36.0
                );
            }
            text.push('\n');
        }
        text.push_str("</g>\n");
        text
    }

    /// Draws a band and a line for each run.
    fn paths(&self, line: &Line<'_>, at: usize) -> String {
        let (colour, dash) = style(at);
        let (mut bands, mut path) = (String::new(), String::new());
        let x = |point: &Point<'_>| WIDTH * self.part(middle(point.row));
        for run in line.runs().iter().filter(|run| run.len() > 1) {
            if run.iter().any(|point| point.bound > 0.0) {
                let upper = run.iter().map(|point| (x(point), self.y(point.high())));
                let lower = run.iter().rev().map(|point| (x(point), self.y(point.low())));
                bands.push_str(&joined(upper.chain(lower)));
                bands.push('Z');
            }
            path.push_str(&joined(run.iter().map(|point| (x(point), self.y(point.value)))));
        }
        let mut text = String::new();
        if !bands.is_empty() {
            let _ = writeln!(text, "<path class=\"band {colour}\" d=\"{bands}\"/>");
        }
        if !path.is_empty() {
            let _ = writeln!(text, "<path class=\"line {colour} {dash}\" d=\"{path}\"/>");
        }
        text
    }

    /// Draws the points, and the bounds of isolated ones.
    fn marks(&self, line: &Line<'_>, at: usize) -> String {
        let (colour, _) = style(at);
        let few = line.points().count() <= MARKED;
        let mut text = String::new();
        for run in line.runs() {
            for point in run.iter().filter(|_| few || run.len() == 1) {
                let x = 100.0 * self.part(middle(point.row));
                if run.len() == 1 && point.bound > 0.0 {
                    let (top, bottom) = (self.y(point.high()), self.y(point.low()));
                    let _ = write!(
                        text,
                        "<line class=\"whisker {colour}\" x1=\"{x:.3}%\" x2=\"{x:.3}%\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>"
                    );
                }
                let y = self.y(point.value);
                let _ = writeln!(
                    text,
                    "<circle class=\"point {colour}\" cx=\"{x:.3}%\" cy=\"{y:.1}\" r=\"2.5\"/>"
                );
            }
        }
        text
    }

    /// Returns positions and texts of all rows as JSON for `hover.js`.
    fn read_out(&self, series: &Series<'_>) -> String {
        let thousandths = |number: f64, by: f64| (number * by).round() / by;
        let line = |(at, line): (usize, &Line<'_>)| {
            let rows = || line.rows.iter();
            json!({
                "name": line.device.unwrap_or_default(),
                "style": style(at).0,
                "at": rows().map(|row| thousandths(self.part(middle(row)), 1e6)).collect::<Vec<_>>(),
                "y": rows().map(|row| Point::new(row).map(|point| thousandths(self.y(point.value), 10.0))).collect::<Vec<_>>(),
                "text": rows().map(|row| [row.from.clone(), row.to.clone(), format!("{} ({})", value(row), readings(row))]).collect::<Vec<_>>(),
            })
        };
        serde_json::Value::Array(series.lines.iter().enumerate().map(line).collect()).to_string()
    }
}

/// Returns an SVG path through points.
fn joined(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (at, (x, y)) in points.enumerate() {
        let _ = write!(text, "{}{x:.2} {y:.1}", if at == 0 { 'M' } else { 'L' });
    }
    text
}
