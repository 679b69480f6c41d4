//! The time that a device's windows cover.

use super::group::Group;
use super::window::StoredWindow;

/// The time from a device's first window with a channel to the last one, and the period.
pub(crate) struct Covered {
    first: i64,
    last: i64,
    period: u32,
}

impl Covered {
    /// Returns None if no window has the channel.
    pub(crate) fn new(windows: &[&StoredWindow], channel: &str) -> Option<Self> {
        let of = || windows.iter().filter(|window| window.channel(channel).is_some());
        let first = of().map(|window| window.from()).min()?;
        let last = of().map(|window| window.to()).max()?;
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
