//! Encodings of text.

use std::borrow::Cow;

/// The encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8. If given explicitly, invalid bytes become replacement characters instead of errors.
    Utf8,
    /// ISO 8859-1: each byte is the character with its number.
    Latin1,
}

/// Decodes bytes as text. Returns `None` if no encoding is given and the bytes are not UTF-8.
pub(in crate::source) fn decode(bytes: &[u8], encoding: Option<Encoding>) -> Option<Cow<'_, str>> {
    match encoding {
        None => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Some(Encoding::Utf8) => Some(String::from_utf8_lossy(bytes)),
        Some(Encoding::Latin1) if bytes.is_ascii() => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Some(Encoding::Latin1) => Some(Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect())),
    }
}
