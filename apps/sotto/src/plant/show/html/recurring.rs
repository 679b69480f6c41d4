//! Charts of groups that recur: columns for one cycle, a heat map for two.

use sotto_chart::{
    Element, Heat, HeatCell, Length, Linear, colour_class, dash_class, drawing, figure as captioned, level,
    line, point, words_around,
};
use sotto_owner::Row;

use super::super::cycles::{Recurring, names, position};
use super::super::number::number;
use super::super::series::Point;
use super::text::{readings, value};

const HEIGHT: f64 = 220.0;
/// Height of a line of a heat map.
const PITCH: f64 = 26.0;
/// Percentage of the width that the names of a heat map's lines take.
const MARGIN: f64 = 8.0;

/// Returns the figures of a result: one, or a heat map for each device.
pub(super) fn figures(of: &Recurring<'_>) -> Vec<String> {
    let Some((low, high)) = of.ends(of.down.is_none()) else {
        let none = Element::new("p").class("quiet").text("No value: the table says why.");
        return vec![captioned(&of.title(), &format!("by {}", of.by())).child(none).to_string()];
    };
    let scale = Linear::round(low, high, 5);
    if of.down.is_none() {
        return vec![columns(of, scale).to_string()];
    }
    let maps = of.devices.iter().enumerate();
    maps.map(|(at, (device, rows))| heat_map(of, scale, *device, rows, at).to_string()).collect()
}

fn heat_map(of: &Recurring<'_>, scale: Linear, device: Option<&str>, rows: &[&Row], at: usize) -> Element {
    let (columns, lines) = (names(of.across), of.down.map(names).unwrap_or_default());
    let cells: Vec<HeatCell> = rows
        .iter()
        .map(|row| HeatCell {
            column: position(row, of.across),
            line: of.down.map_or(0, |down| position(row, down)),
            value: Point::new(row).map(|point| point.value),
            text: told(row),
        })
        .collect();
    let heat = Heat { margin: MARGIN, pitch: PITCH, scale, class: colour_class(at) };
    let chart = drawing(&label(of, device, rows)).class("chart").set("width", "100%");
    let chart = chart.set("height", heat.height(lines.len())).children(heat.draw(&columns, &lines, &cells));
    let device = device.map_or_else(String::new, |device| format!("{device}, "));
    let detail = format!("{device}by {}; fuller is more, a stroke has no value", of.by());
    captioned(&of.title(), &detail).child(heat.legend(of.unit)).child(chart)
}

/// Returns points with their bounds for each group and device.
fn columns(of: &Recurring<'_>, scale: Linear) -> Element {
    let groups = names(of.across);
    let middle = |at: usize| Length::Percent(100.0 * (at as f64 + 0.5) / groups.len() as f64);
    let y = |value: f64| HEIGHT * (1.0 - scale.part(value));
    let rows = || of.devices.iter().flat_map(|(_, rows)| rows.iter().copied());
    let label = label(of, None, &rows().collect::<Vec<_>>());
    let mut chart = drawing(&label).class("chart").class("time").set("height", HEIGHT + 28.0);
    let rule = |tick| level(0.0, Length::Percent(100.0), y(tick), &scale.label(tick));
    chart = chart.child(Element::new("g").class("grid").children(scale.ticks().flat_map(rule)));
    let each = groups.len().div_ceil(12).max(1);
    for (at, name) in groups.iter().enumerate().step_by(each) {
        chart = chart.child(words_around(middle(at), HEIGHT + 20.0, name));
    }
    for (device, (_, rows)) in of.devices.iter().enumerate() {
        let class = colour_class(device);
        let mut shown: Vec<(usize, Point<'_>)> =
            rows.iter().filter_map(|row| Some((position(row, of.across), Point::new(row)?))).collect();
        shown.sort_by_key(|(at, _)| *at);
        for pair in shown.windows(2).filter(|pair| pair[0].0 + 1 == pair[1].0) {
            let ends = [0, 1].map(|end: usize| (middle(pair[end].0), y(pair[end].1.value)));
            let joined = line([ends[0].0, ends[1].0], [ends[0].1, ends[1].1]);
            chart = chart.child(joined.class("line").class(&class).class(&dash_class(device)));
        }
        for (at, shown) in shown {
            if shown.bound > 0.0 {
                let ends = [y(shown.high()), y(shown.low())];
                chart = chart.child(line([middle(at); 2], ends).class("whisker").class(&class));
            }
            let mark = point(middle(at), y(shown.value), 4.0).class(&class);
            chart = chart.child(mark.tooltip(&told(shown.row)));
        }
    }
    let several = of.devices.len() > 1 || of.devices.iter().any(|(device, _)| device.is_some());
    let legend = several.then(|| super::figure::legend(of.devices.iter().map(|(device, _)| *device)));
    captioned(&of.title(), &format!("by {}", of.by())).children(legend).child(chart)
}

/// Returns a row in words: its group, its value, its readings.
fn told(row: &Row) -> String {
    let device = row.subject().map_or_else(String::new, |device| format!("{device}, "));
    let group = row.recurs.map_or_else(String::new, |recurs| recurs.to_string());
    format!("{device}{group}: {} ({})", value(row), readings(row))
}

/// Returns the label for screen readers: the number of values, the lowest and the highest with their groups.
fn label(of: &Recurring<'_>, device: Option<&str>, rows: &[&Row]) -> String {
    let mut points: Vec<Point<'_>> = rows.iter().filter_map(|row| Point::new(row)).collect();
    points.sort_by(|one, other| one.value.total_cmp(&other.value));
    let device = device.map_or_else(String::new, |device| format!(" of {device}"));
    let end = |what: &str, point: &Point<'_>| {
        let group = point.row.recurs.map_or_else(String::new, |recurs| recurs.to_string());
        format!("{what} {} {} at {group}", number(point.value, 0.0), of.unit).replace("  ", " ")
    };
    let ends: Vec<String> = [("lowest", points.first()), ("highest", points.last())]
        .into_iter()
        .filter_map(|(what, point)| Some(end(what, point?)))
        .collect();
    let values = super::super::number::counted(points.len() as u64, "value");
    format!("{}{device} by {}: {values}; {}. The table below has all.", of.name, of.by(), ends.join(", "))
}

#[cfg(test)]
mod tests {
    use sotto_owner::question::{Recurs, Weekday};

    use super::super::super::cycles::{recurring, tests::week};
    use super::super::super::fixture::{answer, row};
    use super::*;

    #[test]
    fn a_heat_map_has_a_cell_for_each_group_and_says_its_ends() {
        let answer = week();
        let [figure] = &figures(&recurring(&answer)[0])[..] else { panic!("one figure") };
        // 144 values in cells, five or six patches in the legend; 24 Sundays without a value.
        let count = |part: &str| figure.matches(part).count();
        assert_eq!((count("<title>"), count("no reading")), (168 + 1, 24), "{figure}");
        let (map, legend) = (figure.rfind("role=\"img\"").unwrap(), figure.find("aria-hidden").unwrap());
        assert!(legend < map, "the legend comes first");
        assert!(figure[legend..map].contains("°C"), "its unit");
        assert!(
            figure.contains("lowest 0 °C at mon 00:00, highest 73 °C at sat 23:00"),
            "the text for screen readers: {figure}"
        );
        assert!(figure.contains("<title>tue 13:00: 23 °C (6 readings)</title>"), "{figure}");
        for name in ["mon", "sun", "00:00", "22:00"] {
            assert!(figure.contains(&format!(">{name}</text>")), "{name}");
        }
    }

    #[test]
    fn one_cycle_joins_neighbours_and_names_devices() {
        let of = |device: &str, weekday, value: Option<f64>| {
            let recurs = Recurs { weekday: Some(weekday), ..Recurs::default() };
            sotto_owner::Row { recurs: Some(recurs), ..row("mean(t)", Some(device), 0, value, 0.5) }
        };
        let answer = answer(vec![
            of("a", Weekday::Mon, Some(1.0)),
            of("a", Weekday::Tue, Some(2.0)),
            of("a", Weekday::Thu, Some(3.0)),
            of("b", Weekday::Mon, Some(4.0)),
        ]);
        let [figure] = &figures(&recurring(&answer)[0])[..] else { panic!("one figure") };
        assert_eq!(figure.matches("<circle").count(), 4);
        assert_eq!(figure.matches("class=\"whisker").count(), 4, "bounds");
        assert_eq!(figure.matches("<line class=\"line").count(), 1, "Monday and Tuesday");
        assert!(
            figure.contains("class=\"legend\"") && figure.contains("mean(t) by weekday: 4 values"),
            "{figure}"
        );
    }
}
