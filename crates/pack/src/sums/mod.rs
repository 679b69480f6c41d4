//! The quantities that the windows of a stream of sums hold, and the parts in which they travel.

mod digit;
mod error;
mod part;
mod placed;
mod quantity;

use alloc::string::String;
use alloc::vec::Vec;

pub use digit::Digit;
pub use error::SumsError;
pub use part::SumsPart;
pub use placed::Placed;
pub use quantity::Quantity;

use crate::{
    Angle, Channel, ChannelKind, Counter, Encoding, Increase, Layout, PackError, Period, Quantiser,
    WindowDescription,
};

/// Maximum number of parts of a window.
pub const MOST_PARTS: usize = 16;
/// Maximum number of ticks of a window of sums: its readings are a count, below 2^16.
pub const MOST_SUM_TICKS: u32 = u16::MAX as u32;

impl WindowDescription {
    /// Returns the description of a window of `ticks` ticks without gaps. `start` is in milliseconds since 1970, `period`
    /// the time between ticks.
    #[must_use]
    pub fn whole(layout: &Layout, start: i64, period: Period, ticks: u32) -> Self {
        Self {
            layout: layout.clone(),
            present: vec![ticks; layout.channels().len()],
            start,
            period,
            length: ticks,
            presence: Vec::new(),
            left_out: Vec::new(),
            rounded: None,
            generated: false,
            replaces: None,
            provisional: false,
        }
    }

    /// Returns the ticks that a window of sums sends: up to its last reading.
    #[must_use]
    pub fn sent_ticks(&self) -> u32 {
        let columns = 0..self.layout.channels().len() as u16;
        columns
            .filter_map(|column| self.presence(column))
            .map(|presence| presence.end())
            .max()
            .unwrap_or_default()
    }

    /// Returns the number of a channel's readings.
    fn count(&self, channel: u16) -> u32 {
        self.present.get(usize::from(channel)).copied().unwrap_or_default()
    }
}

impl Layout {
    /// Returns the rule of a counter's increases: that of its kind, or the usual one. Returns None if the channel does not
    /// exist or has reals.
    #[must_use]
    pub fn increase(&self, column: u16) -> Option<Increase> {
        let counter = match &self.channels().get(usize::from(column))?.kind {
            ChannelKind::Counter(counter) => *counter,
            _ => Counter::default(),
        };
        Some(Increase::new(&counter, self.quantiser(column)?))
    }

    /// Returns cosine and sine of the angle of a quantised reading: 0 if the channel does not exist or has reals.
    #[must_use]
    pub fn cosine_and_sine(&self, column: u16, q: i64) -> [i64; 2] {
        let unit = self.channels().get(usize::from(column)).map_or("", |channel| &channel.unit);
        let turns = |quantiser: &Quantiser| quantiser.value(q) / Angle::turn(unit);
        self.quantiser(column).map_or([0; 2], |quantiser| Angle::cosine_and_sine(turns(quantiser)))
    }
}

impl Layout {
    /// Makes the layout of a stream of sums: one row, as long as the channels need, at most 2^16 slots. Each channel needs
    /// a resolution.
    ///
    /// # Errors
    /// [`PackError`], as [`Layout::new`].
    pub fn of_sums(channels: Vec<Channel>, ticks: u32) -> Result<Self, PackError> {
        let blocks = u32::try_from(channels.len()).unwrap_or(u32::MAX).checked_next_power_of_two();
        let block = ticks.checked_next_power_of_two();
        let columns = blocks.zip(block).and_then(|(blocks, block)| blocks.checked_mul(block)).unwrap_or(0);
        Self::smallest(channels, ticks, columns, 1, Encoding::Resolution)
    }
}

/// Checks the parts of a stream of sums.
pub(crate) fn check_parts(parts: &[SumsPart], channels: &[Channel], ticks: u32) -> Result<(), String> {
    if !(1..=MOST_PARTS).contains(&parts.len()) {
        return Err(format!("{}", SumsError::Parts));
    }
    if ticks > MOST_SUM_TICKS {
        return Err(format!("{}", SumsError::Ticks));
    }
    let layout = Layout::of_sums(channels.to_vec(), ticks).map_err(|error| format!("{error}"))?;
    parts.iter().try_for_each(|part| part.check(&layout)).map_err(|error| format!("{error}"))
}
