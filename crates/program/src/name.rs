//! Names of inputs and outputs.

use crate::limits;

/// Returns true if `name` is a valid name of an input or an output: 1 to [`limits::NAME_BYTES`] bytes of
/// `A-Z a-z 0-9 _ . -`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=limits::NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}
