//! The time that a device's windows cover.

use sotto_pack::Period;
use std::collections::BTreeMap;

use super::row_time::Group;
use super::window::StoredWindow;

/// The time from a device's first window with a channel to the last one, and the period.
pub(crate) struct Covered {
    first: i64,
    last: i64,
    period: Period,
    /// The [`grid`], if all ticks are whole periods apart.
    grid: Option<i64>,
}

impl Covered {
    /// Returns None if no window has the channel.
    pub(crate) fn new(windows: &[&StoredWindow], channel: &str) -> Option<Self> {
        let of = || windows.iter().filter(|window| window.channel(channel).is_some());
        let first = of().map(|window| window.from()).min()?;
        let last = of().map(|window| window.to()).max()?;
        let period = of().next()?.description.period;
        Some(Self { first, last, period, grid: grid(of().copied(), period) })
    }

    /// Returns the same time without the part before an instant.
    pub(crate) fn since(self, first: Option<i64>) -> Self {
        Self { first: first.map_or(self.first, |first| first.max(self.first)), ..self }
    }

    /// Returns the number of ticks that a group shares with this time.
    pub(crate) fn ticks(&self, group: Group) -> u64 {
        let (from, to) = (group.from.max(self.first), group.to.min(self.last));
        match self.grid {
            Some(grid) => ticks_on(grid, self.period, from, to),
            None => ticks_between(from, to, self.period),
        }
    }
}

/// Returns the time after whole cycles since 1970 at which ticks are, if all windows have this period and their ticks at the
/// same time after them.
pub(crate) fn grid<'w>(windows: impl Iterator<Item = &'w StoredWindow>, period: Period) -> Option<i64> {
    let mut phase = None;
    for window in windows {
        let own = window.start().rem_euclid(period.cycle());
        if window.description.period != period || *phase.get_or_insert(own) != own {
            return None;
        }
    }
    phase
}

/// Returns, for each time of a window, the number of readings of a channel that windows over other times have within it.
/// There are none but for supplements, which cover the time of an earlier window.
pub(crate) fn elsewhere(windows: &[&StoredWindow], channel: &str) -> BTreeMap<Group, u64> {
    let mut windows: Vec<&StoredWindow> =
        windows.iter().filter(|window| window.channel(channel).is_some()).copied().collect();
    windows.sort_by_key(|window| (window.from(), window.to()));
    let mut elsewhere = BTreeMap::new();
    let mut add = |window: &StoredWindow, other: &StoredWindow| {
        let time = window.group();
        *elsewhere.entry(time).or_default() += readings_within(other, channel, time);
    };
    for (at, window) in windows.iter().enumerate() {
        let meeting = windows[at + 1..].iter().take_while(|other| other.from() < window.to());
        for other in meeting.filter(|other| other.form() == window.form()) {
            if other.group() != window.group() {
                add(window, other);
                add(other, window);
            }
        }
    }
    elsewhere
}

fn readings_within(window: &StoredWindow, channel: &str, time: Group) -> u64 {
    let presence = window.channel(channel).and_then(|at| window.description.presence(at));
    let (first, end) = (window.ticks_before(time.from), window.ticks_before(time.to));
    let ticks = window.ticks().start.max(first)..window.ticks().end.min(end);
    presence.map_or(0, |presence| presence.iter().filter(|tick| ticks.contains(tick)).count() as u64)
}

/// Returns the number of ticks between two times, rounded to the nearest: a day of 25 hours has one reading a day, not
/// two.
pub(crate) fn ticks_between(from: i64, to: i64, period: Period) -> u64 {
    period.nearest_ticks(to.saturating_sub(from).max(0).unsigned_abs())
}

/// Returns the number of ticks of a [`grid`] that begin between two times.
pub(crate) fn ticks_on(grid: i64, period: Period, from: i64, to: i64) -> u64 {
    let cycle = from.saturating_sub(from.saturating_sub(grid).rem_euclid(period.cycle()));
    let until = |at: i64| period.ticks_in(at.saturating_sub(cycle));
    until(to).saturating_sub(until(from))
}
