//! Charts as SVG: points and lines over logarithmic axes, and bars.

use std::fmt::Write as _;

use super::format::escape;

/// Width of a chart in units of about a pixel, so that letters have the same size on every screen.
const WIDTH: f64 = 340.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 34.0;
const BAR: f64 = 19.0;

/// Points of one colour.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) colour: &'static str,
    /// x, y, and the tooltip.
    pub(super) points: Vec<(f64, f64, String)>,
    /// True if a line joins the points.
    pub(super) joined: bool,
}

/// A logarithmic axis with marks.
pub(super) struct Axis {
    low: f64,
    high: f64,
    marks: Vec<(f64, String)>,
}

impl Axis {
    /// Returns an axis over these values, with a mark at every power of ten; at every second one if there are many.
    pub(super) fn decades(values: impl Iterator<Item = f64>, write: impl Fn(f64) -> String) -> Option<Self> {
        let (low, high) = ends(values)?;
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let last = last.max(first + 1);
        let step = ((last - first) as usize).div_ceil(6);
        let marks = (first..=last).step_by(step).map(|power| 10f64.powi(power));
        let marks = marks.map(|value| (value, write(value))).collect();
        Some(Self { low: 10f64.powi(first), high: 10f64.powi(last), marks })
    }

    /// Returns an axis over these values, with a mark at each of them.
    pub(super) fn at(values: &[f64], write: impl Fn(f64) -> String) -> Option<Self> {
        let (low, high) = ends(values.iter().copied())?;
        let marks = values.iter().map(|value| (*value, write(*value))).collect();
        Some(Self { low: low / 1.2, high: high * 1.2, marks })
    }

    /// Returns the position of a value: 0 at the low end, 1 at the high end.
    fn place(&self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}

/// Returns the smallest and largest of the positive finite values.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let shown = values.filter(|value| value.is_finite() && *value > 0.0);
    shown.fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Draws points and lines.
pub(super) fn plot(title: &str, series: &[Series], x: &Axis, y: &Axis, height: f64) -> String {
    let (right, bottom) = (WIDTH - RIGHT, height - BOTTOM);
    let across = |value: f64| LEFT + x.place(value) * (right - LEFT);
    let up = |value: f64| bottom - y.place(value) * (bottom - TOP);
    let mut svg = begin(title, height);
    // Writing to a string cannot fail, here and below.
    for (value, mark) in &y.marks {
        let at = up(*value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            escape(mark)
        );
    }
    for (value, mark) in &x.marks {
        let at = across(*value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
             <text class=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
            bottom + 18.0,
            escape(mark)
        );
    }
    for one in series {
        let places: Vec<String> =
            one.points.iter().map(|(x, y, _)| format!("{:.1},{:.1}", across(*x), up(*y))).collect();
        if one.joined && places.len() > 1 {
            let _ = write!(
                svg,
                "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>",
                one.colour,
                places.join(" ")
            );
        }
        for (x, y, told) in &one.points {
            let _ = write!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{}\"><title>{}: {}</title></circle>",
                across(*x),
                up(*y),
                one.colour,
                escape(&one.name),
                escape(told)
            );
        }
    }
    svg + "</svg>"
}

/// Draws horizontal bars over a logarithmic axis, with names, values and notes behind the bars.
pub(super) fn bars(title: &str, bars: &[(String, &'static str, f64, String)]) -> String {
    let Some((low, high)) = ends(bars.iter().map(|bar| bar.2)) else { return String::new() };
    let (low, high) = (low / 4.0, high * 1.05);
    let (left, room) = (74.0, WIDTH - 74.0 - 66.0);
    let mut svg = begin(title, bars.len() as f64 * BAR + 4.0);
    for (position, (name, colour, value, told)) in bars.iter().enumerate() {
        let y = position as f64 * BAR + 2.0;
        let length = ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0) * room;
        let _ = write!(
            svg,
            "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <rect x=\"{left}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 6.0,
            y + 13.0,
            escape(name),
            y + 2.0,
            BAR - 5.0,
            left + length + 5.0,
            y + 13.0,
            escape(told)
        );
    }
    svg + "</svg>"
}

fn begin(title: &str, height: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>",
        escape(title)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_axis_begins_and_ends_with_its_marks() {
        let axis = Axis::decades([30.0, 4000.0].into_iter(), |v| v.to_string()).unwrap();
        assert_eq!((axis.low, axis.high, axis.marks.len()), (10.0, 10_000.0, 4));
        assert!(axis.place(10.0).abs() < 1e-12 && (axis.place(10_000.0) - 1.0).abs() < 1e-12);
        assert!((axis.place(316.227_766) - 0.5).abs() < 1e-6, "logarithmic");
        let one = Axis::decades([100.0].into_iter(), |v| v.to_string()).unwrap();
        assert_eq!((one.low, one.high), (100.0, 1000.0));
        assert!(Axis::decades([0.0, f64::NAN].into_iter(), |v| v.to_string()).is_none());
        let wide = Axis::decades([1e-3, 1e9].into_iter(), |v| v.to_string()).unwrap();
        assert!(wide.marks.len() <= 7);
    }

    #[test]
    fn points_lines_and_bars_are_drawn() {
        let points = vec![(4096.0, 10.0, "a".to_owned()), (8192.0, 100.0, "b".to_owned())];
        let series = [Series { name: "x<y".into(), colour: "#000000", points, joined: true }];
        let x = Axis::at(&[4096.0, 8192.0], |v| v.to_string()).unwrap();
        let y = Axis::decades([10.0, 100.0].into_iter(), |v| v.to_string()).unwrap();
        let svg = plot("t", &series, &x, &y, 200.0);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(svg.contains("x&lt;y: a") && svg.ends_with("</svg>"));
        let drawn =
            bars("t", &[("a".into(), "#000000", 1.0, "1".into()), ("b".into(), "#000000", 2.0, "2".into())]);
        assert_eq!(drawn.matches("<rect").count(), 2);
        assert_eq!(bars("t", &[]), "");
    }
}
