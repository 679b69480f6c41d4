//! The intermediate results of a group.

use std::collections::{BTreeMap, BTreeSet};

use super::distribution::Distribution;
use super::moments::{Moments, Pair};
use super::{ChannelPair, DayMean, Decided, NeedId, Readings, Reals, Weighted, Windows};

/// All intermediate results of one group, for one device or several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) channels: BTreeMap<String, ChannelTally>,
    pub(crate) pairs: BTreeMap<ChannelPair, Pair>,
    /// The distribution of a channel's readings.
    pub(crate) distributions: BTreeMap<String, Distribution>,
    pub(crate) weighted: BTreeMap<NeedId, Weighted>,
    /// The quantities that single windows hold.
    pub(crate) windows: BTreeMap<NeedId, Windows>,
    /// Readings that came down.
    pub(crate) readings: BTreeMap<NeedId, Readings>,
    /// Values of polynomials and models.
    pub(crate) reals: BTreeMap<NeedId, Reals>,
    /// Means of the days of a row, by channel.
    pub(crate) days: BTreeMap<String, Vec<DayMean>>,
    /// Conditions on polynomials and models.
    pub(crate) decided: BTreeMap<NeedId, Decided>,
    /// Number of ticks at which a channel could have a reading.
    pub(crate) expected: BTreeMap<String, u64>,
    /// The needs of which no tag shows what the cloud gave.
    pub(crate) untagged: BTreeSet<NeedId>,
}

/// The sums of a channel's readings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChannelTally {
    pub(crate) moments: Moments,
    pub(crate) energy: Energy,
}

/// Σ reading · period in hours, with a bound on its error.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Energy {
    pub(crate) value: f64,
    pub(crate) bound: f64,
}

impl ChannelTally {
    /// Returns the sums of readings that are `hours` apart.
    pub(crate) fn new(moments: Moments, hours: f64) -> Self {
        let energy = match moments.sum("") {
            Ok(sum) => Energy { value: hours * sum.value, bound: hours * sum.bound },
            Err(_) => Energy::default(),
        };
        Self { moments, energy }
    }

    /// Adds the readings of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.moments = self.moments.merge(&other.moments);
        self.energy.value += other.energy.value;
        self.energy.bound += other.energy.bound;
    }
}

impl Tally {
    /// Adds sums of a channel's readings.
    pub(crate) fn add_channel(&mut self, channel: &str, sums: &ChannelTally) {
        match self.channels.get_mut(channel) {
            Some(known) => known.merge(sums),
            None => drop(self.channels.insert(channel.to_owned(), *sums)),
        }
    }

    /// Adds the results of another device.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, sums) in &other.channels {
            self.add_channel(name, sums);
        }
        for (channels, pair) in &other.pairs {
            self.add_pair(channels, pair);
        }
        for (name, distribution) in &other.distributions {
            self.distributions.entry(name.clone()).or_default().merge(distribution);
        }
        for (need, weighted) in &other.weighted {
            self.weighted.entry(*need).or_default().merge(weighted);
        }
        for (need, windows) in &other.windows {
            self.windows.entry(*need).or_default().merge(windows);
        }
        for (need, readings) in &other.readings {
            self.readings.entry(*need).or_default().merge(readings);
        }
        for (need, reals) in &other.reals {
            self.reals.entry(*need).or_default().merge(reals);
        }
        for (need, decided) in &other.decided {
            self.decided.entry(*need).or_default().merge(decided);
        }
        self.untagged.extend(&other.untagged);
        for (name, expected) in &other.expected {
            *self.expected.entry(name.clone()).or_default() += expected;
        }
    }

    /// Adds moments of two channels.
    pub(crate) fn add_pair(&mut self, channels: &ChannelPair, pair: &Pair) {
        let merged = self.pairs.get(channels).map_or(*pair, |known| known.merge(pair));
        self.pairs.insert(channels.clone(), merged);
    }
}
