//! A chart with its caption and legend.

use sotto_chart::{Element, LocalTime, colour_class, dash_class, extent, figure as captioned};

use super::super::number::number;
use super::super::series::{Series, middle, times};
use super::{comparison, timeline};

/// Returns the figure of a series: values over time, or devices side by side if there is a single group.
pub(super) fn figure(series: &Series<'_>) -> String {
    let over_time = extent(series.rows().map(middle)).is_some_and(|(first, last)| first < last);
    let unit = if series.unit.is_empty() { String::new() } else { format!(" [{}]", series.unit) };
    let local = LocalTime::new(times(series.rows()));
    let period = [extent_text(series), local.names().join(" and ")].join(", ");
    let figure = captioned(&format!("{}{unit}", series.name), &period);
    let figure = if series.points().next().is_none() {
        figure.child(Element::new("p").class("quiet").text("No value: the table says why."))
    } else if over_time {
        let several = series.lines.len() > 1 || series.lines.iter().any(|line| line.device.is_some());
        let chart = timeline::chart(series, &local, &label(series));
        // The element has content, because HTML knows no empty `<div/>`.
        let read_out = Element::new("div").class("read-out").set("hidden", "").text("\n");
        figure
            .children(several.then(|| legend(series.lines.iter().map(|line| line.device))))
            .child(chart)
            .child(read_out)
    } else {
        figure.child(comparison::chart(series, &label(series)))
    };
    figure.to_string()
}

/// Returns the first and the last time, in the text of the rows.
fn extent_text(series: &Series<'_>) -> String {
    let first = series.rows().min_by_key(|row| row.from_ms);
    let last = series.rows().max_by_key(|row| row.to_ms);
    let (Some(first), Some(last)) = (first, last) else { return String::new() };
    let short = |text: &str| text.get(..16).unwrap_or(text).replace('T', " ");
    format!("{} to {}", short(&first.from), short(&last.to))
}

/// Returns the legend of lines: those of devices, or a single one of all devices.
pub(super) fn legend<'d>(devices: impl Iterator<Item = Option<&'d str>>) -> Element {
    let items = devices.enumerate().map(|(at, device)| {
        let sample = Element::new("path").class("line").class(&colour_class(at)).class(&dash_class(at));
        let picture = Element::new("svg").set("width", 22).set("height", 8).set("aria-hidden", true);
        let picture = picture.child(sample.set("d", "M0 4H22"));
        Element::new("li").child(picture).text(device.unwrap_or("all devices"))
    });
    Element::new("ul").class("legend").children(items)
}

/// Returns the label of a chart, for screen readers.
fn label(series: &Series<'_>) -> String {
    let ends = extent(series.points().map(|point| point.value));
    let number = |value: f64| number(value, 0.0);
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
