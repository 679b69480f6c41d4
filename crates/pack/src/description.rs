//! The device's description of a window's slots. It is sent, signed, with the ciphertext, for the owner.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{Layout, LeftOut, Packed, Period, Presence, Replaces};

/// Maximum bytes of a description: 16 KiB.
pub const LARGEST_DESCRIPTION: usize = 16 << 10;

/// The fields of a [`Packed`] without its slots. Checked when it is read.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout, Period, Reading, Window, WindowDescription};
///
/// let load = Channel { name: "load".into(), unit: "%".into(), maximum: 100.0, ..Channel::default() };
/// let layout = Layout::smallest(vec![load], 3, 8, 2, Encoding::Integer { bits: 8 })?;
/// let start = 1_700_000_000_000;
/// let mut window = Window::new(layout, start, Period::from_milliseconds(1000))?;
/// // The reading of the second tick is missing.
/// for (at, value) in [(start, 20.0), (start + 2000, 30.0)] {
///     window.push(&Reading { at, channel: 0, value })?;
/// }
/// let description = WindowDescription::from(&window.close());
/// assert_eq!(description.readings(), 2);
/// assert_eq!(description.end(), 1_700_000_003_000);
/// assert_eq!(WindowDescription::parse(&description.to_json()?)?, description);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct WindowDescription {
    /// The slots of channels and ticks.
    pub layout: Layout,
    /// The number of readings of each channel: the divisor of a mean.
    pub present: Vec<u32>,
    /// Start of the window: milliseconds since 1970.
    pub start: i64,
    /// The time between ticks: a number of milliseconds, or a fraction of them as two numbers.
    pub period: Period,
    /// Ticks of the window, at most the layout's; 0 in the descriptions of old agents, which did not state
    /// it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub length: u32,
    /// The ticks with a reading, for each channel. Empty if every channel has its readings at the first
    /// ticks; see [`WindowDescription::presence`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub presence: Vec<Presence>,
    /// The readings left out, for each channel. Empty if none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The number of readings of each channel that were rounded: others are as the device got them. None if the device does not
    /// count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounded: Option<Vec<u32>>,
    /// True if a generator made the readings up instead of a sensor.
    #[serde(default, skip_serializing_if = "is_false")]
    pub generated: bool,
    /// The windows in whose place this one comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replaces>,
    /// True if the window is a piece of one that was still open: a later window comes in its place, and the cloud then drops
    /// its body.
    #[serde(default, skip_serializing_if = "is_false")]
    pub provisional: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(length: &u32) -> bool {
    *length == 0
}

/// The fields of [`WindowDescription`] before the check.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    layout: Layout,
    present: Vec<u32>,
    start: i64,
    period: Period,
    #[serde(default)]
    length: u32,
    #[serde(default)]
    presence: Vec<Presence>,
    #[serde(default)]
    left_out: Vec<LeftOut>,
    #[serde(default)]
    rounded: Option<Vec<u32>>,
    #[serde(default)]
    generated: bool,
    #[serde(default)]
    replaces: Option<Replaces>,
    #[serde(default)]
    provisional: bool,
}

/// The reason why a description is refused.
///
/// ```
/// use sotto_pack::{DescriptionError, LARGEST_DESCRIPTION, WindowDescription};
///
/// let bytes = LARGEST_DESCRIPTION + 1;
/// let refused = WindowDescription::parse(&vec![b' '; bytes]);
/// assert_eq!(refused, Err(DescriptionError::TooLong { bytes }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// The description has more bytes than the maximum.
    #[error(
        "a description of {bytes} bytes is too long: it has at most {LARGEST_DESCRIPTION}; use fewer channels"
    )]
    TooLong {
        /// Bytes given.
        bytes: usize,
    },
    /// The description is not JSON, or has other fields.
    #[error("the description of the window cannot be read: {reason}")]
    Json {
        /// The reason, with its position.
        reason: String,
    },
    /// The number of counts is not the number of channels.
    #[error("{found} counts of readings are given for {expected} channels")]
    Counts {
        /// Channels of the layout.
        expected: usize,
        /// Counts given.
        found: usize,
    },
    /// A channel has more readings than ticks.
    #[error("channel number {channel} cannot have {count} readings: there are {ticks} ticks")]
    TooMany {
        /// Position of the channel.
        channel: usize,
        /// Readings stated.
        count: u32,
        /// Ticks of the window.
        ticks: u32,
    },
    /// The window has more ticks than its layout.
    #[error("a window cannot cover {length} ticks: its layout has {ticks}")]
    Length {
        /// Ticks stated.
        length: u32,
        /// Ticks of the layout.
        ticks: u32,
    },
    /// The ticks of a channel's readings do not match their number, or are outside the window.
    #[error("the ticks of channel number {channel} do not fit its {count} readings")]
    Presence {
        /// Position of the channel.
        channel: usize,
        /// Readings of the channel.
        count: u32,
    },
    /// A channel has more rounded readings than readings.
    #[error("channel number {channel} cannot have more rounded readings than its {count}")]
    Rounded {
        /// Position of the channel.
        channel: usize,
        /// Readings of the channel.
        count: u32,
    },
    /// The windows that are replaced, or the channels, are not a list of numbers that ascend.
    #[error("a window replaces 1 to 4096 windows, for channels of its stream, each named once and in order")]
    Replaces,
}

impl WindowDescription {
    /// Reads a description of at most [`LARGEST_DESCRIPTION`] bytes.
    ///
    /// # Errors
    /// [`DescriptionError`] for the first fault.
    pub fn parse(json: &[u8]) -> Result<Self, DescriptionError> {
        if json.len() > LARGEST_DESCRIPTION {
            return Err(DescriptionError::TooLong { bytes: json.len() });
        }
        // Parsed unchecked first, so that the checks' errors keep their type.
        serde_json::from_slice::<Unchecked>(json)?.try_into()
    }

    /// Writes the description as JSON, for [`WindowDescription::parse`].
    ///
    /// # Errors
    /// [`DescriptionError::TooLong`] if there are too many channels.
    pub fn to_json(&self) -> Result<Vec<u8>, DescriptionError> {
        let json = serde_json::to_vec(self)?;
        if json.len() > LARGEST_DESCRIPTION {
            return Err(DescriptionError::TooLong { bytes: json.len() });
        }
        Ok(json)
    }

    /// Checks that lists, counts and ticks fit each other, as [`WindowDescription::parse`] does.
    ///
    /// # Errors
    /// [`DescriptionError`] for the first fault.
    pub fn check(&self) -> Result<(), DescriptionError> {
        let Self { layout, present, length, presence, left_out, rounded, .. } = self;
        let (expected, found, ticks) = (layout.channels().len(), present.len(), layout.ticks());
        if found != expected {
            return Err(DescriptionError::Counts { expected, found });
        }
        let too_many = present.iter().copied().enumerate().find(|(_, count)| *count > ticks);
        if let Some((channel, count)) = too_many {
            return Err(DescriptionError::TooMany { channel, count, ticks });
        }
        if *length > ticks {
            return Err(DescriptionError::Length { length: *length, ticks });
        }
        for found in [presence.len(), left_out.len()] {
            if found != 0 && found != expected {
                return Err(DescriptionError::Counts { expected, found });
            }
        }
        let end = if *length == 0 { ticks } else { *length };
        let fits = |(presence, count): (&Presence, &u32)| presence.count() == *count && presence.end() <= end;
        if let Some(channel) = presence.iter().zip(present).position(|pair| !fits(pair)) {
            return Err(DescriptionError::Presence { channel, count: present[channel] });
        }
        if let Some(channel) = present.iter().position(|count| *count > end) {
            return Err(DescriptionError::TooMany { channel, count: present[channel], ticks: end });
        }
        if let Some(rounded) = rounded {
            if rounded.len() != expected {
                return Err(DescriptionError::Counts { expected, found: rounded.len() });
            }
            if let Some(channel) = rounded.iter().zip(present).position(|(rounded, count)| rounded > count) {
                return Err(DescriptionError::Rounded { channel, count: present[channel] });
            }
        }
        match &self.replaces {
            Some(replaces) if !replaces.fits(expected) => Err(DescriptionError::Replaces),
            _ => Ok(()),
        }
    }

    /// Returns the length of the window in ticks, present or not.
    #[must_use]
    pub fn ticks(&self) -> u32 {
        if self.length == 0 { self.layout.ticks() } else { self.length }
    }

    /// Returns the end of the window: milliseconds since 1970.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.period.at(self.start, self.ticks())
    }

    /// Returns the ticks of a channel that have a reading. Returns None if the channel does not exist, or if
    /// readings are missing and an old agent did not state which.
    #[must_use]
    pub fn presence(&self, channel: u16) -> Option<Presence> {
        let count = *self.present.get(usize::from(channel))?;
        match self.presence.get(usize::from(channel)) {
            Some(presence) => Some(presence.clone()),
            None if self.length > 0 || count == self.layout.ticks() => Some(Presence::first(count)),
            None => None,
        }
    }

    /// Returns how many of `used` readings of a channel may be rounded: all if the device does not count them.
    #[must_use]
    pub fn rounded_of(&self, channel: u16, used: u64) -> u64 {
        let rounded = self.rounded.as_ref().and_then(|all| all.get(usize::from(channel)));
        rounded.map_or(used, |rounded| used.min((*rounded).into()))
    }

    /// Returns the number of readings in the window.
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
            rounded: None,
            generated: false,
            replaces: None,
            provisional: false,
        }
    }
}

impl TryFrom<Unchecked> for WindowDescription {
    type Error = DescriptionError;

    fn try_from(unchecked: Unchecked) -> Result<Self, DescriptionError> {
        let Unchecked { layout, present, start, period, length, presence, left_out, .. } = unchecked;
        let Unchecked { rounded, generated, replaces, provisional, .. } = unchecked;
        let description = Self {
            layout,
            present,
            start,
            period,
            length,
            presence,
            left_out,
            rounded,
            generated,
            replaces,
            provisional,
        };
        description.check().map(|()| description)
    }
}

impl From<serde_json::Error> for DescriptionError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { reason: error.to_string() }
    }
}
