//! The chart of a histogram: bars for one group, else a map of groups and bins.

use std::fmt::Write as _;

use super::super::histogram::{Group, Histogram};
use super::super::table::when;
use super::figure::style;
use super::text::{escape, value};

/// Height of a bin in pixels, and the share of the width that its name takes.
const PITCH: usize = 18;
const MARGIN: f64 = 16.0;

/// Returns the figures of a histogram, one for each device.
pub(super) fn figures(histogram: &Histogram<'_>) -> String {
    let mut devices: Vec<Option<&str>> = histogram.groups.iter().map(Group::device).collect();
    devices.sort_unstable();
    devices.dedup();
    devices.into_iter().enumerate().map(|(at, device)| figure(histogram, device, at)).collect()
}

fn figure(histogram: &Histogram<'_>, device: Option<&str>, at: usize) -> String {
    let groups: Vec<&Group<'_>> = histogram.groups.iter().filter(|group| group.device() == device).collect();
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return String::new() };
    let most = groups.iter().map(|group| group.most()).fold(0.0, f64::max).max(1.0);
    let (from, to) = (when(first.rows[0]), when(last.rows[0]));
    let time =
        if groups.len() == 1 { format!("from {from}") } else { format!("{from} to {to}; darker is more") };
    let name =
        device.map_or_else(|| histogram.name.to_owned(), |device| format!("{}, {device}", histogram.name));
    let height = histogram.bins.len() * PITCH;
    let mut text = format!(
        "<figure>\n<figcaption>{} <span class=\"quiet\">{}</span></figcaption>\n\
         <svg class=\"chart\" role=\"img\" width=\"100%\" height=\"{}\">\n<title>{}: readings by bin</title>\n",
        escape(&name),
        escape(&time),
        height + 4,
        escape(&name),
    );
    let colour = style(at).0;
    let width = (100.0 - MARGIN) / groups.len() as f64;
    // The highest bin is at the top.
    for (bin, name) in histogram.bins.iter().enumerate() {
        let top = height - (bin + 1) * PITCH;
        let _ =
            writeln!(text, "<text class=\"quiet\" x=\"0\" y=\"{}\">{}</text>", top + PITCH - 4, escape(name));
        for (column, group) in groups.iter().enumerate() {
            let Some(row) = group.rows.get(bin) else { continue };
            let part = row.value.unwrap_or_default() / most;
            if part <= 0.0 {
                continue;
            }
            let shown = format!("{} {name}: {}", when(row), value(row));
            let (x, width, opacity) = match groups.len() {
                1 => (MARGIN, width * part, 1.0),
                _ => (MARGIN + width * column as f64, width, 0.1 + 0.9 * part),
            };
            let _ = writeln!(
                text,
                "<rect class=\"point {colour}\" x=\"{x:.3}%\" y=\"{}\" width=\"{width:.3}%\" height=\"{}\" fill-opacity=\"{opacity:.2}\">\
                 <title>{}</title></rect>",
                top + 1,
                PITCH - 2,
                escape(&shown),
            );
        }
    }
    text.push_str("</svg>\n</figure>\n");
    text
}
