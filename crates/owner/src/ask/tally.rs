//! Intermediate results for a group of a device's readings: moments, pairs, weighted sums, values of polynomials and
//! models.

use std::collections::BTreeMap;

use super::decided::Decided;
use super::group::Group;
use super::weights::Weighted;
use super::windows::Window;
use crate::distribution::Distribution;
use crate::error::OwnerError;
use crate::moments::{Moments, Pair};

/// All intermediate results of one group, for one device or several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) channels: BTreeMap<String, Moments>,
    /// Pairs by the names of the two channels, the smaller first.
    pub(crate) pairs: BTreeMap<(String, String), Pair>,
    /// Weighted sums by the text of the call.
    pub(crate) weighted: BTreeMap<String, Weighted>,
    /// Reals by the text of the call's reading.
    pub(crate) reals: BTreeMap<String, Reals>,
    /// Conditions on polynomials and models by their text.
    pub(crate) conditions: BTreeMap<String, Decided>,
    /// Number of ticks at which a channel could have a reading.
    pub(crate) expected: BTreeMap<String, u64>,
    /// Σ reading · period in hours by channel, with a bound on its error.
    pub(crate) energy: BTreeMap<String, (f64, f64)>,
    /// The distribution of a channel's readings.
    pub(crate) distributions: BTreeMap<String, Distribution>,
}

/// Values of a polynomial or a model, each with its time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reals {
    pub(crate) count: u64,
    pub(crate) sum: f64,
    /// Sum of the bounds of the single values.
    pub(crate) bound: f64,
    /// (from, to, value, bound); collected only if the question asks for single values.
    pub(crate) each: Vec<(i64, i64, f64, f64)>,
}

impl Tally {
    /// Adds the results of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, moments) in &other.channels {
            let entry = self.channels.entry(name.clone()).or_insert(Moments { count: 0, ..*moments });
            *entry = entry.merge(moments);
        }
        for (name, pair) in &other.pairs {
            let merged = self.pairs.get(name).map_or(*pair, |known| known.merge(pair));
            self.pairs.insert(name.clone(), merged);
        }
        for (name, weighted) in &other.weighted {
            self.weighted.entry(name.clone()).or_default().merge(weighted);
        }
        for (name, reals) in &other.reals {
            self.reals.entry(name.clone()).or_default().merge(reals);
        }
        for (name, decided) in &other.conditions {
            self.conditions.entry(name.clone()).or_default().merge(decided);
        }
        for (name, expected) in &other.expected {
            *self.expected.entry(name.clone()).or_default() += expected;
        }
        for (name, (value, bound)) in &other.energy {
            let entry = self.energy.entry(name.clone()).or_default();
            *entry = (entry.0 + value, entry.1 + bound);
        }
        for (name, distribution) in &other.distributions {
            self.distributions.entry(name.clone()).or_default().merge(distribution);
        }
    }
}

impl Reals {
    /// Adds the values of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.bound += other.bound;
        self.each.extend(&other.each);
    }
}

/// The time from a device's first window with a channel to the last one, and the period.
pub(crate) struct Covered {
    first: i64,
    last: i64,
    period: u32,
}

impl Covered {
    /// Returns None if no window has the channel.
    pub(crate) fn new(windows: &[&Window], channel: &str) -> Option<Self> {
        let of = || windows.iter().filter(|window| window.channel(channel).is_some());
        let first = of().map(|window| window.start()).min()?;
        let last = of().map(|window| window.end()).max()?;
        Some(Self { first, last, period: of().next()?.description.period.max(1) })
    }

    /// Returns the number of ticks that a group shares with this time.
    pub(crate) fn ticks(&self, group: Group) -> u64 {
        ticks_between(group.from.max(self.first), group.to.min(self.last), self.period)
    }
}

/// Returns the number of ticks between two times, rounded to the nearest: a day of 25 hours has one reading a day, not
/// two.
pub(crate) fn ticks_between(from: i64, to: i64, period: u32) -> u64 {
    let period = u64::from(period.max(1));
    (to.saturating_sub(from).max(0).unsigned_abs() + period / 2) / period
}

pub(super) fn wrong(reason: &str) -> OwnerError {
    OwnerError::WrongAnswer(reason.to_owned())
}
