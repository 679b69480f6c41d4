//! Values over time as lines, bounds as bands.
//!
//! The drawing scales with the width of the page while its text keeps its size: x positions are percent of the chart's
//! width, y positions are pixels, and paths are drawn in a box of 1000 units that is stretched.

use serde_json::json;
use sotto_chart::{
    Element, Length, Linear, LocalTime, colour_class, dash_class, drawing, extent, level, line, path, point,
    words,
};

use super::super::series::{Line, Point, Series, middle};
use super::text::{readings, value};

const HEIGHT: f64 = 260.0;
const WIDTH: f64 = 1000.0;
/// The largest number of ticks on the time axis.
const TICKS: usize = 8;
/// Lines of at most this many points mark every point.
const MARKED: usize = 100;

/// Returns the chart of a series that has at least one value.
pub(super) fn chart(series: &Series<'_>, local: &LocalTime, label: &str) -> Element {
    let values = series.ends(series.points()).unwrap_or((0.0, 1.0));
    let times =
        extent(series.rows().flat_map(|row| [row.from_ms as f64, row.to_ms as f64])).unwrap_or((0.0, 1.0));
    let frame = Frame { scale: Linear::round(values.0, values.1, 6), times };
    let lines = || series.lines.iter().enumerate();
    let stretched = Element::new("svg").set("width", "100%").set("height", HEIGHT);
    let stretched = stretched.set("viewBox", format_args!("0 0 {WIDTH} {HEIGHT}"));
    let stretched = stretched.set("preserveAspectRatio", "none").set("aria-hidden", true);
    let marks = Element::new("g").set("aria-hidden", true);
    let chart = drawing(label).class("chart").class("time").set("tabindex", 0);
    let chart = chart.set("height", HEIGHT + 44.0).set("data-height", HEIGHT);
    chart
        .set("data-read", frame.read_out(series))
        .child(frame.grid())
        .child(frame.dates(local))
        .child(stretched.children(lines().flat_map(|(at, line)| frame.paths(line, at))))
        .child(marks.children(lines().flat_map(|(at, line)| frame.marks(line, at))))
        .child(Element::new("g").class("cursor").set("aria-hidden", true))
}

/// Maps values and times to positions.
struct Frame {
    scale: Linear,
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
    fn grid(&self) -> Element {
        let rule = |tick| level(0.0, Length::Percent(100.0), self.y(tick), &self.scale.label(tick));
        Element::new("g").class("grid").children(self.scale.ticks().flat_map(rule))
    }

    /// Draws the marks and dates of the times. A narrow page hides every second one, or more if there are many.
    fn dates(&self, local: &LocalTime) -> Element {
        let ticks = local.ticks(self.times.0 as i64, self.times.1 as i64, TICKS);
        let kept = ticks.len().div_ceil(4).max(1);
        let mut dates = Element::new("g").class("dates");
        for (at, tick) in ticks.iter().enumerate() {
            let part = self.part(tick.at as f64);
            let x = Length::Percent(100.0 * part);
            let anchor = if part > 0.89 { "end" } else { "middle" };
            let text = |y: f64, text: &str, minor: bool| {
                let text = words(x, HEIGHT + y, text).set("text-anchor", anchor);
                if minor { text.class("minor") } else { text }
            };
            // A tick with a date stays, because each date is written only once.
            let minor = at % kept != 0 && tick.date.is_none();
            dates = dates.child(line([x, x], [HEIGHT, HEIGHT + 5.0])).child(text(20.0, &tick.label, minor));
            if let Some(date) = &tick.date {
                // Two dates side by side would touch.
                let touched = at == 0 && ticks.get(1).is_some_and(|next| next.date.is_some());
                dates = dates.child(text(36.0, date, touched));
            }
        }
        dates
    }

    /// Draws a band and a line for each run.
    fn paths(&self, line: &Line<'_>, at: usize) -> Vec<Element> {
        let (mut bands, mut lines) = (String::new(), String::new());
        let x = |point: &Point<'_>| WIDTH * self.part(middle(point.row));
        for run in line.runs().iter().filter(|run| run.len() > 1) {
            if run.iter().any(|point| point.bound > 0.0) {
                let upper = run.iter().map(|point| (x(point), self.y(point.high())));
                let lower = run.iter().rev().map(|point| (x(point), self.y(point.low())));
                bands.push_str(&path(upper.chain(lower)));
                bands.push('Z');
            }
            lines.push_str(&path(run.iter().map(|point| (x(point), self.y(point.value)))));
        }
        let path = |class| Element::new("path").class(class).class(&colour_class(at));
        let band = (!bands.is_empty()).then(|| path("band").set("d", bands));
        let line = (!lines.is_empty()).then(|| path("line").class(&dash_class(at)).set("d", lines));
        band.into_iter().chain(line).collect()
    }

    /// Draws the points, and the bounds of isolated ones.
    fn marks(&self, of: &Line<'_>, at: usize) -> Vec<Element> {
        let few = of.points().count() <= MARKED;
        let mut marks = Vec::new();
        for run in of.runs() {
            for shown in run.iter().filter(|_| few || run.len() == 1) {
                let x = Length::Percent(100.0 * self.part(middle(shown.row)));
                if run.len() == 1 && shown.bound > 0.0 {
                    let ends = [self.y(shown.high()), self.y(shown.low())];
                    marks.push(line([x, x], ends).class("whisker").class(&colour_class(at)));
                }
                marks.push(point(x, self.y(shown.value), 2.5).class(&colour_class(at)));
            }
        }
        marks
    }

    /// Returns positions and texts of all rows as JSON for `hover.js`.
    fn read_out(&self, series: &Series<'_>) -> String {
        let thousandths = |number: f64, by: f64| (number * by).round() / by;
        let line = |(at, line): (usize, &Line<'_>)| {
            let rows = || line.rows.iter();
            json!({
                "name": line.device.unwrap_or_default(),
                "style": colour_class(at),
                "at": rows().map(|row| thousandths(self.part(middle(row)), 1e6)).collect::<Vec<_>>(),
                "y": rows().map(|row| Point::new(row).map(|point| thousandths(self.y(point.value), 10.0))).collect::<Vec<_>>(),
                "text": rows().map(|row| [row.from.clone(), row.to.clone(), format!("{} ({})", value(row), readings(row))]).collect::<Vec<_>>(),
            })
        };
        serde_json::Value::Array(series.lines.iter().enumerate().map(line).collect()).to_string()
    }
}
