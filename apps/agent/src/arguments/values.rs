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

/// Reads a time such as 7m, 1h 30m or 2d, in milliseconds below 2^32; a day has 24 hours.
pub(super) fn duration(text: &str) -> Result<u32, &'static str> {
    let milliseconds = milliseconds(text).and_then(|milliseconds| u32::try_from(milliseconds).ok());
    milliseconds.ok_or("give a time of less than 49 days, such as 30s, 7m or 2h")
}

/// Reads a time of up to a hundred years, in milliseconds.
pub(super) fn long_duration(text: &str) -> Result<i64, &'static str> {
    let most = 36_525 * 86_400_000;
    let milliseconds = milliseconds(text).and_then(|milliseconds| i64::try_from(milliseconds).ok());
    milliseconds.filter(|time| (0..=most).contains(time)).ok_or("give a time, such as 12h, 7d or 30d")
}

fn milliseconds(text: &str) -> Option<i128> {
    let span = text.parse::<jiff::Span>().ok()?;
    Some(span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_units_that_people_write() {
        let read = ["30s", "7m", "1h 30m", "2d", "250ms"].map(duration);
        assert_eq!(read, [30_000, 420_000, 5_400_000, 172_800_000, 250].map(Ok));
        for wrong in ["7", "-5m", "50d", "soon", ""] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
