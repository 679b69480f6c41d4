//! What a device says of a window's slots: it travels, signed, beside the ciphertext, and the owner reads it.

use serde::{Deserialize, Serialize};

use crate::{Layout, LeftOut, Packed, Presence};

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
    /// Ticks that the window covers, at most the layout's; 0 in a description of an agent that did not say so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub length: u32,
    /// For each channel, which ticks have a reading. None at all where every channel has its readings at the first ticks; see
    /// [`WindowDescription::presence`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub presence: Vec<Presence>,
    /// For each channel, readings that were left out. None at all where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// True if a generator made the readings up: no sensor measured them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub generated: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(length: &u32) -> bool {
    *length == 0
}

/// As [`WindowDescription`], before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    layout: Layout,
    present: Vec<u32>,
    start: i64,
    period: u32,
    #[serde(default)]
    length: u32,
    #[serde(default)]
    presence: Vec<Presence>,
    #[serde(default)]
    left_out: Vec<LeftOut>,
    #[serde(default)]
    generated: bool,
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
    /// More ticks than the layout has.
    #[error("a window cannot cover {length} ticks: its layout has {ticks}")]
    Length {
        /// Ticks that it should cover.
        length: u32,
        /// Ticks of the layout.
        ticks: u32,
    },
    /// The ticks of a channel's readings are not as many as its readings, or lie outside the window.
    #[error("the ticks of channel number {channel} do not fit its {count} readings")]
    Presence {
        /// Position of the channel.
        channel: usize,
        /// Readings of the channel.
        count: u32,
    },
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

    /// Ticks that the window covers.
    #[must_use]
    pub fn ticks(&self) -> u32 {
        if self.length == 0 { self.layout.ticks() } else { self.length }
    }

    /// When the window ends: milliseconds since 1970.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.start.saturating_add(i64::from(self.period) * i64::from(self.ticks()))
    }

    /// The ticks of a channel that have a reading. None where an agent did not say so and some are missing.
    #[must_use]
    pub fn presence(&self, channel: u16) -> Option<Presence> {
        let count = *self.present.get(usize::from(channel))?;
        match self.presence.get(usize::from(channel)) {
            Some(presence) => Some(presence.clone()),
            None if self.length > 0 || count == self.layout.ticks() => Some(Presence::first(count)),
            None => None,
        }
    }

    /// All readings in the window.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.present.iter().copied().map(u64::from).sum()
    }
}

impl From<&Packed> for WindowDescription {
    fn from(packed: &Packed) -> Self {
        let Packed { layout, present, start, period, length, presence, left_out, .. } = packed;
        let gaps = presence.iter().zip(present).any(|(presence, count)| presence.end() != *count);
        let any_left_out = left_out.iter().any(|left_out| !left_out.is_empty());
        Self {
            layout: layout.clone(),
            present: present.clone(),
            start: *start,
            period: *period,
            length: *length,
            presence: if gaps { presence.clone() } else { Vec::new() },
            left_out: if any_left_out { left_out.clone() } else { Vec::new() },
            generated: false,
        }
    }
}

impl TryFrom<Unchecked> for WindowDescription {
    type Error = DescriptionError;

    fn try_from(unchecked: Unchecked) -> Result<Self, DescriptionError> {
        let Unchecked { layout, present, start, period, length, presence, left_out, generated } = unchecked;
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
        if length > ticks {
            return Err(DescriptionError::Length { length, ticks });
        }
        for found in [presence.len(), left_out.len()] {
            if found != 0 && found != expected {
                return Err(DescriptionError::Counts { expected, found });
            }
        }
        let end = if length == 0 { ticks } else { length };
        let fits = |(presence, count): (&Presence, &u32)| presence.count() == *count && presence.end() <= end;
        if let Some(channel) = presence.iter().zip(&present).position(|pair| !fits(pair)) {
            return Err(DescriptionError::Presence { channel, count: present[channel] });
        }
        if let Some(channel) = present.iter().position(|count| *count > end) {
            return Err(DescriptionError::TooMany { channel, count: present[channel], ticks: end });
        }
        Ok(Self { layout, present, start, period, length, presence, left_out, generated })
    }
}

impl From<serde_json::Error> for DescriptionError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { reason: error.to_string() }
    }
}
