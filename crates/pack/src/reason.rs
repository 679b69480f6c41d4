//! Why a reading is left out of a window, and how many were.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Why a reading is left out. A reading that is left out lowers the count of its window; it is never replaced by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The cell is empty, or the row has no such field.
    Empty,
    /// NaN or an infinity, however it is written.
    NotANumber,
    /// The cell holds something else than a number.
    Text,
    /// The number lies outside the range that the channel declares.
    OutOfRange,
    /// The slot has a reading of the same time already.
    Duplicate,
    /// The slot has a reading of another time already: readings come faster than the channel's period.
    OffGrid,
    /// The time lies before the window that is open: time went back.
    Late,
    /// The time lies in a window that an earlier run has sent.
    AlreadySent,
    /// The row has no time that can be read.
    NoTime,
    /// A local time that the clocks of the plant's zone never showed.
    NoSuchTime,
    /// The time lies in the future, by the device's clock.
    Future,
}

impl Reason {
    /// Every reason, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Empty,
        Self::NotANumber,
        Self::Text,
        Self::OutOfRange,
        Self::Duplicate,
        Self::OffGrid,
        Self::Late,
        Self::AlreadySent,
        Self::NoTime,
        Self::NoSuchTime,
        Self::Future,
    ];

    /// The reason in words, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NotANumber => "not a number",
            Self::Text => "text",
            Self::OutOfRange => "out of range",
            Self::Duplicate => "duplicate",
            Self::OffGrid => "off the grid",
            Self::Late => "late",
            Self::AlreadySent => "already sent",
            Self::NoTime => "no time",
            Self::NoSuchTime => "no such time",
            Self::Future => "in the future",
        }
    }
}

/// Readings left out, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeftOut(BTreeMap<Reason, u64>);

impl LeftOut {
    /// Counts `count` more readings.
    pub fn add(&mut self, reason: Reason, count: u64) {
        if count > 0 {
            let counted = self.0.entry(reason).or_default();
            *counted = counted.saturating_add(count);
        }
    }

    /// Adds the counts of another list.
    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(reason, count)| self.add(reason, count));
    }

    /// Readings left out for one reason.
    #[must_use]
    pub fn count(&self, reason: Reason) -> u64 {
        self.0.get(&reason).copied().unwrap_or_default()
    }

    /// Readings left out for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().fold(0, |total, count| total.saturating_add(*count))
    }

    /// True if nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reasons with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }
}
