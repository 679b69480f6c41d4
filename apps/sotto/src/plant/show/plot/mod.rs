//! Answers as charts in a terminal of 80 columns.

mod canvas;
mod recurring;

use std::fmt::Write as _;

use sotto_chart::{Linear, extent};
use sotto_owner::{Answer, Row};

use self::canvas::Canvas;
use super::number::rounded_up;
use super::series::{Line, Point, Series, middle, series};

const COLUMNS: usize = 80;
/// Approximate lines of a chart; the distance of ticks is a whole number of lines.
const LINES: usize = 12;
/// A bound is drawn if it reaches at least this many dots from the line.
const VISIBLE_DOTS: f64 = 2.0;

/// Returns a chart over time for each result and device.
pub(crate) fn plot(answer: &Answer) -> String {
    let mut text = String::new();
    for series in series(answer) {
        for line in &series.lines {
            let unit = if series.unit.is_empty() { String::new() } else { format!(" [{}]", series.unit) };
            let device = line.device.map_or_else(String::new, |device| format!(", {device}"));
            let _ = write!(text, "{}{unit}{device}", series.name);
            text.push_str(&chart(&series, line));
        }
    }
    for of in super::cycles::recurring(answer) {
        text.push_str(&recurring::chart(&of));
        text.push('\n');
    }
    for histogram in super::histogram::histograms(&answer.rows) {
        text.push_str(&super::histogram::map(&histogram));
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// Returns the rest of the caption, then the chart.
fn chart(series: &Series<'_>, line: &Line<'_>) -> String {
    let values = series.ends(line.points());
    let times = extent(line.rows.iter().map(|row| middle(row)));
    let (Some((low, high)), Some(times)) = (values, times) else { return ": no value\n".to_owned() };
    let scale = Linear::round(low, high, 6);
    let labels: Vec<String> = scale.ticks().rev().map(|tick| scale.label(tick)).collect();
    let margin = labels.iter().map(String::len).max().unwrap_or_default();
    let grid = Grid { scale, times, columns: COLUMNS - margin - 2, pitch: (LINES / scale.steps).max(1) };

    let bound = line.points().map(|point| point.bound).fold(0.0, f64::max);
    let visible = bound / (scale.high - scale.low) * grid.height() as f64 >= VISIBLE_DOTS;
    let mut canvas = Canvas::new(grid.columns, grid.lines());
    for run in line.runs() {
        if visible {
            grid.band(&mut canvas, &run);
        }
        grid.line(&mut canvas, &run);
    }
    let mut text = caption(line, bound, visible);
    for (at, dots) in canvas.lines().enumerate() {
        match labels.get(at / grid.pitch).filter(|_| at % grid.pitch == 0) {
            Some(label) => drop(writeln!(text, "{label:>margin$} ┤{dots}")),
            None => drop(writeln!(text, "{:>margin$} │{dots}", "")),
        }
    }
    let _ = writeln!(text, "{:>margin$} └{}", "", grid.axis(line));
    let (from, to) = (line.rows.first().map(|row| &row.from), line.rows.last().map(|row| &row.to));
    let (from, to) = (short(from.map_or("", |text| text)), short(to.map_or("", |text| text)));
    let blank = grid.columns.saturating_sub(from.chars().count() + to.chars().count()).max(1);
    let _ = writeln!(text, "{:>margin$}  {from}{:blank$}{to}", "", "");
    text
}

/// Returns the bound, if it is not drawn, and the number of gaps.
fn caption(line: &Line<'_>, bound: f64, visible: bool) -> String {
    let mut text = match bound {
        0.0 => String::new(),
        _ if visible => " (shaded: ± bound)".to_owned(),
        _ => format!(" (± {})", rounded_up(bound)),
    };
    match line.rows.iter().filter(|row| Point::new(row).is_none()).count() {
        0 => {}
        1 => text.push_str(", 1 group without a value"),
        gaps => drop(write!(text, ", {gaps} groups without a value")),
    }
    match line.points().filter(Point::is_unchecked).count() {
        0 => {}
        1 => text.push_str(", 1 value unchecked (? under it)"),
        values => drop(write!(text, ", {values} values unchecked (? under them)")),
    }
    text.push('\n');
    text
}

/// Shortens `2014-01-31T12:00:00+01:00` to minutes.
fn short(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

/// Maps values and times to dots of the canvas.
struct Grid {
    scale: Linear,
    times: (f64, f64),
    columns: usize,
    /// Lines between ticks.
    pitch: usize,
}

impl Grid {
    fn lines(&self) -> usize {
        self.pitch * self.scale.steps + 1
    }

    /// Returns the dots between the lowest and the highest tick.
    fn height(&self) -> usize {
        4 * self.pitch * self.scale.steps
    }

    fn x(&self, row: &Row) -> i64 {
        let (left, right) = self.times;
        let part = if right > left { (middle(row) - left) / (right - left) } else { 0.5 };
        (part * (2 * self.columns - 1) as f64).round() as i64
    }

    /// Returns the dot of a value. A tick lies on the second dot of its line, beside its label.
    fn y(&self, value: f64) -> i64 {
        1 + ((1.0 - self.scale.part(value)) * self.height() as f64).round() as i64
    }

    fn line(&self, canvas: &mut Canvas, run: &[Point<'_>]) {
        let at = |point: &Point<'_>| (self.x(point.row), self.y(point.value));
        if let Some(first) = run.first() {
            canvas.dot(at(first).0, at(first).1);
        }
        run.windows(2).for_each(|pair| canvas.line(at(&pair[0]), at(&pair[1])));
    }

    fn band(&self, canvas: &mut Canvas, run: &[Point<'_>]) {
        for (point, next) in run.iter().zip(run.iter().skip(1).chain(run.last())) {
            let (left, right) = (self.x(point.row), self.x(next.row));
            for x in left..=right {
                let part = (x - left) as f64 / (right - left).max(1) as f64;
                let between = |from: f64, to: f64| from + (to - from) * part;
                let (low, high) = (between(point.low(), next.low()), between(point.high(), next.high()));
                canvas.stipple(x, self.y(high), self.y(low));
            }
        }
    }

    /// Draws the axis, with gaps under groups without a value, and the mark of unchecked values.
    fn axis(&self, line: &Line<'_>) -> String {
        let mut axis = vec!['─'; self.columns];
        for row in line.rows.iter().filter(|row| Point::new(row).is_none()) {
            if let Some(mark) = axis.get_mut(self.x(row) as usize / 2) {
                *mark = ' ';
            }
        }
        for point in line.points().filter(Point::is_unchecked) {
            if let Some(mark) = axis.get_mut(self.x(point.row) as usize / 2) {
                *mark = '?';
            }
        }
        axis.into_iter().collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{answer, hourly, row};
    use super::*;

    fn lines(rows: Vec<Row>) -> Vec<String> {
        plot(&answer(rows)).lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_line_joins_two_points_and_fits_80_columns() {
        let lines = lines(hourly("mean(t)", &[Some(0.0), Some(4.0)]));
        assert_eq!(lines[0], "mean(t) [°C]");
        // Four steps of three lines: 0 … 4 on 49 dots, 154 dots wide.
        assert_eq!(lines.len(), 1 + 13 + 2);
        for (at, label) in [(1, "4 ┤"), (4, "3 ┤"), (7, "2 ┤"), (10, "1 ┤"), (13, "0 ┤")] {
            assert!(lines[at].starts_with(label), "{}", lines[at]);
        }
        assert!(lines[2..4].iter().all(|line| line.starts_with("  │")));
        // Every column has a dot.
        for column in 3..80 {
            assert!(
                lines[1..14]
                    .iter()
                    .any(|line| line.chars().nth(column).is_some_and(|dots| dots > '\u{2800}'))
            );
        }
        assert!(lines.iter().all(|line| line.chars().count() <= 80));
        assert_eq!(lines[14].chars().count(), 80);
        assert_eq!(lines[15], format!("   2014-01-31 00:00{:45}2014-01-31 02:00", ""));
    }

    #[test]
    fn a_missing_group_leaves_a_gap_in_line_and_axis() {
        let values = [Some(1.0), Some(1.0), None, Some(1.0), Some(1.0)];
        let lines = lines(hourly("mean(t)", &values));
        assert_eq!(lines[0], "mean(t) [°C], 1 group without a value");
        // 74 columns, 148 dots; the groups' middles lie at 0, 37, 74, 110 and 147.
        let line = lines.iter().find(|line| line.starts_with("1.00 ┤")).expect("the tick 1.00");
        let dots: Vec<char> = line.chars().skip(6).collect();
        assert_eq!(dots.len(), 74);
        assert!(dots[..19].iter().all(|dots| *dots == '⠒'), "{line}");
        assert!(dots[19..55].iter().all(|dots| *dots == '\u{2800}'), "{line}");
        assert!(dots[55..].iter().all(|dots| *dots == '⠒'), "{line}");
        let axis = lines.iter().find(|line| line.contains('└')).expect("the axis");
        assert_eq!(axis.chars().skip(6).position(|mark| mark == ' '), Some(37));
    }

    #[test]
    fn unchecked_values_have_their_mark_under_them() {
        let mut rows = hourly("mean(t)", &[Some(1.0), Some(2.0), Some(3.0), None, Some(1.0)]);
        for at in [1, 3] {
            rows[at].assurance = sotto_owner::Assurance::Unchecked;
        }
        let lines = lines(rows);
        assert_eq!(lines[0], "mean(t) [°C], 1 group without a value, 1 value unchecked (? under it)");
        let axis = lines.iter().find(|line| line.contains('└')).expect("the axis");
        // The middles of five groups lie at a quarter of the columns each.
        let columns = 80 - axis.chars().position(|mark| mark == '└').expect("the corner") - 1;
        let marks: Vec<usize> =
            axis.chars().rev().enumerate().filter(|(_, mark)| *mark == '?').map(|(at, _)| at).collect();
        assert_eq!(marks.len(), 1, "{axis}");
        assert!(marks[0].abs_diff(3 * columns / 4) <= 1, "{axis}");
    }

    #[test]
    fn a_single_point_is_a_dot_in_the_middle() {
        let lines = lines(hourly("mean(t)", &[Some(5.0)]));
        let dotted: Vec<&String> =
            lines.iter().filter(|line| line.contains(|c| c > '\u{2800}' && c <= '\u{28FF}')).collect();
        assert_eq!(dotted.len(), 1);
        assert!(dotted[0].starts_with("5.0 ┤"));
        // 75 columns: dot 75 of 0 … 149 is the right one of column 37.
        assert_eq!(
            dotted[0].chars().filter(|c| matches!(c, '\u{2801}'..='\u{28FF}')).collect::<String>(),
            "⠐"
        );
    }

    #[test]
    fn a_bound_is_shaded_if_it_can_be_seen_and_said_if_not() {
        let with =
            |bound| lines((0..2).map(|at| row("mean(t)", None, at, Some(4.0 * at as f64), bound)).collect());
        assert_eq!(with(0.0)[0], "mean(t) [°C]");
        assert_eq!(with(0.0123)[0], "mean(t) [°C] (± 0.013)");
        let shaded = with(1.0);
        assert_eq!(shaded[0], "mean(t) [°C] (shaded: ± bound)");
        let count = |lines: &[String]| {
            lines.concat().chars().filter(|c| matches!(c, '\u{2801}'..='\u{28FF}')).count()
        };
        assert!(count(&shaded) > 2 * count(&with(0.0)));
    }

    #[test]
    fn no_value_is_no_chart() {
        assert_eq!(plot(&answer(hourly("mean(t)", &[None, Some(f64::NAN)]))), "mean(t) [°C]: no value");
        assert_eq!(plot(&answer(Vec::new())), "");
    }
}
