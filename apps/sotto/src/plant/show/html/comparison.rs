//! The chart of a single group: a dot for each device, bounds as whiskers.

use std::fmt::Write as _;

use super::super::scale::Scale;
use super::super::series::{Point, Series, extent};
use super::figure::{style, title};
use super::text::{escape, readings, value};

/// Height of a device's row in pixels.
const PITCH: usize = 44;

/// Returns the chart of a series that has at least one value.
pub(super) fn svg(series: &Series<'_>, at: usize) -> String {
    let (low, high) =
        extent(series.points().flat_map(|point| [point.low(), point.high()])).unwrap_or((0.0, 1.0));
    let scale = Scale::round(low, high, 6);
    let rows: usize = series.lines.iter().map(|line| line.rows.len()).sum();
    let bottom = rows * PITCH + 4;
    // Leaves room for half a number at both ends.
    let x = |value: f64| 4.0 + 92.0 * scale.part(value);
    let mut text = format!(
        "<svg class=\"chart\" role=\"img\" aria-labelledby=\"chart-{at}\" width=\"100%\" height=\"{}\">\n\
         <title id=\"chart-{at}\">{}</title>\n<g class=\"grid\">\n",
        bottom + 24,
        escape(&title(series)),
    );
    for (at, tick) in scale.ticks().enumerate() {
        let minor = if at % 2 == 0 { "" } else { " class=\"minor\"" };
        let _ = writeln!(
            text,
            "<line x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{}\" y2=\"{bottom}\"/><text x=\"{x:.2}%\" y=\"{}\" text-anchor=\"middle\"{minor}>{}</text>",
            0,
            bottom + 18,
            scale.label(tick),
            x = x(tick),
        );
    }
    text.push_str("</g>\n");
    let each = series.lines.iter().flat_map(|line| line.rows.iter().map(|row| (line.device, *row)));
    for (at, (device, row)) in each.enumerate() {
        let (colour, top) = (style(0).0, at * PITCH);
        let _ = write!(
            text,
            "<text class=\"strong\" x=\"0\" y=\"{0}\">{1}</text><text class=\"strong\" x=\"100%\" y=\"{0}\" text-anchor=\"end\">{2}</text>",
            top + 16,
            escape(device.unwrap_or_default()),
            escape(&value(row)),
        );
        if let Some(point) = Point::new(row) {
            let y = top + 30;
            let _ = write!(
                text,
                "<line class=\"whisker {colour}\" x1=\"{:.2}%\" x2=\"{:.2}%\" y1=\"{y}\" y2=\"{y}\"/>\
                 <circle class=\"point {colour}\" cx=\"{:.2}%\" cy=\"{y}\" r=\"5\"><title>{}</title></circle>",
                x(point.low()),
                x(point.high()),
                x(point.value),
                escape(&readings(row)),
            );
        }
        text.push('\n');
    }
    text.push_str("</svg>\n");
    text
}
