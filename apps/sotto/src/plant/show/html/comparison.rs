//! The chart of a single group: a dot for each device, bounds as whiskers.

use sotto_chart::{Element, Length, Linear, colour_class, column, drawing, line, point, words, words_before};
use sotto_owner::Row;

use super::super::series::{Point, Series};
use super::text::{readings, value};

/// Height of a device's row in pixels.
const PITCH: f64 = 44.0;

/// Returns the chart of a series that has at least one value.
pub(super) fn chart(series: &Series<'_>, label: &str) -> Element {
    let (low, high) = series.ends(series.points()).unwrap_or((0.0, 1.0));
    let scale = Linear::round(low, high, 6);
    let bottom = series.rows().count() as f64 * PITCH + 4.0;
    // Leaves room for half a number at both ends.
    let x = |value: f64| Length::Percent(4.0 + 92.0 * scale.part(value));
    let mut grid = Element::new("g").class("grid");
    for (at, tick) in scale.ticks().enumerate() {
        let [rule, number] = column(x(tick), 0.0, bottom, &scale.label(tick));
        grid = grid.child(rule).child(if at % 2 == 0 { number } else { number.class("minor") });
    }
    let each = series.lines.iter().flat_map(|line| line.rows.iter().map(|row| (line.device, *row)));
    let rows = each.enumerate().flat_map(|(at, (device, row))| marks(device, row, at as f64 * PITCH, x));
    let chart = drawing(label).class("chart").set("width", "100%").set("height", bottom + 24.0);
    chart.child(grid).children(rows)
}

/// Returns a device's name, value, bound and dot.
fn marks(device: Option<&str>, row: &Row, top: f64, x: impl Fn(f64) -> Length) -> Vec<Element> {
    let y = top + 30.0;
    let mut marks = vec![
        words(0.0, top + 16.0, device.unwrap_or_default()).class("strong"),
        words_before(Length::Percent(100.0), top + 16.0, &value(row)).class("strong"),
    ];
    if let Some(shown) = Point::new(row) {
        let ends = [x(shown.low()), x(shown.high())];
        marks.push(line(ends, [y, y]).class("whisker").class(&colour_class(0)));
        marks.push(point(x(shown.value), y, 5.0).class(&colour_class(0)).tooltip(&readings(row)));
    }
    marks
}
