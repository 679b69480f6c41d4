//! Names of inputs and outputs.

use alloc::string::String;

use crate::limits;

/// Returns true if `name` is a valid name of an input or an output: 1 to [`limits::NAME_BYTES`] bytes of
/// `A-Z a-z 0-9 _ . -`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=limits::NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// Returns the first [`limits::NAME_BYTES`] characters of an arbitrary name, escaped for an error message.
pub(crate) fn excerpt(name: &str) -> String {
    excerpt_of(name, limits::NAME_BYTES)
}

/// Returns the first `characters` characters of an arbitrary text, escaped for an error message.
pub(crate) fn excerpt_of(text: &str, characters: usize) -> String {
    text.chars().take(characters).flat_map(char::escape_debug).collect()
}
