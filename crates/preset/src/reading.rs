//! The readings of a message.

use std::fmt;

use crate::kind::Kind;

/// The result of reading a message.
///
/// Example: [`Decoder`](crate::Decoder)
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// Readings of devices. A report may be empty.
    Reports(Vec<Report>),
    /// It was kept by the broker and states no time: its readings are of an unknown time, and not taken.
    Retained,
    /// It tells a unit or a kind, which later readings have.
    Learnt,
    /// The preset knows the topic, and that it has no readings.
    Ignored,
    /// The preset does not know the topic.
    Unknown,
    /// It is not of the form that the preset states.
    Refused(Refused),
}

/// The readings of one device at one time.
///
/// Example: [`Decoder`](crate::Decoder)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The device's name as its gateway says it.
    pub device: String,
    /// Further names of the device: parts of the topic, and those that the preset looks for.
    pub tags: Vec<(String, String)>,
    /// Milliseconds since 1970; `None` if the message states no time, or one before the year 2000.
    pub at: Option<i64>,
    /// The readings.
    pub readings: Vec<Reading>,
}

/// One reading.
///
/// Example: [`Decoder`](crate::Decoder)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The name of the channel: small letters, digits and `_`.
    pub channel: String,
    /// The value.
    pub value: Value,
    /// The unit, if the message or the preset states it.
    pub unit: Option<String>,
    /// The kind of the channel, if the preset or the message states it.
    pub kind: Option<Kind>,
}

/// The value of a reading. `Debug` does not show it.
///
/// Example: [`Decoder`](crate::Decoder)
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// A decimal number.
    Number(String),
    /// A word, such as a state.
    Text(String),
}

impl Value {
    /// Returns the number or the word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Number(text) | Self::Text(text) => text,
        }
    }

    /// Returns the value that a text states.
    pub(crate) fn of(text: &str) -> Self {
        if is_number(text) { Self::Number(text.to_owned()) } else { Self::Text(text.to_owned()) }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Number(_) => "Number",
            Self::Text(_) => "Text",
        })
    }
}

/// Returns true if the text is a finite decimal number.
fn is_number(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The reason why a message is not of the form that its preset states.
///
/// Example: [`Decoder`](crate::Decoder)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Refused {
    /// Longer than [`LONGEST_MESSAGE`](crate::LONGEST_MESSAGE).
    #[error("too long")]
    TooLong,
    /// No UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// No JSON, or JSON that is nested too deep.
    #[error("not JSON")]
    NotJson,
    /// More than 1,000 fields, or more than 16 levels of them.
    #[error("too many fields")]
    TooManyFields,
    /// The value is not where the preset states it.
    #[error("no value where the preset looks for it")]
    NoValue,
    /// A word where the preset states a number.
    #[error("not a number")]
    NotANumber,
    /// No name of a device.
    #[error("no device")]
    NoDevice,
    /// No telegram of a meter.
    #[error("not a telegram")]
    NotATelegram,
    /// The checksum of a telegram does not fit.
    #[error("a wrong checksum")]
    Checksum,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_decimals() {
        for number in ["0", "-1.5", "+3", "1e3", "007", "230.10", ".5"] {
            assert_eq!(Value::of(number), Value::Number(number.to_owned()));
        }
        for text in ["", "nan", "inf", "1e999", "on", "1,5", "0x10", "1.2.3", "-", "e", "2026-01-01"] {
            assert_eq!(Value::of(text), Value::Text(text.to_owned()));
        }
    }

    #[test]
    fn a_value_is_not_shown() {
        assert!(!format!("{:?}", Value::of("21.5")).contains("21"));
    }
}
