//! Reading texts that people wrote: numbers, excerpts for errors, a caret under a character. The parser of expressions uses
//! it, and so do other languages of this project.

mod caret;
mod number;

use alloc::string::String;

pub use caret::Caret;
pub use number::{Number, number_length, run};

use crate::limits;

/// Returns the first [`limits::NAME_BYTES`] characters of an arbitrary name, escaped for an error message.
#[must_use]
pub fn excerpt(name: &str) -> String {
    excerpt_of(name, limits::NAME_BYTES)
}

/// Returns the first `characters` characters of an arbitrary text, escaped for an error message.
#[must_use]
pub fn excerpt_of(text: &str, characters: usize) -> String {
    text.chars().take(characters).flat_map(char::escape_debug).collect()
}

/// Returns a character as errors show it; None for the end of the text.
#[must_use]
pub fn found_char(character: Option<char>) -> String {
    match character {
        None => "the end".into(),
        Some(character) => format!("'{}'", character.escape_debug()),
    }
}
