//! Refusals of windows that are to be encrypted.

use core::fmt;

/// The reason why a window is not encrypted.
///
/// Example: [`Encryptor`](crate::Encryptor)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncryptError {
    /// The pad number is not above those of all windows before.
    Number,
    /// The part is not above those of this window that were encrypted.
    Part,
    /// The window has more ticks than the form allows.
    Ticks,
    /// The number of values or of counts is not the form's.
    Values,
    /// A value is outside the range of its place.
    Range,
    /// The output does not have the length of a body.
    Output,
    /// The residues of the tag are those of fewer places or counts.
    Key,
}

impl fmt::Display for EncryptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "the pad number was used already: take one above those of all windows before",
            Self::Part => {
                "the part of this window was encrypted already: begin a window with the next pad number"
            }
            Self::Ticks => "the window has more ticks than its form allows",
            Self::Values => "the number of values or of counts is not the one of the window's form",
            Self::Range => "a value is outside the range that its place was declared with",
            Self::Output => "the output does not have the length of the window's body",
            Self::Key => {
                "the key of the tag has fewer places or counts than the window: make it for the window's form"
            }
        })
    }
}

impl core::error::Error for EncryptError {}
