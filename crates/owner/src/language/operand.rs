//! A channel of one device: `temp of boiler`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::written::{Name, NameBehindOf};

/// A channel of one device.
///
/// ```
/// use sotto_owner::question::{Call, OfDevice, Question};
///
/// let of = |device| OfDevice::new("temp", device);
/// let question = Question::select(Call::correlation_of(of("boiler"), of("roof"))).build()?;
/// assert_eq!(question.to_string(), "correlation(temp of boiler, temp of roof)");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfDevice {
    /// The channel's name.
    pub channel: String,
    /// The device's name.
    pub device: String,
}

impl OfDevice {
    /// Returns this channel of this device.
    #[must_use]
    pub fn new(channel: impl Into<String>, device: impl Into<String>) -> Self {
        Self { channel: channel.into(), device: device.into() }
    }

    /// Returns true if the device is a parameter without a value. No device's name begins with a dollar sign.
    pub(crate) fn is_open(&self) -> bool {
        self.device.starts_with('$')
    }

    /// Returns true if this is a channel of the device, perhaps by the value of a parameter.
    pub(crate) fn may_be_of(&self, device: &str) -> bool {
        self.device == device || self.is_open()
    }
}

impl Display for OfDevice {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", Name(&self.channel), NameBehindOf(&self.device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::{Call, Question};

    #[test]
    fn devices_with_the_names_of_words_behind_of_are_read_back() {
        let of = |device| OfDevice::new("x", device);
        for device in ["tag", "all", "devices", "of", "by"] {
            let question =
                Question::select(Call::correlation_of(of(device), of("roof"))).build().expect(device);
            assert_eq!(question.to_string().parse(), Ok(question), "{device}");
        }
    }
}
