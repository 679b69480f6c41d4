//! Errors of packing and unpacking.

use alloc::string::String;

use crate::bits::{MAX_BITS, MIN_BITS};

/// The reason why a declared range cannot be used.
///
/// ```
/// use sotto_pack::{Quantiser, RangeError};
///
/// let reversed = Quantiser::new(120.0, -20.0, 12);
/// assert_eq!(reversed, Err(RangeError::Ends { minimum: 120.0, maximum: -20.0 }));
/// assert_eq!(Quantiser::new(-20.0, 120.0, 33), Err(RangeError::Bits { bits: 33 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// An end is not finite, or the first is not below the second.
    #[error("the range {minimum} to {maximum} is not valid: declare two finite ends, the smaller one first")]
    Ends {
        /// The first end.
        minimum: f64,
        /// The second end.
        maximum: f64,
    },
    /// Rounding in f64 would lose steps.
    #[error(
        "the range {minimum} to {maximum} is too narrow so far from 0: declare it around 0, or with fewer bits"
    )]
    TooNarrow {
        /// The first end.
        minimum: f64,
        /// The second end.
        maximum: f64,
    },
    /// The layout counts steps of the resolution, but the channel declares none.
    #[error("no resolution is declared: declare the smallest step between two values")]
    NoResolution,
    /// The resolution is not a number above 0, is finer than 2^-31 of the range, or coarser than half of it.
    #[error(
        "a resolution of {resolution} does not fit the range {minimum} to {maximum}: declare a step above 0, at most half of the range and at least 2^-31 of it"
    )]
    Resolution {
        /// The declared step.
        resolution: f64,
        /// The lower end of the range.
        minimum: f64,
        /// The upper end of the range.
        maximum: f64,
    },
    /// Too few bits for two ends and a middle, or more than can be quantised exactly.
    #[error("values of {bits} bits are not possible: use {} to {}", MIN_BITS, MAX_BITS)]
    Bits {
        /// The bits asked for.
        bits: u32,
    },
}

/// A value is outside its declared range, or not a number.
///
/// Example: [`crate::Quantiser`]
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{value} is not in the declared range {minimum} to {maximum}")]
pub struct OutOfRange {
    /// The value that was given.
    pub value: f64,
    /// The lower end of the range.
    pub minimum: f64,
    /// The upper end of the range.
    pub maximum: f64,
}

/// The reason why readings are not packed, or slots not unpacked.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout, PackError, Period, Reading, Window};
///
/// let load = Channel { name: "load".into(), unit: "%".into(), maximum: 100.0, ..Channel::default() };
/// let layout = Layout::smallest(vec![load], 1, 8, 2, Encoding::Real)?;
/// let mut window = Window::new(layout, 1_700_000_000_000, Period::from_milliseconds(1000))?;
/// let reading = |value| Reading { at: 1_700_000_000_000, channel: 0, value };
/// let refused = window.push(&reading(101.0)).unwrap_err();
/// assert_eq!(refused.to_string(), "channel load: 101 is not in the declared range 0 to 100");
/// window.push(&reading(99.0))?;
/// let twice = Err(PackError::Duplicate { channel: "load".into(), tick: 0 });
/// assert_eq!(window.push(&reading(98.0)), twice);
/// # Ok::<(), PackError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PackError {
    /// A channel's name or unit is empty, too long or has control characters.
    #[error("the {what} of channel {index} is empty, too long or has control characters")]
    ChannelText {
        /// Position of the channel.
        index: usize,
        /// `name` or `unit`.
        what: &'static str,
    },
    /// A channel cannot have its kind.
    #[error("channel {channel}: {reason}")]
    Kind {
        /// The channel's name.
        channel: String,
        /// The reason, with what to do.
        reason: String,
    },
    /// Two channels have the same name.
    #[error("two channels are called {name}: give them different names")]
    DuplicateChannel {
        /// The repeated name.
        name: String,
    },
    /// A channel's range cannot be used.
    #[error("channel {channel}: {reason}")]
    Range {
        /// The channel's name.
        channel: String,
        /// The fault of its range.
        reason: RangeError,
    },
    /// Rows, columns, ticks or block are not possible.
    #[error("a {what} of {value} is not possible: {possible}")]
    Dimension {
        /// The name of the dimension.
        what: &'static str,
        /// The value asked for.
        value: u32,
        /// The values allowed.
        possible: &'static str,
    },
    /// There are more channels than blocks.
    #[error(
        "{channels} channels do not fit: there are {blocks} blocks; use fewer channels or ticks, or larger parameters"
    )]
    TooManyChannels {
        /// The number of channels.
        channels: usize,
        /// The number of blocks.
        blocks: usize,
    },
    /// A value is outside its declared range, or not a number.
    #[error("channel {channel}: {reason}")]
    Value {
        /// The channel's name.
        channel: String,
        /// The value and the range.
        reason: OutOfRange,
    },
    /// The layout does not have the channel of a reading.
    #[error("there is no channel {channel}: the layout has {channels}")]
    UnknownChannel {
        /// The channel's position.
        channel: u16,
        /// The number of channels in the layout.
        channels: usize,
    },
    /// A reading is from before or after the window.
    #[error(
        "a reading at {at} ms is not in the window from {start} ms to before {end} ms: it belongs to another window"
    )]
    OutsideWindow {
        /// The time of the reading, in milliseconds since 1970.
        at: i64,
        /// The start of the window.
        start: i64,
        /// The end of the window.
        end: i64,
    },
    /// The channel already has a reading at the tick.
    #[error("channel {channel} has a reading at tick {tick} already")]
    Duplicate {
        /// The channel's name.
        channel: String,
        /// The tick's index in the window.
        tick: u32,
    },
    /// A vector of slots does not have the layout's length.
    #[error("{found} slots were given and the layout has {expected}")]
    Length {
        /// The layout's number.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// The slots are integers and the layout has reals, or the other way round.
    #[error("the layout needs {expected}, but the slots are {found}")]
    Encoding {
        /// `integers` or `reals`.
        expected: &'static str,
        /// The kind given.
        found: &'static str,
    },
    /// A slot holds a number that no reading of this layout has.
    #[error("slot {slot} holds a number that no reading of this layout has: use the right key and layout")]
    NotAReading {
        /// The slot's index.
        slot: usize,
    },
}
