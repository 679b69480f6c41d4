//! Figures, rules of axes, and marks.

use std::fmt::Write as _;

use crate::element::{Element, Length};

/// Returns a figure with its caption; `detail` is quieter, and left out if empty.
pub fn figure(caption: &str, detail: &str) -> Element {
    let mut line = Element::new("figcaption").text(caption);
    if !detail.is_empty() {
        line = line.text(" ").child(Element::new("span").class("quiet").text(detail));
    }
    Element::new("figure").child(line)
}

/// Returns an empty drawing. Screen readers say its label.
pub fn drawing(label: &str) -> Element {
    Element::new("svg").set("role", "img").set("aria-label", label).tooltip(label)
}

/// Returns a straight line, in the colour of its class.
pub fn line(x: [Length; 2], y: [f64; 2]) -> Element {
    let [top, bottom] = y.map(Length::Units);
    Element::new("line").set("x1", x[0]).set("x2", x[1]).set("y1", top).set("y2", bottom)
}

/// Returns a dot of class `point`.
pub fn point(x: impl Into<Length>, y: f64, radius: f64) -> Element {
    let element = Element::new("circle").class("point").set("cx", x.into());
    element.set("cy", Length::Units(y)).set("r", radius)
}

/// Returns a filled rectangle of class `point`, from its upper left corner.
pub fn rectangle(x: impl Into<Length>, y: f64, width: impl Into<Length>, height: f64) -> Element {
    let element = Element::new("rect").class("point").set("x", x.into()).set("y", Length::Units(y));
    element.set("width", width.into()).set("height", Length::Units(height))
}

/// Returns the data of a path through points.
pub fn path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (at, (x, y)) in points.into_iter().enumerate() {
        let _ = write!(text, "{}{x:.2} {y:.1}", if at == 0 { 'M' } else { 'L' });
    }
    text
}

/// Returns a text that begins at `x`, on the baseline `y`.
pub fn words(x: impl Into<Length>, y: f64, text: &str) -> Element {
    Element::new("text").set("x", x.into()).set("y", Length::Units(y)).text(text)
}

/// Returns a text that ends at `x`.
pub fn words_before(x: impl Into<Length>, y: f64, text: &str) -> Element {
    words(x, y, text).set("text-anchor", "end")
}

/// Returns a text with its middle at `x`.
pub fn words_around(x: impl Into<Length>, y: f64, text: &str) -> Element {
    words(x, y, text).set("text-anchor", "middle")
}

/// Returns a tick of a vertical axis: the rule from `left` to `right`, and the label left of it.
pub fn level(left: f64, right: Length, y: f64, label: &str) -> [Element; 2] {
    [line([left.into(), right], [y, y]), words_before(left - 8.0, y + 4.0, label)]
}

/// Returns a tick of a horizontal axis: the rule from `top` to `bottom`, and the label below it.
pub fn column(x: impl Into<Length>, top: f64, bottom: f64, label: &str) -> [Element; 2] {
    let x = x.into();
    [line([x, x], [top, bottom]), words_around(x, bottom + 18.0, label)]
}
