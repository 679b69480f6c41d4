//! The causes of answers without a value.

use serde::{Deserialize, Serialize};

/// The cause of an answer without a value.
///
/// Example: [`Empty`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// No device has sent a window with the channels of the question.
    NothingArrived,
    /// All readings lie before or after the time of the question.
    OtherTime,
    /// The windows of this time have no reading in it.
    NoReading,
    /// The unit of a channel was another one when the readings were sent.
    OtherUnit,
    /// The secret of the device is missing.
    NoSecret,
    /// Every window of this time was left out for another reason, which a note tells.
    LeftOut,
}

/// The reason why an answer has no value.
///
/// ```
/// use sotto_owner::{Cause, Empty};
///
/// let empty: Empty = serde_json::from_str(r#"{
///     "cause": "other-time", "exit_code": 11, "reason": "readings of gw lie from 2024-03-04 to 2024-03-08"
/// }"#)?;
/// assert_eq!((empty.cause, empty.exit_code), (Cause::OtherTime, Cause::OtherTime.exit_code()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {
    /// The cause.
    pub cause: Cause,
    /// The exit code of `sotto ask`.
    pub exit_code: u8,
    /// The cause in words, with the way out.
    pub reason: String,
}

impl Cause {
    /// Returns the exit code of `sotto ask` for an answer without a value.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::NothingArrived => 10,
            Self::OtherTime => 11,
            Self::NoReading => 12,
            Self::OtherUnit => 13,
            Self::NoSecret => 14,
            Self::LeftOut => 15,
        }
    }
}
