//! What a device measures.

use serde::{Deserialize, Serialize};

use crate::PackError;

/// Bytes of a channel's name.
pub const NAME_BYTES: usize = 64;
/// Bytes of a unit.
pub const UNIT_BYTES: usize = 32;

/// One value of one channel at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// When it was taken: milliseconds since 1970-01-01 00:00 UTC.
    pub at: i64,
    /// Which channel: its position in the layout.
    pub channel: u16,
    /// The value in the channel's unit.
    pub value: f64,
}

/// What a device measures again and again, and the range it declares for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// 1 to [`NAME_BYTES`] bytes without control characters; unlike that of every other channel of a layout.
    pub name: String,
    /// At most [`UNIT_BYTES`] bytes without control characters; empty when there is none.
    pub unit: String,
    /// The smallest value there can be; finite.
    pub minimum: f64,
    /// The largest value there can be; finite, above the smallest.
    pub maximum: f64,
    /// The step between two values that the sensor tells apart, in the channel's unit; finite, above 0. Whole numbers count these
    /// steps where the layout's encoding is [`crate::Encoding::Resolution`], which needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
}

impl Channel {
    /// Whether the name and the unit are as they should be. Ranges are checked where they are used.
    pub(crate) fn check_text(&self, index: usize) -> Result<(), PackError> {
        let clean = |text: &str| !text.chars().any(char::is_control);
        if self.name.is_empty() || self.name.len() > NAME_BYTES || !clean(&self.name) {
            return Err(PackError::ChannelText { index, what: "name" });
        }
        if self.unit.len() > UNIT_BYTES || !clean(&self.unit) {
            return Err(PackError::ChannelText { index, what: "unit" });
        }
        Ok(())
    }
}
