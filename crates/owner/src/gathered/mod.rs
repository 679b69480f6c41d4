//! Intermediate results: sums of a group's readings, from which the values of calls follow.
//!
//! A call names the results that it needs ([`Need`]). The work on windows puts them into a [`Tally`] for each group, and
//! a function reads its own by [`Gathered`].

mod bands;
mod between;
mod bins;
mod day;
mod decided;
pub mod distribution;
mod episodes;
mod fourier;
mod joined;
mod lines;
pub mod moments;
mod need;
mod off;
mod readings;
mod reals;
mod shape;
mod tally;
mod weighted;
mod window_quantity;
mod windows;

pub(crate) use bands::Bands;
pub(crate) use between::Between;
pub use bins::{BinsNeeded, USUAL_BINS};
pub(crate) use day::DayMean;
pub(crate) use decided::Decided;
pub(crate) use episodes::Episodes;
pub(crate) use joined::joined;
pub(crate) use lines::{Line, OnLines};
pub(crate) use need::{ChannelPair, Need, NeedId, Needed};
#[cfg(test)]
pub(crate) use readings::tests::run as minutes;
pub(crate) use readings::{Reading, Readings, Run, Taken};
pub(crate) use reals::{Real, Reals};
pub(crate) use shape::Shape;
pub(crate) use tally::{ChannelTally, Energy, Tally};
pub(crate) use weighted::{OfSign, Weighted};
pub use window_quantity::WindowQuantity;
pub(crate) use windows::{Crossing, Ends, Held, Windows};

use distribution::Distribution;
use moments::{Moments, Pair};

use crate::language::Measurand;
use crate::value::{Value, ValueError};
use sotto_pack::Period;

/// The declared properties of channels.
pub(crate) trait Channels {
    /// Returns the unit of a channel; empty if it is not declared.
    fn unit(&self, channel: &str) -> String;

    /// Returns the smallest and the largest value of a channel; None if it is not declared.
    fn range(&self, _channel: &str) -> Option<(f64, f64)> {
        None
    }

    /// Returns the resolution of a channel; None if it is not declared.
    fn resolution(&self, _channel: &str) -> Option<f64> {
        None
    }

    /// Returns the time between two readings of a channel; None if it is not declared.
    fn period(&self, _channel: &str) -> Option<Period> {
        None
    }
}

/// The value of a call, of how many readings, and how many are missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counted {
    pub(crate) value: Result<Value, ValueError>,
    pub(crate) count: u64,
    pub(crate) missing: u64,
}

impl Counted {
    /// Returns the value of no readings.
    pub(crate) fn nothing() -> Self {
        Self { value: Err(ValueError::NO_READING), count: 0, missing: 0 }
    }
}

/// The intermediate results of one call in one group.
#[derive(Clone, Copy)]
pub(crate) struct Gathered<'t> {
    /// The tallies of the groups, up to the call's own.
    tallies: &'t [Tally],
    needs: &'t [NeedId],
    channels: &'t dyn Channels,
}

impl<'t> Gathered<'t> {
    /// Returns the results of a call with these needs in the last of the groups.
    pub(crate) fn new(tallies: &'t [Tally], needs: &'t [NeedId], channels: &'t dyn Channels) -> Self {
        Self { tallies, needs, channels }
    }

    /// Returns the declared properties of channels.
    pub(crate) fn channels(&self) -> &'t dyn Channels {
        self.channels
    }

    pub(crate) fn unit(&self, channel: &str) -> String {
        self.channels.unit(channel)
    }

    /// Returns count, mean and spread of a channel's readings.
    pub(crate) fn moments(&self, channel: &str) -> Moments {
        self.channel(channel).map(|tally| tally.moments).unwrap_or_default()
    }

    /// Returns the sum of reading · period, in hours.
    pub(crate) fn energy(&self, channel: &str) -> Energy {
        self.channel(channel).map(|tally| tally.energy).unwrap_or_default()
    }

    /// Returns the moments of two channels, in this order.
    pub(crate) fn pair(&self, x: &str, y: &str) -> Pair {
        let key = ChannelPair::of(x, y);
        let pair = self.last().and_then(|tally| tally.pairs.get(&key)).copied().unwrap_or_default();
        if key.is(x, y) { pair } else { pair.swapped() }
    }

    /// Returns the distribution of a channel's readings.
    pub(crate) fn distribution(&self, channel: &str) -> Distribution {
        self.last().and_then(|tally| tally.distributions.get(channel)).cloned().unwrap_or_default()
    }

    /// Returns the means of a channel's days.
    pub(crate) fn days(&self, channel: &str) -> &'t [DayMean] {
        self.last().and_then(|tally| tally.days.get(channel)).map_or(&[], Vec::as_slice)
    }

    /// Returns the call's weighted sum.
    pub(crate) fn weighted(&self) -> Weighted {
        self.own(|tally, need| tally.weighted.get(&need).copied())
    }

    /// Returns the values of the call's polynomial or model.
    pub(crate) fn reals(&self) -> Reals {
        self.own(|tally, need| tally.reals.get(&need).cloned())
    }

    /// Returns the number of ticks that have no reading, if `count` have one: of the channel with most ticks.
    pub(crate) fn missing(&self, channels: &[&str], count: u64) -> u64 {
        let expected = channels.iter().map(|channel| self.expected(channel)).max();
        expected.unwrap_or_default().saturating_sub(count)
    }

    /// Returns the number of ticks at which a channel could have a reading.
    pub(crate) fn expected(&self, channel: &str) -> u64 {
        self.last().and_then(|tally| tally.expected.get(channel)).copied().unwrap_or_default()
    }

    /// Returns true if no tag shows what the cloud gave for the call, in the last group or, if the call looks back, in any.
    pub(crate) fn is_untagged(&self, looks_back: bool) -> bool {
        let first = if looks_back { 0 } else { self.tallies.len().saturating_sub(1) };
        self.tallies[first..].iter().any(|tally| self.needs.iter().any(|need| tally.untagged.contains(need)))
    }

    /// Returns the results of the last groups, in order of time: of `most` groups, or of all if there are fewer.
    pub(crate) fn last_groups(self, most: u32) -> impl Iterator<Item = Self> {
        let all = self.tallies.len();
        (all.saturating_sub(most as usize)..all).map(move |at| Self { tallies: &self.tallies[..=at], ..self })
    }

    /// Returns a value that follows from the moments of a channel.
    pub(crate) fn of_moments(
        &self,
        channel: &str,
        value: impl FnOnce(&Moments) -> Result<Value, ValueError>,
    ) -> Counted {
        let moments = self.moments(channel);
        self.counted(value(&moments), &[channel], moments.count)
    }

    /// Returns a value that follows from the moments of two channels.
    pub(crate) fn of_pair(
        &self,
        x: &str,
        y: &str,
        value: impl FnOnce(&Pair) -> Result<Value, ValueError>,
    ) -> Counted {
        let pair = self.pair(x, y);
        self.counted(value(&pair), &[x, y], pair.x.count)
    }

    /// Returns a value that follows from the distribution of a channel.
    pub(crate) fn of_distribution(
        &self,
        channel: &str,
        value: impl FnOnce(&Distribution) -> Result<Value, ValueError>,
    ) -> Counted {
        let distribution = self.distribution(channel);
        self.counted(value(&distribution), &[channel], distribution.count())
    }

    /// Returns a value that follows from quantities that a channel's windows hold.
    pub(crate) fn of_windows(
        &self,
        channel: &str,
        value: impl FnOnce(&Windows) -> Result<Value, ValueError>,
    ) -> Counted {
        let windows = self.own(|tally, need| tally.windows.get(&need).cloned());
        self.counted(value(&windows), &[channel], windows.readings())
    }

    /// Returns a value that follows from the readings of a channel.
    pub(crate) fn of_readings(
        &self,
        channel: &str,
        value: impl FnOnce(&Readings) -> Result<Value, ValueError>,
    ) -> Counted {
        let readings = self.readings();
        self.counted(value(&readings), &[channel], readings.count())
    }

    /// Returns the readings of the call's channel.
    pub(crate) fn readings(&self) -> Readings {
        self.readings_at(0)
    }

    /// Returns the readings of one of the call's needs, from 0.
    pub(crate) fn readings_at(&self, need: usize) -> Readings {
        let of = |tally: &Tally| tally.readings.get(self.needs.get(need)?).cloned();
        self.last().and_then(of).unwrap_or_default()
    }

    /// Returns a value that follows from those of the call's polynomial or model.
    pub(crate) fn of_reals(
        &self,
        reading: &Measurand,
        value: impl FnOnce(&Reals) -> Result<Value, ValueError>,
    ) -> Counted {
        let reals = self.reals();
        self.counted(value(&reals), &reading.channels(), reals.count)
    }

    /// Returns a value that follows from the call's condition on a polynomial or a model.
    pub(crate) fn of_decided(
        &self,
        reading: &Measurand,
        value: impl FnOnce(&Decided) -> Result<Value, ValueError>,
    ) -> Counted {
        let decided = self.own(|tally, need| tally.decided.get(&need).cloned());
        self.counted(value(&decided), &reading.channels(), decided.count)
    }

    fn counted(&self, value: Result<Value, ValueError>, channels: &[&str], count: u64) -> Counted {
        Counted { value, count, missing: self.missing(channels, count) }
    }

    fn last(&self) -> Option<&'t Tally> {
        self.tallies.last()
    }

    fn channel(&self, channel: &str) -> Option<&'t ChannelTally> {
        self.last()?.channels.get(channel)
    }

    fn own<T: Default>(&self, of: impl Fn(&'t Tally, NeedId) -> Option<T>) -> T {
        let found = self.last().and_then(|tally| self.needs.iter().find_map(|need| of(tally, *need)));
        found.unwrap_or_default()
    }
}
