//! The chart of the README: how many times as fast as the fastest other engine, as an SVG for light and dark pages.

use sotto_chart::{Bar, Bars, DARK, Element, LIGHT, Logarithmic, MARKS, drawing, line, words};

use super::margins::{Met, geometric_mean, met};
use crate::row::Row;

const WIDTH: f64 = 760.0;
const PLACE: Bars = Bars { left: 310.0, top: 44.0, room: WIDTH - 310.0 - 80.0, pitch: 26.0 };
const STYLE: &str = "text{font-size:14px;fill:var(--text)}.title{font-weight:600}.small{font-size:12px;fill:var(--quiet)}\
                     .one{stroke:var(--quiet);stroke-dasharray:4 3}";

/// Draws one bar a kind of operation, and one for all rows; None without a row to compare.
pub(super) fn picture(rows: &[Row], origin: &str) -> Option<String> {
    let (met, _) = met(rows);
    let mut ratios = ratios(&met);
    ratios.push((format!("all {} rows", met.len()), geometric_mean(met.iter().map(|row| row.ratio))?));
    let largest = ratios.iter().map(|(_, ratio)| *ratio).fold(2.0, f64::max);
    // From half as fast.
    let scale = Logarithmic { low: 0.5, high: largest, ticks: Vec::new() };
    let last = ratios.len() - 1;
    let bar = |(at, (name, ratio)): (usize, (String, f64))| Bar {
        name,
        value: format!("{ratio:.1}×"),
        colour: if at == last { "var(--c2)" } else { "var(--c0)" },
        part: scale.part(ratio),
    };
    let bars: Vec<Bar> = ratios.into_iter().enumerate().map(bar).collect();
    let title = "Times as fast as the fastest other engine, one core";
    let (one, foot) =
        (PLACE.left + scale.part(1.0) * PLACE.room, PLACE.top + bars.len() as f64 * PLACE.pitch);
    let picture = drawing(title)
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", format_args!("0 0 {WIDTH} {}", foot + 30.0))
        .set("font-family", "system-ui, sans-serif")
        .child(Element::new("style").text(&[LIGHT, DARK, MARKS, STYLE].concat()))
        .child(words(10.0, 22.0, title).class("title"))
        .child(line([one.into(), one.into()], [PLACE.top - 8.0, foot + 4.0]).class("one"))
        .children(PLACE.draw(&bars))
        .child(words(10.0, foot + 22.0, origin).class("small"));
    Some(picture.to_string())
}

/// Kinds that the last bar alone shows: parts of other kinds, and those that memory limits.
const LEFT_OUT: [&str; 6] =
    ["all ", "multiply without", "modulus switch", "a further", "add, in place", "square"];

/// Returns the geometric mean over all sizes of each kind of operation, in the order of the margins.
fn ratios(met: &[Met<'_>]) -> Vec<(String, f64)> {
    let drawn = |title: &&str| !LEFT_OUT.iter().any(|begin| title.starts_with(begin));
    let mut titles: Vec<&str> = met.iter().map(|row| row.title).filter(drawn).collect();
    titles.dedup();
    let mean = |title: &str| {
        let ratio = geometric_mean(met.iter().filter(|row| row.title == title).map(|row| row.ratio))?;
        Some((title.to_owned(), ratio))
    };
    titles.into_iter().filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bars_say_the_geometric_mean() {
        let rows = [
            Row::example("sotto", "rotate", 4096, 10.0),
            Row::example("seal", "rotate", 4096, 20.0),
            Row::example("sotto", "rotate", 8192, 10.0),
            Row::example("seal", "rotate", 8192, 80.0),
        ];
        let svg = picture(&rows, "a machine & its commit").unwrap();
        assert!(svg.contains(">rotate</text>") && svg.contains(">4.0×</text>"), "{svg}");
        assert!(svg.contains("all 2 rows") && svg.contains("a machine &amp; its commit"), "{svg}");
        assert_eq!(picture(&[], ""), None);
    }
}
