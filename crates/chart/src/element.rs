//! Elements of SVG and HTML, written without markup from outside.

use std::fmt::{self, Display, Write as _};

/// An element. Names are the program's own; attributes and text are escaped.
///
/// Example: [`crate`].
#[derive(Clone)]
#[must_use]
pub struct Element {
    name: &'static str,
    classes: String,
    attributes: String,
    content: String,
}

impl Element {
    /// Makes an element without attributes and content.
    pub fn new(name: &'static str) -> Self {
        Self { name, classes: String::new(), attributes: String::new(), content: String::new() }
    }

    /// Adds a class of a style sheet.
    pub fn class(mut self, name: &str) -> Self {
        let gap = if self.classes.is_empty() { "" } else { " " };
        // Writing into a string cannot fail, here and below.
        let _ = write!(self.classes, "{gap}{}", escape(name));
        self
    }

    /// Appends an attribute. The caller sets each name once.
    pub fn set(mut self, name: &str, value: impl Display) -> Self {
        let _ = write!(self.attributes, " {name}=\"{}\"", escape(&value.to_string()));
        self
    }

    /// Appends text.
    pub fn text(mut self, text: &str) -> Self {
        self.content.push_str(&escape(text));
        self
    }

    /// Appends an element.
    pub fn child(self, child: Self) -> Self {
        self.children([child])
    }

    /// Appends elements.
    pub fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        for child in children {
            let _ = write!(self.content, "{child}");
        }
        self
    }

    /// Appends a title, which browsers show over the element and screen readers say.
    pub fn tooltip(self, text: &str) -> Self {
        self.child(Self::new("title").text(text))
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, classes, attributes, content } = self;
        write!(f, "<{name}")?;
        if !classes.is_empty() {
            write!(f, " class=\"{classes}\"")?;
        }
        match content.as_str() {
            "" => write!(f, "{attributes}/>"),
            _ => write!(f, "{attributes}>{content}</{name}>"),
        }
    }
}

/// A distance along the width of a drawing.
///
/// Example: [`crate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Units of the drawing, pixels unless it has a `viewBox`; written with one decimal.
    Units(f64),
    /// Part of the drawing's width, 0 … 100; written with three decimals.
    Percent(f64),
}

impl From<f64> for Length {
    fn from(units: f64) -> Self {
        Self::Units(units)
    }
}

impl Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding 0 makes 0 of −0.
        match self {
            Self::Units(units) => write!(f, "{}", (10.0 * units).round() / 10.0 + 0.0),
            Self::Percent(percent) => write!(f, "{}%", (1000.0 * percent).round() / 1000.0 + 0.0),
        }
    }
}

/// Escapes text for elements and quoted attributes. Characters that XML forbids become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(character),
            character if character.is_control() => escaped.push('\u{FFFD}'),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_markup_is_escaped() {
        assert_eq!(
            escape("<a b=\"c\" d='e'>&\u{0}\u{1b}°"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\u{FFFD}\u{FFFD}°"
        );
        let mark = Element::new("a").set("b", "\"").class("c").class("d").tooltip("1 < 2");
        assert_eq!(mark.to_string(), "<a class=\"c d\" b=\"&quot;\"><title>1 &lt; 2</title></a>");
    }

    #[test]
    fn lengths_are_short() {
        let lengths = [Length::Units(12.34), Length::Units(-0.01), Length::Percent(12.5)];
        assert_eq!(lengths.map(|length| length.to_string()), ["12.3", "0", "12.5%"]);
    }
}
