//! The charts of the page: points and lines over logarithmic axes, and bars.

use sotto_chart::{Bar, Bars, Element, Length, Logarithmic, column, drawing, level, path, point};

/// Width of a chart in units of about a pixel, so that letters have the same size on every screen.
const WIDTH: f64 = 340.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 34.0;

/// Points of one colour.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) colour: &'static str,
    /// x, y, and the tooltip.
    pub(super) points: Vec<(f64, f64, String)>,
    /// True if a line joins the points.
    pub(super) joined: bool,
}

/// Draws points and lines.
pub(super) fn plot(title: &str, series: &[Series], x: &Logarithmic, y: &Logarithmic, height: f64) -> Element {
    let bottom = height - BOTTOM;
    let across = |value: f64| LEFT + x.part(value) * (RIGHT - LEFT);
    let up = |value: f64| bottom - y.part(value) * (bottom - TOP);
    let levels =
        y.ticks.iter().flat_map(|(value, label)| level(LEFT, Length::Units(RIGHT), up(*value), label));
    let columns = x.ticks.iter().flat_map(|(value, label)| column(across(*value), TOP, bottom, label));
    let mut chart =
        sized(title, height).child(Element::new("g").class("grid").children(levels.chain(columns)));
    for one in series {
        if one.joined && one.points.len() > 1 {
            let places = path(one.points.iter().map(|(x, y, _)| (across(*x), up(*y))));
            chart = chart.child(Element::new("path").class("line").set("color", one.colour).set("d", places));
        }
        chart = chart.children(one.points.iter().map(|(x, y, told)| {
            let mark = point(across(*x), up(*y), 3.5).set("color", one.colour);
            mark.tooltip(&format!("{}: {told}", one.name))
        }));
    }
    chart
}

/// Draws horizontal bars over a logarithmic axis: names, colours, values and notes. None without a positive value.
pub(super) fn bars(title: &str, bars: Vec<(String, &'static str, f64, String)>) -> Option<Element> {
    let scale = Logarithmic::bars(bars.iter().map(|bar| bar.2))?;
    let bar = |(name, colour, value, told)| Bar { name, colour, part: scale.part(value), value: told };
    let bars: Vec<Bar> = bars.into_iter().map(bar).collect();
    let place = Bars { left: 74.0, top: 0.0, room: 200.0, pitch: 19.0 };
    Some(sized(title, bars.len() as f64 * place.pitch + 4.0).children(place.draw(&bars)))
}

fn sized(title: &str, height: f64) -> Element {
    drawing(title).set("viewBox", format_args!("0 0 {WIDTH} {height}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn points_lines_and_bars_are_drawn() {
        let points = vec![(4096.0, 10.0, "a".to_owned()), (8192.0, 100.0, "b".to_owned())];
        let series = [Series { name: "x<y".into(), colour: "#000000", points, joined: true }];
        let x = Logarithmic::at(&[4096.0, 8192.0], |v| v.to_string()).unwrap();
        let y = Logarithmic::decades([10.0, 100.0], |v| v.to_string()).unwrap();
        let svg = plot("t", &series, &x, &y, 200.0).to_string();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("<path").count(), 1);
        assert!(svg.contains("x&lt;y: a") && svg.ends_with("</svg>"));
        let drawn = bars(
            "t",
            vec![("a".into(), "#000000", 1.0, "1".into()), ("b".into(), "#000000", 2.0, "2".into())],
        );
        assert_eq!(drawn.unwrap().to_string().matches("<rect").count(), 2);
        assert!(bars("t", Vec::new()).is_none());
    }
}
