//! The facts by which a function refuses arguments that cannot work.

use sotto_pack::Quantiser;

use crate::gathered::Channels;

/// The facts that are known of a question before any window is looked at.
pub(crate) struct Circumstances<'c> {
    pub(crate) channels: &'c dyn Channels,
    /// True if the question is being declared: windows are still to come, within the declared ranges. An earlier range may
    /// have been wider.
    pub(crate) is_new: bool,
    /// The longest time of a group, in milliseconds; None if it is not known.
    pub(crate) longest: Option<u64>,
}

impl Circumstances<'_> {
    /// Returns the most ticks of a channel in a group; None if it is not known.
    pub(super) fn ticks(&self, channel: &str) -> Option<u64> {
        let period = self.channels.period(channel)?;
        Some(period.ticks_in(i64::try_from(self.longest?).unwrap_or(i64::MAX)))
    }

    /// Returns the quantiser of a channel's future readings; None if stored readings may be of another range.
    pub(super) fn quantiser(&self, channel: &str) -> Option<Quantiser> {
        let ((minimum, maximum), resolution) =
            self.channels.range(channel).zip(self.channels.resolution(channel)).filter(|_| self.is_new)?;
        Quantiser::with_resolution(minimum, maximum, resolution).ok()
    }

    /// Returns the ends of a channel's future readings; None if stored readings may be of another range.
    pub(super) fn ends(&self, channel: &str) -> Option<(f64, f64)> {
        let quantiser = self.quantiser(channel)?;
        let (minimum, maximum) = self.channels.range(channel)?;
        // Readings are compared by their rounded values.
        let (low, high) = (quantiser.value(-quantiser.top()), quantiser.value(quantiser.top()));
        Some((low.min(minimum), high.max(maximum)))
    }

    /// Returns the ends of the sum of a channel's future readings in a group with one reading at least; None if they are not known.
    pub(super) fn ends_of_sum(&self, channel: &str) -> Option<(f64, f64)> {
        let ((low, high), ticks) = self.ends(channel).zip(self.ticks(channel))?;
        let most = ticks.max(1) as f64;
        Some((low.min(low * most), high.max(high * most)))
    }

    /// Returns the longest time of a channel's ticks in a group, in hours; None if it is not known.
    pub(super) fn hours(&self, channel: &str) -> Option<f64> {
        let (period, ticks) = self.channels.period(channel).zip(self.ticks(channel))?;
        Some(period.milliseconds_of(ticks) / 3_600_000.0)
    }

    /// Returns the declared range in words, after "declared".
    pub(super) fn range_in_words(&self, channel: &str) -> String {
        let (minimum, maximum) = self.channels.range(channel).unwrap_or_default();
        let unit = self.channels.unit(channel);
        let space = if unit.is_empty() { "" } else { " " };
        format!("from {minimum} to {maximum}{space}{unit}")
    }
}
