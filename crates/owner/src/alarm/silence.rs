//! Times without readings, found in the signed heads of a device's windows.

use serde::{Deserialize, Serialize};

use super::seen::{Seen, Verdict};
use super::told::{Change, Ledger, Told};
use crate::declared::Plant;
use crate::devices::DeviceRecord;
use crate::question::Silence;
use crate::windows::{DeviceWindows, StoredWindow};

/// Silences that ended this long before the newest reading are settled: late readings change them no more. As long as a
/// device keeps readings by default: 7 days, in milliseconds.
const SETTLED_AFTER_MS: i64 = 7 * 86_400_000;

/// A clock that is this long before a reading that was heard is wrong: an hour, in milliseconds.
const CLOCK_ERROR_MS: i64 = 3_600_000;

/// Silences that are kept at most.
const MOST: usize = 1000;

/// A reading's time, and the end of its window, both in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Heard {
    pub(super) at: i64,
    pub(super) window_end: i64,
}

/// The times at which a device was heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeardTimes {
    /// In order of time.
    times: Vec<Heard>,
    /// The time of the device's first bundle with the channel, in milliseconds since 1970.
    enrolled: Option<i64>,
    /// True if windows of the device were deleted by an order of the owner.
    deleted: bool,
}

/// A time without readings, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    /// The last reading before it, or the enrolment.
    from: i64,
    /// The next reading. None: none came yet.
    to: Option<Heard>,
}

/// The silences of a device that were told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Silences {
    #[serde(flatten)]
    told: Ledger,
    /// Beginning of the silence that lasts.
    #[serde(default)]
    pub(super) lasts_since: Option<i64>,
    /// The newest reading that was ever heard: it was heard, also if its window is deleted.
    #[serde(default)]
    pub(super) newest: Option<i64>,
    /// The oldest reading that was ever heard.
    #[serde(default)]
    oldest: Option<i64>,
    /// Silences that ended before are not looked at any more.
    #[serde(default)]
    settled: Option<i64>,
}

impl HeardTimes {
    /// Reads the times of the readings of a channel, or of any one, from the presence in signed heads. Asks for nothing.
    pub(super) fn of(
        plant: &Plant,
        silence: &Silence,
        record: &DeviceRecord,
        listed: &DeviceWindows,
    ) -> Self {
        let channel = silence.channel.as_deref();
        let mut times = Vec::new();
        for window in &listed.windows {
            add(&mut times, window, channel, silence.milliseconds());
        }
        times.sort_unstable();
        times.dedup();
        let sends = |name: &str| {
            let shown = plant.settings().shown_channel(name);
            channel.is_none_or(|channel| shown == channel)
        };
        let of_channel = record.bundles.iter().filter(|bundle| {
            let mut channels = bundle.streams.iter().flat_map(|stream| &stream.channels);
            channels.any(|channel| sends(&channel.name))
        });
        let enrolled = of_channel.map(|bundle| bundle.made_at).min();
        Self { times, enrolled, deleted: listed.forgotten > 0 }
    }

    /// Returns the time of the first reading that is still there, if others before it are gone: nobody knows when these were.
    fn cut_at(&self, oldest: Option<i64>) -> Option<i64> {
        let first = self.times.first()?.at;
        (self.deleted || oldest.is_some_and(|oldest| oldest < first)).then_some(first)
    }

    /// Returns the gaps of at least `least` milliseconds, in order of time. Readings after `now` are not heard yet.
    fn gaps(&self, known: &Silences, now: i64, least: i64) -> Vec<Gap> {
        let mut times: Vec<Heard> = self.times.iter().filter(|heard| heard.at <= now).copied().collect();
        let (first, cut_at) = (times.first().map_or(i64::MAX, |first| first.at), self.cut_at(known.oldest));
        // A reading whose window is gone was heard; the silence that lasted after it is known.
        let is_known = |at: i64| cut_at.is_none_or(|cut| cut <= at) || known.lasts_since == Some(at);
        let newest = known.newest.filter(|newest| *newest <= now && is_known(*newest));
        // The enrolment counts if no reading is older.
        let is_new = !(self.deleted || self.times.is_empty() && known.newest.is_some());
        let enrolled = self.enrolled.filter(|at| is_new && *at <= now && *at < first && is_known(*at));
        times.extend(newest.into_iter().chain(enrolled).map(|at| Heard { at, window_end: at }));
        times.sort_unstable();
        let between = times.windows(2).map(|pair| Gap { from: pair[0].at, to: Some(pair[1]) });
        let last = times.last().map(|last| Gap { from: last.at, to: None });
        let length = |gap: &Gap| gap.to.map_or(now, |to| to.at).saturating_sub(gap.from);
        // One that lasts ends with a reading, not with a clock that was set back.
        let lasts = |gap: &Gap| gap.to.is_none() && known.lasts_since == Some(gap.from);
        between.chain(last).filter(|gap| length(gap) >= least || lasts(gap)).collect()
    }
}

/// Adds the times of a window's readings, without those that no gap of `least` milliseconds needs.
fn add(times: &mut Vec<Heard>, window: &StoredWindow, channel: Option<&str>, least: i64) {
    let names = window.layout().channels().iter().map(|column| &column.name);
    let columns = names.filter(|name| channel.is_none_or(|channel| *name == channel));
    for column in columns.filter_map(|name| window.channel(name)) {
        let presence = window.description.presence(column);
        let has = |tick: &u32| presence.as_ref().is_none_or(|presence| presence.contains(*tick));
        let readings = window.ticks().filter(has).map(|tick| window.instant(tick));
        let window_end = window.to();
        times.extend(thinned(readings, least).into_iter().map(|at| Heard { at, window_end }));
    }
}

/// Returns some of these times, in order: the first, the last, and so many between them that all gaps of `least` or more are
/// the same.
fn thinned(times: impl Iterator<Item = i64>, least: i64) -> Vec<i64> {
    let (mut times, mut kept) = (times.peekable(), Vec::new());
    while let Some(at) = times.next() {
        let before: Option<i64> = kept.last().copied();
        let is_needed = |next: &i64| before.is_none_or(|before| next.saturating_sub(before) >= least);
        if times.peek().is_none_or(is_needed) {
            kept.push(at);
        }
    }
    kept
}

impl Silences {
    /// Returns the newest reading that was heard, if this computer's clock is before it: then nothing can be said about silence.
    pub(super) fn clock_is_behind(&self, now: i64) -> Option<i64> {
        self.newest.filter(|newest| now < newest.saturating_sub(CLOCK_ERROR_MS))
    }

    /// Takes the times at which a device was heard. Returns the changes that were not told before. Silences that ended before
    /// `since` are none of the alarm's.
    pub(super) fn take(&mut self, silence: &Silence, heard: &HeardTimes, since: i64, now: i64) -> Vec<Told> {
        let before = if self.lasts_since.is_some() { Change::Raised } else { Change::Cleared };
        let from = self.settled.unwrap_or(i64::MIN).max(since);
        if heard.deleted && heard.times.is_empty() {
            // Nobody knows when the last reading was. A silence is as old as this alarm at most.
            self.newest.get_or_insert(now);
        }
        let mut gaps = heard.gaps(self, now, silence.milliseconds());
        if let Some(cut) = heard.cut_at(self.oldest) {
            // Silences of a time whose windows are gone stay as they were told.
            let lasts = self.lasts_since;
            let ends_there = |from: i64, change: Change| from == cut && change == Change::Cleared;
            self.told.forget(|from, change| Some(from) != lasts && (from < cut || ends_there(from, change)));
        }
        gaps.retain(|gap| gap.to.is_none_or(|to| to.at > from));
        let old = gaps.len().saturating_sub(MOST);
        gaps.drain(..old);
        self.lasts_since = gaps.last().filter(|gap| gap.to.is_none()).map(|gap| gap.from);
        let is = if self.lasts_since.is_some() { Change::Raised } else { Change::Cleared };
        let changes = |gap: &Gap| {
            let end = gap.to.map_or(now, |to| to.at);
            let hours = end.saturating_sub(gap.from) as f64 / 3_600_000.0;
            let raised = (seen(gap.from, end, Some(hours)), Change::Raised);
            let cleared = gap.to.map(|to| (seen(to.at, to.window_end, Some(hours)), Change::Cleared));
            [Some(raised), cleared].into_iter().flatten()
        };
        let all = gaps.iter().flat_map(changes).collect();
        let told = self
            .told
            .tell(before, all, is, |at| Some(seen(at.unwrap_or(now), now.max(at.unwrap_or(now)), None)));
        let oldest = heard.times.first().map(|heard| heard.at).into_iter();
        self.oldest = oldest.chain(self.oldest).min();
        self.newest = self.newest.max(heard.times.iter().map(|heard| heard.at).filter(|at| *at <= now).max());
        let settled = self.newest.map(|newest| newest.saturating_sub(SETTLED_AFTER_MS));
        self.settled = self.settled.max(settled);
        let is_settled = |at: i64| self.settled.is_some_and(|settled| at <= settled);
        let lasts = |from: i64, change: Change| {
            let of = |gap: &&Gap| match change {
                Change::Raised => gap.from == from,
                Change::Cleared => gap.to.is_some_and(|to| to.at == from),
            };
            gaps.iter().find(of).is_some_and(|gap| gap.to.is_none_or(|to| !is_settled(to.at)))
        };
        self.told.forget(|from, change| !lasts(from, change));
        told
    }
}

/// Returns a time of silence, or of the reading that ends it, as an alarm sees it. Its value is the hours without a reading;
/// None if there were readings after all.
pub(super) fn seen(from: i64, to: i64, hours: Option<f64>) -> Seen {
    let (over, near) = (Verdict::Undecided, Verdict::Undecided);
    Seen { from, to, readings: 0, over, near, value: hours, bound: hours.map(|_| 0.0), partial: false }
}

#[cfg(test)]
mod tests;
