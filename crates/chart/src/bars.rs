//! Horizontal bars.

use crate::element::Element;
use crate::marks::{rectangle, words, words_before};

/// One bar.
///
/// Example: [`Bars`].
pub struct Bar {
    /// The text before the bar.
    pub name: String,
    /// The text behind the bar.
    pub value: String,
    /// A CSS colour.
    pub colour: &'static str,
    /// Length, as a part of the room: 0 … 1.
    pub part: f64,
}

/// The place of bars in a drawing, in its units.
///
/// ```
/// use sotto_chart::{Bar, Bars, drawing};
///
/// let place = Bars { left: 80.0, top: 0.0, room: 200.0, pitch: 20.0 };
/// let bar = Bar { name: "add".into(), value: "3 µs".into(), colour: "#0072b2", part: 0.5 };
/// let svg = drawing("Times").children(place.draw(&[bar])).to_string();
/// assert!(svg.contains("<rect class=\"point\" x=\"80\" y=\"3\" width=\"100\" height=\"14\" color=\"#0072b2\"/>"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bars {
    /// Where bars begin; their names end before it.
    pub left: f64,
    /// The upper end of the first row.
    pub top: f64,
    /// Length of the longest bar.
    pub room: f64,
    /// Height of a row.
    pub pitch: f64,
}

impl Bars {
    /// Returns name, bar and value of each row.
    pub fn draw(&self, bars: &[Bar]) -> Vec<Element> {
        let row = |(at, bar): (usize, &Bar)| {
            let y = self.top + at as f64 * self.pitch;
            let (length, base) = (bar.part * self.room, y + self.pitch / 2.0 + 4.5);
            [
                words_before(self.left - 6.0, base, &bar.name),
                rectangle(self.left, y + 3.0, length, self.pitch - 6.0).set("color", bar.colour),
                words(self.left + length + 6.0, base, &bar.value),
            ]
        };
        bars.iter().enumerate().flat_map(row).collect()
    }
}
