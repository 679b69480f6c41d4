//! A line of text with a caret under one character, safe to print on a terminal.

use alloc::string::String;
use core::fmt;

/// Maximum characters drawn before and after the caret.
const DRAWN: usize = 36;

/// An excerpt of a text, and the number of its characters before the caret.
///
/// ```
/// use sotto_program::text::Caret;
///
/// let (column, drawn) = Caret::new("mean(boiler", 11);
/// assert_eq!(column, 12);
/// assert_eq!(drawn.to_string(), "    mean(boiler\n               ^");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Caret {
    line: String,
    caret: usize,
}

impl Caret {
    /// Draws byte `offset` of `text`, a character boundary. Also returns the column of that byte, in characters from 1.
    #[must_use]
    pub fn new(text: &str, offset: usize) -> (usize, Self) {
        let (before, after) = text.split_at(offset);
        let column = before.chars().count() + 1;
        let start = before.char_indices().rev().nth(DRAWN).map(|(at, c)| at + c.len_utf8());
        let end = after.char_indices().nth(DRAWN).map(|(at, _)| at);

        let mut line = String::new();
        line.push_str(if start.is_some() { "…" } else { "" });
        line.extend(before[start.unwrap_or(0)..].chars().map(printable));
        let caret = line.chars().count();
        line.extend(after[..end.unwrap_or(after.len())].chars().map(printable));
        line.push_str(if end.is_some() { "…" } else { "" });
        (column, Self { line, caret })
    }
}

/// Replaces control characters, which a terminal would obey, and makes white space one column wide.
fn printable(character: char) -> char {
    match character {
        c if c.is_whitespace() => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

impl fmt::Display for Caret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, caret } = self;
        write!(out, "    {line}\n    {:caret$}^", "")
    }
}
