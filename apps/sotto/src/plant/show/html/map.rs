//! The chart of a histogram: bars for one group, else a map of groups and bins.

use sotto_chart::{Length, colour_class, drawing, figure as captioned, rectangle, words};

use super::super::histogram::{Group, Histogram};
use super::super::number::when;
use super::text::value;

/// Height of a bin in pixels, and the percentage of the width that its name takes.
const PITCH: f64 = 18.0;
const MARGIN: f64 = 16.0;

/// Returns the figures of a histogram, one for each device.
pub(super) fn figures(histogram: &Histogram<'_>) -> Vec<String> {
    let devices = histogram.by_device().into_iter().enumerate();
    devices.filter_map(|(at, (device, groups))| figure(histogram, device, &groups, at)).collect()
}

fn figure(
    histogram: &Histogram<'_>,
    device: Option<&str>,
    groups: &[&Group<'_>],
    at: usize,
) -> Option<String> {
    let most = groups.iter().map(|group| group.most()).fold(0.0, f64::max).max(1.0);
    let (from, to) = (when(groups.first()?.rows[0]), when(groups.last()?.rows[0]));
    let time =
        if groups.len() == 1 { format!("from {from}") } else { format!("{from} to {to}; darker is more") };
    let name =
        device.map_or_else(|| histogram.name.to_owned(), |device| format!("{}, {device}", histogram.name));
    let height = histogram.bins.len() as f64 * PITCH;
    let chart = drawing(&format!("{name}: readings by bin")).class("chart");
    let mut chart = chart.set("width", "100%").set("height", height + 4.0);
    let width = (100.0 - MARGIN) / groups.len() as f64;
    // The highest bin is at the top.
    for (bin, name) in histogram.bins.iter().enumerate() {
        let top = height - (bin + 1) as f64 * PITCH;
        chart = chart.child(words(0.0, top + PITCH - 4.0, name).class("quiet"));
        for (column, group) in groups.iter().enumerate() {
            let Some(row) = group.rows.get(bin) else { continue };
            let part = row.value.unwrap_or_default() / most;
            if part <= 0.0 {
                continue;
            }
            let (x, width, opacity) = match groups.len() {
                1 => (MARGIN, width * part, 1.0),
                _ => (MARGIN + width * column as f64, width, 0.1 + 0.9 * part),
            };
            let mark = rectangle(Length::Percent(x), top + 1.0, Length::Percent(width), PITCH - 2.0);
            let mark = mark.class(&colour_class(at)).set("fill-opacity", format_args!("{opacity:.2}"));
            chart = chart.child(mark.tooltip(&format!("{} {name}: {}", when(row), value(row))));
        }
    }
    Some(captioned(&name, &time).child(chart).to_string())
}
