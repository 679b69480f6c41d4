//! Layouts: the slots of channels and ticks.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{Channel, Normaliser, OutOfRange, PackError, Quantiser, RangeError};

/// Maximum ticks of a layout, and maximum columns of a row.
pub const MAX_TICKS: u32 = 65_536;

/// How a value becomes the number in a slot.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout};
///
/// let boiler = Channel {
///     name: "boiler".into(),
///     unit: "°C".into(),
///     minimum: -20.0,
///     maximum: 120.0,
///     resolution: Some(0.5), // the sensor's smallest step
///     ..Channel::default()
/// };
/// let largest = |encoding| {
///     Layout::smallest(vec![boiler.clone()], 24, 64, 1, encoding).map(|layout| layout.magnitude())
/// };
/// assert_eq!(largest(Encoding::Integer { bits: 12 })?, 2047.0);
/// assert_eq!(largest(Encoding::Resolution)?, 140.0, "70 °C on each side of the middle, in half degrees");
/// assert_eq!(largest(Encoding::Real)?, 1.0);
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// A whole number of `bits` bits, its sign included: for BFV and BGV. See [`Quantiser`].
    Integer {
        /// [`crate::MIN_BITS`] to [`crate::MAX_BITS`].
        bits: u32,
    },
    /// A whole number of steps of the channel's resolution, counted from its multiple nearest to the middle
    /// of the range: for BFV and BGV. See [`Quantiser::with_resolution`].
    Resolution,
    /// A real in −1 … 1: for CKKS. See [`Normaliser`].
    Real,
}

/// The parts of a [`Layout`], not yet checked.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout, LayoutParts, PackError};
///
/// let load = Channel { name: "load".into(), unit: "%".into(), maximum: 100.0, ..Channel::default() };
/// let encoding = Encoding::Integer { bits: 8 };
/// let parts = LayoutParts { channels: vec![load], ticks: 24, block: 32, columns: 2048, rows: 2, encoding };
/// assert!(Layout::new(parts.clone()).is_ok());
/// let too_short = Layout::new(LayoutParts { block: 16, ..parts });
/// assert!(matches!(too_short, Err(PackError::Dimension { what: "block", value: 16, .. })));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutParts {
    /// The channels, in order.
    pub channels: Vec<Channel>,
    /// Readings of a channel in a window, at least 1.
    pub ticks: u32,
    /// Slots of a channel: a power of two, at least `ticks` and at most `columns`.
    pub block: u32,
    /// Slots of a row: a power of two, at most [`MAX_TICKS`].
    pub columns: u32,
    /// Rows: 1 or 2.
    pub rows: u32,
    /// How a value becomes a number.
    pub encoding: Encoding,
}

/// The slots of channels and ticks. Each channel occupies one block of neighbouring slots in a row: its ticks
/// from the first slot of the block (the head) on, then zeros. Checked when it is made or read from JSON.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout};
///
/// let channel = |name: &str| Channel { name: name.into(), maximum: 100.0, ..Channel::default() };
/// let channels = vec![channel("inlet"), channel("outlet")];
/// // Two rows of 2048 slots, a reading an hour.
/// let layout = Layout::smallest(channels, 24, 2048, 2, Encoding::Integer { bits: 8 })?;
/// assert_eq!(layout.block(), 32);
/// assert_eq!(layout.slot(1, 23), Some(32 + 23));
/// assert_eq!(Layout::capacity(24, 2048, 2), 128);
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LayoutParts", into = "LayoutParts")]
pub struct Layout {
    // Shared: each of many windows has the layout of its stream.
    parts: Arc<LayoutParts>,
    scales: Arc<[Scale]>,
}

/// The map from a channel's values to numbers in slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    Integer(Quantiser),
    Real(Normaliser),
}

impl Layout {
    /// Makes a layout of its parts.
    ///
    /// # Errors
    /// [`PackError`] for the first wrong part.
    pub fn new(parts: LayoutParts) -> Result<Self, PackError> {
        let LayoutParts { ticks, block, columns, rows, .. } = parts;
        let possible = |possible, what, value, says| {
            if possible { Ok(()) } else { Err(PackError::Dimension { what, value, possible: says }) }
        };
        possible((1..=2).contains(&rows), "number of rows", rows, "there are 1 or 2")?;
        let row = columns.is_power_of_two() && columns <= MAX_TICKS;
        possible(row, "number of columns", columns, "it is a power of two, at most 65536")?;
        possible(
            (1..=columns).contains(&ticks),
            "number of ticks",
            ticks,
            "from 1 tick to as many as a row has slots",
        )?;
        let fits = block.is_power_of_two() && (ticks..=columns).contains(&block);
        possible(fits, "block", block, "it is a power of two, at least the ticks and at most a row")?;

        let blocks = (columns / block * rows) as usize;
        if parts.channels.len() > blocks {
            return Err(PackError::TooManyChannels { channels: parts.channels.len(), blocks });
        }
        possible(!parts.channels.is_empty(), "number of channels", 0, "there is at least 1")?;
        let mut names = BTreeSet::new();
        let mut scales = Vec::with_capacity(parts.channels.len());
        for (index, channel) in parts.channels.iter().enumerate() {
            channel.check(index)?;
            if !names.insert(&channel.name) {
                return Err(PackError::DuplicateChannel { name: channel.name.clone() });
            }
            let scale = Scale::of(channel, parts.encoding);
            scales.push(scale.map_err(|reason| PackError::Range { channel: channel.name.clone(), reason })?);
        }
        Ok(Self { parts: Arc::new(parts), scales: scales.into() })
    }

    /// Makes a layout with the smallest block that holds the ticks.
    ///
    /// # Errors
    /// Those of [`Layout::new`].
    pub fn smallest(
        channels: Vec<Channel>,
        ticks: u32,
        columns: u32,
        rows: u32,
        encoding: Encoding,
    ) -> Result<Self, PackError> {
        let block = ticks.checked_next_power_of_two().unwrap_or(0);
        Self::new(LayoutParts { channels, ticks, block, columns, rows, encoding })
    }

    /// Returns the number of channels that fit if each has this many ticks: 0 if the ticks do not fit in a
    /// row.
    #[must_use]
    pub fn capacity(ticks: u32, columns: u32, rows: u32) -> u32 {
        match ticks.max(1).checked_next_power_of_two() {
            Some(block) => (columns / block).saturating_mul(rows),
            None => 0,
        }
    }

    /// Returns the channels, in order.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.parts.channels
    }

    /// Returns the readings of a channel in a window.
    #[must_use]
    pub fn ticks(&self) -> u32 {
        self.parts.ticks
    }

    /// Returns the slots of a channel: the width of a sum over a channel.
    #[must_use]
    pub fn block(&self) -> u32 {
        self.parts.block
    }

    /// Returns the slots of a row.
    #[must_use]
    pub fn columns(&self) -> u32 {
        self.parts.columns
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.parts.rows
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.parts.rows as usize * self.parts.columns as usize
    }

    /// Returns the encoding of values.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.parts.encoding
    }

    /// Returns the largest |number| in any slot, which a program declares for its input.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        let largest = |scale: &Scale| match scale {
            Scale::Integer(quantiser) => quantiser.top() as f64,
            Scale::Real(_) => 1.0,
        };
        self.scales.iter().map(largest).fold(1.0, f64::max)
    }

    /// Returns the slot of a reading, `row · columns + column`. Returns None if the channel or the tick does
    /// not exist.
    #[must_use]
    pub fn slot(&self, channel: u16, tick: u32) -> Option<usize> {
        let known = usize::from(channel) < self.parts.channels.len() && tick < self.parts.ticks;
        // A row is a whole number of blocks, so that consecutive blocks never straddle rows.
        known.then(|| usize::from(channel) * self.parts.block as usize + tick as usize)
    }

    /// Returns the slots of a channel's ticks. `channel` must exist.
    pub(crate) fn slots_of(&self, channel: usize) -> core::ops::Range<usize> {
        let head = channel * self.parts.block as usize;
        head..head + self.parts.ticks as usize
    }

    /// Returns the quantiser of a channel. Returns None if the channel does not exist or has reals.
    #[must_use]
    pub fn quantiser(&self, channel: u16) -> Option<&Quantiser> {
        match self.scales.get(usize::from(channel)) {
            Some(Scale::Integer(quantiser)) => Some(quantiser),
            _ => None,
        }
    }

    /// Returns the value of a slot's number. Returns None if the channel does not exist.
    #[must_use]
    pub fn value(&self, channel: u16, number: f64) -> Option<f64> {
        match self.scales.get(usize::from(channel))? {
            Scale::Integer(quantiser) => Some(quantiser.value(number as i64)),
            Scale::Real(normaliser) => Some(normaliser.value(number)),
        }
    }

    /// Returns a value as the number of its slot before rounding: steps from the middle of the range, or a real number from
    /// −1 to 1. Steps are a whole number if and only if the value is a [multiple](Quantiser::is_multiple) of the resolution.
    /// Returns None if the channel does not exist.
    #[must_use]
    pub fn unrounded(&self, channel: u16, value: f64) -> Option<f64> {
        match self.scales.get(usize::from(channel))? {
            Scale::Integer(quantiser) => Some(quantiser.steps(value)),
            Scale::Real(normaliser) => normaliser.normalise(value).ok(),
        }
    }

    /// Returns the normaliser of a channel. Returns None if the channel does not exist or has whole numbers.
    #[must_use]
    pub fn normaliser(&self, channel: u16) -> Option<&Normaliser> {
        match self.scales.get(usize::from(channel)) {
            Some(Scale::Real(normaliser)) => Some(normaliser),
            _ => None,
        }
    }

    pub(crate) fn scales(&self) -> &[Scale] {
        &self.scales
    }
}

impl Scale {
    fn of(channel: &Channel, encoding: Encoding) -> Result<Self, RangeError> {
        let Channel { minimum, maximum, .. } = *channel;
        match encoding {
            Encoding::Integer { bits } => Quantiser::new(minimum, maximum, bits).map(Self::Integer),
            Encoding::Resolution => {
                let resolution = channel.resolution.ok_or(RangeError::NoResolution)?;
                Quantiser::with_resolution(minimum, maximum, resolution).map(Self::Integer)
            }
            Encoding::Real => Normaliser::new(minimum, maximum).map(Self::Real),
        }
    }

    /// Returns true if the number of a value stands for another one.
    pub(crate) fn rounds(&self, value: f64) -> bool {
        match self {
            Self::Integer(quantiser) => !quantiser.is_multiple(value),
            Self::Real(_) => false,
        }
    }

    /// Returns the number for a value. A whole number is below 2^32, so f64 holds it exactly.
    pub(crate) fn number(&self, value: f64) -> Result<f64, OutOfRange> {
        match self {
            Self::Integer(quantiser) => quantiser.quantise(value).map(|q| q as f64),
            Self::Real(normaliser) => normaliser.normalise(value),
        }
    }
}

impl TryFrom<LayoutParts> for Layout {
    type Error = PackError;

    fn try_from(parts: LayoutParts) -> Result<Self, PackError> {
        Self::new(parts)
    }
}

impl From<Layout> for LayoutParts {
    fn from(layout: Layout) -> Self {
        Arc::unwrap_or_clone(layout.parts)
    }
}
