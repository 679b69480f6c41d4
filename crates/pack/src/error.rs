//! Why readings are not packed, or slots not unpacked.

/// Why a declared range cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// An end is infinite or not a number, or the first is not below the second.
    #[error("the range {minimum} to {maximum} is none: declare two finite ends, the smaller one first")]
    Ends {
        /// The first end.
        minimum: f64,
        /// The second end.
        maximum: f64,
    },
    /// Steps would be lost in the rounding of f64.
    #[error(
        "the range {minimum} to {maximum} is too narrow so far from 0: declare it around 0, or with fewer bits"
    )]
    TooNarrow {
        /// The first end.
        minimum: f64,
        /// The second end.
        maximum: f64,
    },
    /// A layout counts in steps of the resolution, and the channel declares none.
    #[error("no resolution is declared: declare the smallest step between two values")]
    NoResolution,
    /// A resolution that is no number above 0, or finer than 2^-31 of the range or coarser than half of it.
    #[error(
        "a resolution of {resolution} does not fit the range {minimum} to {maximum}: declare a step above 0, at most half of the range and at least 2^-31 of it"
    )]
    Resolution {
        /// The resolution.
        resolution: f64,
        /// Where the range begins.
        minimum: f64,
        /// Where the range ends.
        maximum: f64,
    },
    /// Too few bits for two ends and a middle, or more than are quantised exactly.
    #[error("values of {bits} bits are not possible: use {} to {}", crate::MIN_BITS, crate::MAX_BITS)]
    Bits {
        /// The bits asked for.
        bits: u32,
    },
}

/// A value outside its declared range, or not a number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{value} is not in the declared range {minimum} to {maximum}")]
pub struct OutOfRange {
    /// The value.
    pub value: f64,
    /// Where the range begins.
    pub minimum: f64,
    /// Where the range ends.
    pub maximum: f64,
}

/// Why readings are not packed, or slots not unpacked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PackError {
    /// A channel's name or unit is not as it should be.
    #[error("the {what} of channel {index} is empty, too long or has control characters")]
    ChannelText {
        /// Position of the channel.
        index: usize,
        /// `name` or `unit`.
        what: &'static str,
    },
    /// Two channels have the same name.
    #[error("two channels are called {name}: give them different names")]
    DuplicateChannel {
        /// The name.
        name: String,
    },
    /// A channel's range cannot be used.
    #[error("channel {channel}: {reason}")]
    Range {
        /// The channel.
        channel: String,
        /// Why.
        reason: RangeError,
    },
    /// Rows, columns, ticks or block are not possible.
    #[error("a {what} of {value} is not possible: {possible}")]
    Dimension {
        /// Which.
        what: &'static str,
        /// What was asked for.
        value: u32,
        /// What is possible.
        possible: &'static str,
    },
    /// There are more channels than blocks.
    #[error(
        "{channels} channels do not fit: there are {blocks} blocks; use fewer channels or ticks, or larger parameters"
    )]
    TooManyChannels {
        /// How many channels there are.
        channels: usize,
        /// How many fit.
        blocks: usize,
    },
    /// A value outside its declared range, or not a number.
    #[error("channel {channel}: {reason}")]
    Value {
        /// The channel.
        channel: String,
        /// The value and the range.
        reason: OutOfRange,
    },
    /// A reading of a channel that the layout does not have.
    #[error("there is no channel {channel}: the layout has {channels}")]
    UnknownChannel {
        /// Position asked for.
        channel: u16,
        /// How many there are.
        channels: usize,
    },
    /// A reading from before or after the window.
    #[error(
        "a reading at {at} ms is not in the window from {start} ms to before {end} ms: it belongs to another window"
    )]
    OutsideWindow {
        /// When the reading was taken.
        at: i64,
        /// Where the window begins.
        start: i64,
        /// Where it has ended.
        end: i64,
    },
    /// A row after the last tick.
    #[error("the window is full: it has {ticks} ticks; close it and begin another")]
    Full {
        /// Ticks of the window.
        ticks: u32,
    },
    /// A second reading of a channel at the same tick.
    #[error("channel {channel} has a reading at tick {tick} already")]
    Duplicate {
        /// The channel.
        channel: String,
        /// The tick.
        tick: u32,
    },
    /// A row, or a vector of slots, of another length than the layout has.
    #[error("{found} {what} were given and the layout has {expected}")]
    Length {
        /// Of what.
        what: &'static str,
        /// How many the layout has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// Integers where the layout has reals, or the other way round.
    #[error("the slots are {found} and the layout is of {expected}")]
    Encoding {
        /// `integers` or `reals`.
        expected: &'static str,
        /// The other one.
        found: &'static str,
    },
    /// A slot holds what no reading gives.
    #[error("slot {slot} holds what no reading of this layout gives: the key or the layout is another one")]
    NotAReading {
        /// The slot.
        slot: usize,
    },
}
