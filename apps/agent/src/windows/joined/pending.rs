//! Readings that no window has taken yet, by the window of their time.

use std::collections::BTreeMap;

use sotto_pack::{Clock, Cut, LeftOut, Reason};

use super::reports::{Report, Reports};

/// The readings of a window.
#[derive(Default)]
pub(super) struct OfWindow {
    pub(super) end: i64,
    pub(super) reports: Reports,
    /// Readings left out, by channel.
    pub(super) left_out: Vec<LeftOut>,
    /// The numbers of its first and its last reading, in the order of the source.
    times: (u64, u64),
    /// The least mark of its rows.
    mark: u64,
}

/// Readings by the start of their window.
#[derive(Default)]
pub(super) struct Pending {
    windows: BTreeMap<i64, OfWindow>,
    count: usize,
    /// The number of readings so far.
    added: u64,
}

impl Pending {
    /// Returns the window of a time.
    pub(super) fn window(&mut self, at: i64, cut: Cut, clock: &Clock) -> (i64, &mut OfWindow) {
        let known = self.windows.range(..=at).next_back().filter(|(_, window)| at < window.end);
        let (start, end) =
            known.map_or_else(|| cut.window(clock, at), |(start, window)| (*start, window.end));
        let window = self.windows.entry(start).or_default();
        window.end = end;
        (start, window)
    }

    /// Adds a reading. Returns the start of its window.
    pub(super) fn add(&mut self, report: Report, mark: u64, cut: Cut, clock: &Clock) -> i64 {
        self.added += 1;
        let number = self.added;
        let (start, window) = self.window(report.at, cut, clock);
        let is_first = window.reports.is_empty();
        let first = if is_first { number } else { window.times.0 };
        window.mark = if is_first { mark } else { window.mark.min(mark) };
        window.times = (first, number);
        window.reports.push(report);
        self.count += 1;
        start
    }

    /// Counts a reading that is left out in the window of its time.
    pub(super) fn leave_out(&mut self, at: i64, channel: usize, reason: Reason, cut: Cut, clock: &Clock) {
        let (_, window) = self.window(at, cut, clock);
        if window.left_out.len() <= channel {
            window.left_out.resize(channel + 1, LeftOut::default());
        }
        window.left_out[channel].add(reason, 1);
    }

    /// Returns the number of readings.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the least mark of the readings.
    pub(super) fn oldest_mark(&self) -> Option<u64> {
        let with_readings = self.windows.values().filter(|window| !window.reports.is_empty());
        with_readings.map(|window| window.mark).min()
    }

    /// Returns the start of the newest window.
    pub(super) fn newest(&self) -> Option<i64> {
        self.windows.last_key_value().map(|(start, _)| *start)
    }

    /// Returns the start of the oldest window.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.windows.first_key_value().map(|(start, _)| *start)
    }

    /// Returns true if the readings of most windows lie far apart in the source, as those of rows in random order do. Those of
    /// rows that ascend or descend, or of several sensors that lag behind each other, are near to each other.
    pub(super) fn are_scattered(&self) -> bool {
        let is_scattered = |window: &&OfWindow| {
            let (first, last) = window.times;
            let (apart, own) = (last.saturating_sub(first), window.reports.len() as u64);
            apart > 4 * own && 4 * apart > self.count as u64
        };
        2 * self.windows.values().filter(is_scattered).count() > self.windows.len()
    }

    /// Takes all windows that begin before a time.
    pub(super) fn take_before(&mut self, at: i64) -> BTreeMap<i64, OfWindow> {
        let rest = self.windows.split_off(&at);
        let taken = std::mem::replace(&mut self.windows, rest);
        self.count -= taken.values().map(|window| window.reports.len()).sum::<usize>();
        taken
    }

    /// Takes the readings before a time. Those behind it stay, and so do counts of readings left out of their windows.
    pub(super) fn take_until(&mut self, at: i64) -> BTreeMap<i64, OfWindow> {
        let mut taken = self.take_before(at);
        let Some((start, mut last)) = taken.pop_last() else { return taken };
        if last.end <= at {
            taken.insert(start, last);
            return taken;
        }
        let (mut before, mut behind) = (Reports::default(), Reports::default());
        for report in last.reports.iter() {
            let side = if report.at < at { &mut before } else { &mut behind };
            side.push(*report);
        }
        if !behind.is_empty() {
            self.count += behind.len();
            let left_out = std::mem::take(&mut last.left_out);
            let OfWindow { end, times, mark, .. } = last;
            self.windows.insert(start, OfWindow { end, reports: behind, left_out, times, mark });
        }
        last.reports = before;
        taken.insert(start, last);
        taken
    }

    /// Takes the oldest windows, until at most `most` readings are left or one window.
    pub(super) fn take_oldest(&mut self, most: usize) -> BTreeMap<i64, OfWindow> {
        let mut taken = BTreeMap::new();
        while self.count > most && (self.windows.len() > 1 || taken.is_empty()) {
            let Some((start, window)) = self.windows.pop_first() else { break };
            self.count -= window.reports.len();
            taken.insert(start, window);
        }
        taken
    }

    /// Drops the newest windows until at most `most` readings are left. Returns the start of the oldest one dropped, and
    /// the counts of readings left out, by channel.
    pub(super) fn drop_newest(&mut self, most: usize) -> Option<(i64, Vec<LeftOut>)> {
        let (mut oldest, mut left_out) = (None, Vec::new());
        while self.count > most && self.windows.len() > 1 {
            let Some((start, window)) = self.windows.pop_last() else { break };
            self.count -= window.reports.len();
            oldest = Some(start);
            merge(&mut left_out, &window.left_out);
        }
        oldest.map(|start| (start, left_out))
    }
}

/// Adds counts to others, by channel.
pub(super) fn merge(all: &mut Vec<LeftOut>, more: &[LeftOut]) {
    if all.len() < more.len() {
        all.resize(more.len(), LeftOut::default());
    }
    all.iter_mut().zip(more).for_each(|(all, more)| all.merge(more));
}
