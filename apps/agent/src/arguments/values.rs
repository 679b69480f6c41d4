//! Values of options.

use std::str::FromStr;

use crate::source::Decimal;

/// A value of one channel, `CHANNEL=VALUE`, or of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfChannel(String);

impl OfChannel {
    /// Returns the channel and the value. A text before `=` that is none of these channels belongs to the value.
    #[must_use]
    pub fn of(&self, channels: &[&str]) -> (Option<&str>, &str) {
        match self.0.split_once('=') {
            Some((channel, value)) if channels.contains(&channel) => (Some(channel), value),
            _ => (None, &self.0),
        }
    }
}

impl FromStr for OfChannel {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

/// A point or a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecimalMark(pub Decimal);

/// The text is neither a point nor a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give a point or a comma: . or ,")]
pub struct NoMark;

impl FromStr for DecimalMark {
    type Err = NoMark;

    fn from_str(text: &str) -> Result<Self, NoMark> {
        match text {
            "." | "point" => Ok(Self(Decimal::Point)),
            "," | "comma" => Ok(Self(Decimal::Comma)),
            _ => Err(NoMark),
        }
    }
}

/// Reads the character between columns.
pub(super) fn delimiter(text: &str) -> Result<char, &'static str> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(character), None) => Ok(character),
        _ => Err("give one character, or tab"),
    }
}
