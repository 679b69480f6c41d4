//! Readings and channels.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{ChannelKind, PackError};

/// Maximum bytes of a channel's name.
pub const NAME_BYTES: usize = 64;
/// Maximum bytes of a unit.
pub const UNIT_BYTES: usize = 32;

/// One value of one channel at one time.
///
/// Example: [`crate::Window`]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Time of the reading: milliseconds since 1970-01-01 00:00 UTC.
    pub at: i64,
    /// The channel's position in the layout.
    pub channel: u16,
    /// The value in the channel's unit.
    pub value: f64,
}

/// A series of readings of a device, with its unit and declared range.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout};
///
/// let boiler = Channel {
///     name: "boiler".into(),
///     unit: "°C".into(),
///     minimum: -20.0,
///     maximum: 120.0,
///     resolution: Some(0.1),
///     ..Channel::default()
/// };
/// let layout = Layout::smallest(vec![boiler], 24, 2048, 2, Encoding::Resolution)?;
/// assert_eq!(layout.channels()[0].unit, "°C");
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// 1 to [`NAME_BYTES`] bytes without control characters; unique among the channels of a layout.
    pub name: String,
    /// At most [`UNIT_BYTES`] bytes without control characters; empty if there is no unit.
    pub unit: String,
    /// The smallest possible value; finite.
    pub minimum: f64,
    /// The largest possible value; finite, above the smallest.
    pub maximum: f64,
    /// The smallest step between two distinct values of the sensor, in the channel's unit; finite, above 0.
    /// Required by [`crate::Encoding::Resolution`], whose whole numbers count these steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// What the readings are.
    #[serde(default, skip_serializing_if = "ChannelKind::is_interval")]
    pub kind: ChannelKind,
}

impl Channel {
    /// Checks name, unit and kind. Ranges are checked where they are used.
    pub(crate) fn check(&self, index: usize) -> Result<(), PackError> {
        let clean = |text: &str| !text.chars().any(char::is_control);
        if self.name.is_empty() || self.name.len() > NAME_BYTES || !clean(&self.name) {
            return Err(PackError::ChannelText { index, what: "name" });
        }
        if self.unit.len() > UNIT_BYTES || !clean(&self.unit) {
            return Err(PackError::ChannelText { index, what: "unit" });
        }
        self.check_kind().map_err(|reason| PackError::Kind { channel: self.name.clone(), reason })
    }

    /// Checks the kind.
    ///
    /// # Errors
    /// The reason why the channel cannot have it, with what to do.
    pub fn check_kind(&self) -> Result<(), String> {
        self.kind.rules().check(&self.unit, (self.minimum, self.maximum), self.resolution)
    }
}
