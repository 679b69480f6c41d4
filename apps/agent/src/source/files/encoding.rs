//! Encodings of text, by the names of the Encoding Standard.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(pub(super) &'static encoding_rs::Encoding);

/// No encoding has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give the name of an encoding, such as utf-8, utf-16le, latin1 or windows-1252")]
pub struct NoEncoding;

impl Encoding {
    /// UTF-8. If given explicitly, invalid bytes become replacement characters.
    pub const UTF8: Self = Self(encoding_rs::UTF_8);
    /// ISO 8859-1, read as its superset Windows-1252.
    pub const LATIN1: Self = Self(encoding_rs::WINDOWS_1252);
    /// UTF-16, the low byte first.
    pub const UTF16LE: Self = Self(encoding_rs::UTF_16LE);
    /// UTF-16, the high byte first.
    pub const UTF16BE: Self = Self(encoding_rs::UTF_16BE);

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl FromStr for Encoding {
    type Err = NoEncoding;

    fn from_str(name: &str) -> Result<Self, NoEncoding> {
        encoding_rs::Encoding::for_label(name.as_bytes()).map(Self).ok_or(NoEncoding)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Decodes bytes as UTF-8, and bytes that are not UTF-8 as Windows-1252. Digits, signs and marks are the same bytes in
/// all encodings that a file without a named encoding is likely to have, so no number depends on this.
pub(in crate::source) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}
