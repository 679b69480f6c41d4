//! The chart of the README: how many times as fast as the fastest other engine, as an SVG for light and dark pages.

use std::fmt::Write as _;

use super::format::escape;
use super::margins::{Met, geometric_mean, met};
use crate::row::Row;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 310.0;
const RIGHT: f64 = 80.0;
const TOP: f64 = 44.0;
const ROW: f64 = 26.0;
/// Colours that CSS switches with the reader's preference.
const STYLE: &str = "text{font-size:14px;fill:#1f2328}.small{font-size:12px;fill:#59636e}.bar{fill:#0969da}.all{fill:#1a7f37}\
                     .one{stroke:#59636e;stroke-dasharray:4 3}@media (prefers-color-scheme:dark){text{fill:#f0f6fc}\
                     .small{fill:#9198a1}.bar{fill:#4493f8}.all{fill:#3fb950}.one{stroke:#9198a1}}";

/// One bar: the geometric mean over all sizes of a kind of operation.
struct Bar {
    title: String,
    ratio: f64,
}

/// Draws one bar a kind of operation, and one for all rows; None without a row to compare.
pub(super) fn picture(rows: &[Row], origin: &str) -> Option<String> {
    let (met, _) = met(rows);
    let all = geometric_mean(met.iter().map(|row| row.ratio))?;
    let mut bars = bars(&met);
    bars.push(Bar { title: format!("all {} rows", met.len()), ratio: all });
    let largest = bars.iter().map(|bar| bar.ratio).fold(2.0, f64::max);
    // From half as fast, on a logarithmic axis.
    let across =
        |ratio: f64| LEFT + (ratio * 2.0).max(1.0).ln() / (largest * 2.0).ln() * (WIDTH - LEFT - RIGHT);
    let height = TOP + bars.len() as f64 * ROW + 30.0;
    let title = "Times as fast as the fastest other engine, one core";
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\" \
         font-family=\"system-ui, sans-serif\"><style>{STYLE}</style><text x=\"10\" y=\"22\" font-weight=\"600\">{title}</text>\n"
    );
    let (one, foot) = (across(1.0), height - 26.0);
    // Writing into a string cannot fail, here and below.
    let _ = writeln!(
        svg,
        "<line class=\"one\" x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"{}\" y2=\"{foot}\"/>",
        TOP - 8.0
    );
    for (index, bar) in bars.iter().enumerate() {
        let y = TOP + index as f64 * ROW;
        let class = if index + 1 == bars.len() { "all" } else { "bar" };
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"{class}\" x=\"{LEFT}\" y=\"{}\" \
             width=\"{:.1}\" height=\"{}\" rx=\"2\"/><text x=\"{:.1}\" y=\"{}\">{:.1}×</text>",
            LEFT - 8.0,
            y + 15.0,
            escape(&bar.title),
            y + 2.0,
            across(bar.ratio) - LEFT,
            ROW - 8.0,
            across(bar.ratio) + 6.0,
            y + 15.0,
            bar.ratio
        );
    }
    let _ = writeln!(
        svg,
        "<text class=\"small\" x=\"10\" y=\"{}\">{}</text></svg>",
        height - 8.0,
        escape(origin)
    );
    Some(svg)
}

/// Kinds that the last bar alone shows: parts of other kinds, and those that memory limits.
const LEFT_OUT: [&str; 6] =
    ["all ", "multiply without", "modulus switch", "a further", "add, in place", "square"];

/// Kinds of operation in the order of the margins.
fn bars(met: &[Met<'_>]) -> Vec<Bar> {
    let drawn = |title: &&str| !LEFT_OUT.iter().any(|begin| title.starts_with(begin));
    let mut titles: Vec<&str> = met.iter().map(|row| row.title).filter(drawn).collect();
    titles.dedup();
    let bar = |title: &str| {
        let ratio = geometric_mean(met.iter().filter(|row| row.title == title).map(|row| row.ratio))?;
        Some(Bar { title: title.to_owned(), ratio })
    };
    titles.into_iter().filter_map(bar).collect()
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
