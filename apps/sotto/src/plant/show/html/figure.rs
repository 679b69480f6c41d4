//! A chart with its caption and legend.

use std::fmt::Write as _;

use super::super::series::{Series, extent, middle};
use super::super::time::LocalTime;
use super::text::escape;
use super::{comparison, timeline};

/// Number of colours in the style sheet.
const COLOURS: usize = 8;
/// Number of dash patterns in the style sheet, for more lines than colours.
const DASHES: usize = 4;

/// Returns the classes of the `at`-th line: its colour and its dash pattern.
pub(super) fn style(at: usize) -> (String, String) {
    (format!("c{}", at % COLOURS), format!("d{}", at / COLOURS % DASHES))
}

/// Returns the figure of a series: values over time, or devices side by side if there is a single group.
pub(super) fn figure(series: &Series<'_>, at: usize) -> String {
    let times = extent(series.rows().map(middle));
    let over_time = times.is_some_and(|(first, last)| first < last);
    let unit = if series.unit.is_empty() { String::new() } else { format!(" [{}]", series.unit) };
    let local = LocalTime::new(series.rows());
    let period = [extent_text(series), local.names().join(" and ")].join(", ");
    let mut text = format!(
        "<figure>\n<figcaption>{}{} <span class=\"quiet\">{}</span></figcaption>\n",
        escape(series.name),
        escape(&unit),
        escape(&period),
    );
    if series.points().next().is_none() {
        text.push_str("<p class=\"quiet\">No value: the table says why.</p>\n");
    } else if over_time {
        if series.lines.len() > 1 || series.lines.iter().any(|line| line.device.is_some()) {
            text.push_str(&legend(series));
        }
        text.push_str(&timeline::svg(series, &local, at));
        text.push_str("<div class=\"read-out\" hidden=\"\"></div>\n");
    } else {
        text.push_str(&comparison::svg(series, at));
    }
    text.push_str("</figure>\n");
    text
}

/// Returns the first and the last time, in the text of the rows.
fn extent_text(series: &Series<'_>) -> String {
    let first = series.rows().min_by_key(|row| row.from_ms);
    let last = series.rows().max_by_key(|row| row.to_ms);
    let (Some(first), Some(last)) = (first, last) else { return String::new() };
    let short = |text: &str| text.get(..16).unwrap_or(text).replace('T', " ");
    format!("{} to {}", short(&first.from), short(&last.to))
}

fn legend(series: &Series<'_>) -> String {
    let mut text = "<ul class=\"legend\">\n".to_owned();
    for (at, line) in series.lines.iter().enumerate() {
        let (colour, dash) = style(at);
        let _ = writeln!(
            text,
            "<li><svg width=\"22\" height=\"8\" aria-hidden=\"true\"><path class=\"line {colour} {dash}\" d=\"M0 4H22\"/></svg>{}</li>",
            escape(line.device.unwrap_or("all devices")),
        );
    }
    text.push_str("</ul>\n");
    text
}

/// Returns the `<title>` of a chart, for screen readers.
pub(super) fn title(series: &Series<'_>) -> String {
    let ends = extent(series.points().map(|point| point.value));
    let number = |value: f64| super::super::table::number(value, 0.0);
    let values = series.points().count();
    let range = ends.map_or_else(String::new, |(low, high)| {
        format!(" from {} to {} {}", number(low), number(high), series.unit)
    });
    let devices = match series.lines.len() {
        1 => String::new(),
        devices => format!(" of {devices} devices"),
    };
    let bounds =
        if series.points().any(|point| point.bound > 0.0) { "; bands show value ± bound" } else { "" };
    let plural = if values == 1 { "" } else { "s" };
    format!("{}: {values} value{plural}{devices}{}{bounds}", series.name, range.trim_end())
}
