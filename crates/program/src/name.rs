//! Names of inputs and outputs.

use crate::limits;

/// Whether `name` may name an input or an output: 1 to [`limits::NAME_BYTES`] bytes of `A-Z a-z 0-9 _ . -`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=limits::NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// The first [`limits::NAME_BYTES`] characters of a name that may be anything, fit to stand in an error.
pub(crate) fn excerpt(name: &str) -> String {
    excerpt_of(name, limits::NAME_BYTES)
}

/// The first `characters` of a text that may be anything, fit to stand in an error.
pub(crate) fn excerpt_of(text: &str, characters: usize) -> String {
    text.chars().take(characters).flat_map(char::escape_debug).collect()
}
