//! Heat maps: a grid of cells whose shade is a value.

use crate::element::{Element, Length};
use crate::linear::Linear;
use crate::marks::{line, rectangle, words, words_around};

/// The faintest shade: a cell with the lowest value is still seen.
const FAINTEST: f64 = 0.1;
/// Width of a patch of the legend, in pixels.
const PATCH: f64 = 46.0;

/// A cell of a heat map.
///
/// Example: [`Heat`].
pub struct HeatCell {
    /// The number of its column.
    pub column: usize,
    /// The number of its line.
    pub line: usize,
    /// The value; None if there is none, which is drawn as a stroke.
    pub value: Option<f64>,
    /// The text that browsers show over it.
    pub text: String,
}

/// The place of a heat map in a drawing as wide as its page: columns are percents of the width, lines have pixels.
///
/// ```
/// use sotto_chart::{Heat, HeatCell, Linear, drawing};
///
/// let heat = Heat { margin: 10.0, pitch: 20.0, scale: Linear::round(0.0, 8.0, 4), class: "c0".into() };
/// let (columns, lines) = (["0".to_owned(), "1".to_owned()], ["mon".to_owned()]);
/// let cells = [HeatCell { column: 1, line: 0, value: Some(4.0), text: "mon 1: 4 °C".into() }];
/// let svg = drawing("Temperature").children(heat.draw(&columns, &lines, &cells)).to_string();
/// assert!(svg.contains("x=\"55%\"") && svg.contains("fill-opacity=\"0.55\"") && svg.contains("<title>mon 1: 4 °C</title>"));
/// assert_eq!(heat.legend("°C").to_string().matches("<rect").count(), 5, "a patch for each tick");
/// ```
#[derive(Clone, Debug)]
pub struct Heat {
    /// Part of the width that the names of lines take, 0 … 100.
    pub margin: f64,
    /// Height of a line in pixels.
    pub pitch: f64,
    /// The values of the faintest and of the fullest shade.
    pub scale: Linear,
    /// The class of the colour.
    pub class: String,
}

impl Heat {
    /// Returns the height of so many lines with the names of columns under them.
    pub fn height(&self, lines: usize) -> f64 {
        self.pitch * lines as f64 + 24.0
    }

    /// Returns the cells, the names of the lines, and those of columns: as many as there is room for.
    pub fn draw(&self, columns: &[String], lines: &[String], cells: &[HeatCell]) -> Vec<Element> {
        let width = (100.0 - self.margin) / columns.len().max(1) as f64;
        let left = |column: usize| self.margin + width * column as f64;
        let mut drawn = Vec::with_capacity(cells.len() + columns.len() + lines.len());
        for (at, name) in lines.iter().enumerate() {
            drawn.push(words(0.0, self.pitch * (at as f64 + 0.5) + 4.0, name));
        }
        let bottom = self.pitch * lines.len() as f64;
        let each = columns.len().div_ceil(12).max(1);
        for (at, name) in columns.iter().enumerate().step_by(each) {
            let middle = Length::Percent(left(at) + width / 2.0);
            drawn.push(words_around(middle, bottom + 18.0, name));
        }
        drawn.extend(cells.iter().map(|cell| {
            let (x, top) = (left(cell.column), self.pitch * cell.line as f64);
            let mark = match cell.value {
                Some(value) => {
                    rectangle(Length::Percent(x), top + 0.5, Length::Percent(width * 0.97), self.pitch - 1.0)
                        .class(&self.class)
                        .set("fill-opacity", format_args!("{:.2}", self.opacity(value)))
                }
                None => {
                    let ends = [x + width * 0.35, x + width * 0.6].map(Length::Percent);
                    line(ends, [top + self.pitch / 2.0; 2]).class("whisker")
                }
            };
            mark.tooltip(&cell.text)
        }));
        drawn
    }

    fn opacity(&self, value: f64) -> f64 {
        FAINTEST + (1.0 - FAINTEST) * self.scale.part(value)
    }

    /// Returns the legend as a drawing: a patch for each tick of the scale, and the unit.
    pub fn legend(&self, unit: &str) -> Element {
        let ticks: Vec<f64> = self.scale.ticks().collect();
        let unit_at = PATCH * ticks.len() as f64 + 8.0;
        let mut svg = Element::new("svg").class("chart").set("aria-hidden", true);
        svg = svg.set("width", unit_at + 80.0).set("height", 36);
        for (at, tick) in ticks.iter().enumerate() {
            let x = PATCH * at as f64;
            let patch = rectangle(x, 0.0, PATCH - 2.0, 14.0).class(&self.class);
            svg = svg.child(patch.set("fill-opacity", format_args!("{:.2}", self.opacity(*tick))));
            svg = svg.child(words_around(x + PATCH / 2.0, 30.0, &self.scale.label(*tick)));
        }
        svg.child(words(unit_at, 30.0, unit))
    }
}
