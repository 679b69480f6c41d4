//! Reasons for leaving readings out of a window, with counts.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The reason why a reading is left out. Such a reading lowers the count of its window; it is never replaced
/// by a number.
///
/// Example: [`LeftOut`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The cell is empty, or the row lacks the field.
    Empty,
    /// The value is NaN or an infinity, in any spelling.
    NotANumber,
    /// The cell does not hold a number.
    Text,
    /// The number is outside the channel's declared range.
    OutOfRange,
    /// The slot already has a reading of the same time.
    Duplicate,
    /// The slot already has a reading of another time: readings come faster than the channel's period.
    OffGrid,
    /// The time is before the open windows. Of agents of earlier versions: later ones take such readings.
    Late,
    /// The channel's tick has a reading that was sent, by this run or an earlier one.
    AlreadySent,
    /// The row has no readable time.
    NoTime,
    /// The local time never occurred in the plant's zone: clocks were set forward over it.
    NoSuchTime,
    /// The time is in the future by the device's clock.
    Future,
    /// The time is before 2000, and other rows show that the clock was not set.
    ClockNotSet,
    /// The reading changes ticks of a window that was sent and is not kept any more.
    TooLate,
    /// The time is ahead of the rows before and behind it: the clock was ahead for a while.
    ClockAhead,
}

impl Reason {
    /// Every reason, in the order of listings.
    pub const ALL: [Self; 14] = [
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
        Self::ClockNotSet,
        Self::TooLate,
        Self::ClockAhead,
    ];

    /// Returns the reason in words, for people.
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
            Self::ClockNotSet => "clock not set",
            Self::TooLate => "too late",
            Self::ClockAhead => "clock ahead",
        }
    }
}

/// The number of readings left out, by reason.
///
/// ```
/// use sotto_pack::{LeftOut, Reason};
///
/// let mut left_out = LeftOut::default();
/// left_out.add(Reason::OutOfRange, 2);
/// left_out.add(Reason::Late, 1);
/// assert_eq!(left_out.count(Reason::OutOfRange), 2);
/// assert_eq!(left_out.total(), 3);
/// assert_eq!(Reason::OutOfRange.words(), "out of range");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeftOut(BTreeMap<Reason, u64>);

impl LeftOut {
    /// Adds `count` readings.
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

    /// Returns the number of readings left out for one reason.
    #[must_use]
    pub fn count(&self, reason: Reason) -> u64 {
        self.0.get(&reason).copied().unwrap_or_default()
    }

    /// Returns the number of readings left out for all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().fold(0, |total, count| total.saturating_add(*count))
    }

    /// Returns true if no reading was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the reasons with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }
}
