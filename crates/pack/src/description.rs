//! What a device says of a window's slots: it travels, signed, beside the ciphertext, and the owner reads it.

use serde::{Deserialize, Serialize};

use crate::{Layout, Packed};

/// The longest description: 16 KiB.
pub const LARGEST_DESCRIPTION: usize = 16 << 10;

/// A [`Packed`] without its slots. Checked when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct WindowDescription {
    /// What stands where.
    pub layout: Layout,
    /// For each channel, how many readings there are: what a mean divides by.
    pub present: Vec<u32>,
    /// Where the window begins: milliseconds since 1970.
    pub start: i64,
    /// Milliseconds between ticks, at least 1.
    pub period: u32,
}

/// As [`WindowDescription`], before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    layout: Layout,
    present: Vec<u32>,
    start: i64,
    period: u32,
}

/// Why a description is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// More bytes than a description ever has.
    #[error(
        "a description of {bytes} bytes is too long: it has at most {LARGEST_DESCRIPTION}; use fewer channels"
    )]
    TooLong {
        /// Bytes there are.
        bytes: usize,
    },
    /// Not JSON, or not of this form.
    #[error("the description of the window cannot be read: {reason}")]
    Json {
        /// What is wrong, and where.
        reason: String,
    },
    /// Not one count for each channel.
    #[error("{found} counts of readings are given for {expected} channels")]
    Counts {
        /// Channels there are.
        expected: usize,
        /// Counts there are.
        found: usize,
    },
    /// More readings of a channel than there are ticks.
    #[error("channel number {channel} cannot have {count} readings: there are {ticks} ticks")]
    TooMany {
        /// Position of the channel.
        channel: usize,
        /// Readings it should have.
        count: u32,
        /// Ticks of the window.
        ticks: u32,
    },
    /// A period of 0.
    #[error("the period cannot be 0 ms")]
    Period,
}

impl WindowDescription {
    /// Reads a description of at most [`LARGEST_DESCRIPTION`] bytes.
    ///
    /// # Errors
    /// [`DescriptionError`] names the first thing that is wrong.
    pub fn parse(json: &[u8]) -> Result<Self, DescriptionError> {
        if json.len() > LARGEST_DESCRIPTION {
            return Err(DescriptionError::TooLong { bytes: json.len() });
        }
        // Unchecked first: then what the checks find keeps its type.
        serde_json::from_slice::<Unchecked>(json)?.try_into()
    }

    /// The description as JSON, for [`WindowDescription::parse`].
    ///
    /// # Errors
    /// [`DescriptionError::TooLong`] when channels are so many that it would not be accepted.
    pub fn to_json(&self) -> Result<Vec<u8>, DescriptionError> {
        let json = serde_json::to_vec(self)?;
        if json.len() > LARGEST_DESCRIPTION {
            return Err(DescriptionError::TooLong { bytes: json.len() });
        }
        Ok(json)
    }

    /// All readings in the window.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.present.iter().copied().map(u64::from).sum()
    }
}

impl From<&Packed> for WindowDescription {
    fn from(packed: &Packed) -> Self {
        let Packed { layout, present, start, period, .. } = packed;
        Self { layout: layout.clone(), present: present.clone(), start: *start, period: *period }
    }
}

impl TryFrom<Unchecked> for WindowDescription {
    type Error = DescriptionError;

    fn try_from(unchecked: Unchecked) -> Result<Self, DescriptionError> {
        let Unchecked { layout, present, start, period } = unchecked;
        let (expected, found, ticks) = (layout.channels().len(), present.len(), layout.ticks());
        if found != expected {
            return Err(DescriptionError::Counts { expected, found });
        }
        let too_many = present.iter().copied().enumerate().find(|(_, count)| *count > ticks);
        if let Some((channel, count)) = too_many {
            return Err(DescriptionError::TooMany { channel, count, ticks });
        }
        if period == 0 {
            return Err(DescriptionError::Period);
        }
        Ok(Self { layout, present, start, period })
    }
}

impl From<serde_json::Error> for DescriptionError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { reason: error.to_string() }
    }
}
