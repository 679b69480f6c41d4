//! Spans of time as a set of ticks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sotto_pack::{Period, Presence, WindowDescription};

/// Spans of time in which every tick is sent: half-open, in milliseconds since 1970, in order, none touching the next.
///
/// One run holds any number of neighbouring ticks, so a year without gaps is one run. Written as a list of numbers: the
/// start of the first run, its length, the gap behind it, the length of the next run, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<i64>", into = "Vec<i64>")]
pub struct Runs(Vec<(i64, i64)>);

impl Runs {
    /// Returns the runs of a window's ticks with a reading of one channel. Each tick has `period` milliseconds, the last
    /// one ends at `until` at the latest.
    #[must_use]
    pub fn of_ticks(presence: &Presence, start: i64, period: Period, until: i64) -> Self {
        let at = |tick: u32| period.at(start, tick).min(until);
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for tick in presence.iter() {
            let (from, to) = (at(tick), at(tick + 1));
            match runs.last_mut() {
                Some((_, end)) if *end == from => *end = to,
                _ => runs.push((from, to)),
            }
        }
        runs.retain(|(from, to)| from < to);
        Self(runs)
    }

    /// Returns true if a run holds this time.
    #[must_use]
    pub fn contains(&self, at: i64) -> bool {
        // Rows of a file in order lie behind all runs.
        if self.0.last().is_none_or(|(_, to)| at >= *to) {
            return false;
        }
        let before = self.0.partition_point(|(from, _)| *from <= at);
        before > 0 && at < self.0[before - 1].1
    }

    /// Returns true if these runs hold every time of the others.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other.0.iter().all(|(from, to)| {
            let at = self.0.partition_point(|(_, end)| end <= from);
            self.0.get(at).is_some_and(|(begin, end)| begin <= from && to <= end)
        })
    }

    /// Returns true if these runs hold a time of the others.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        other.0.iter().any(|(from, to)| {
            let at = self.0.partition_point(|(_, end)| end <= from);
            self.0.get(at).is_some_and(|(begin, _)| begin < to)
        })
    }

    /// Adds other runs. Moves the runs behind them once: O(runs).
    pub fn add(&mut self, other: &Self) {
        let (Some((first, _)), Some((_, last))) = (other.0.first(), other.0.last()) else { return };
        let begin = self.0.partition_point(|(_, to)| to < first);
        let end = self.0.partition_point(|(from, _)| from <= last).max(begin);
        let mut both = [&self.0[begin..end], &other.0[..]].concat();
        both.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::with_capacity(both.len());
        for (from, to) in both {
            match merged.last_mut().filter(|(_, end)| from <= *end) {
                Some((_, end)) => *end = to.max(*end),
                None => merged.push((from, to)),
            }
        }
        self.0.splice(begin..end, merged);
    }

    /// Adds the time from `from` to `to`, which is not empty.
    pub fn insert(&mut self, from: i64, to: i64) {
        if from < to {
            self.add(&Self(vec![(from, to)]));
        }
    }

    /// Adds the time from `from` to `to`, which is not empty and behind all runs.
    pub fn push(&mut self, from: i64, to: i64) {
        match self.0.last_mut().filter(|(_, end)| from <= *end) {
            Some((_, end)) => *end = to.max(*end),
            None if from < to => self.0.push((from, to)),
            None => {}
        }
    }

    /// Returns the runs later by some milliseconds.
    #[must_use]
    pub fn shifted(&self, by: i64) -> Self {
        let shift = |time: i64| time.saturating_add(by);
        Self(
            self.0
                .iter()
                .map(|(from, to)| (shift(*from), shift(*to)))
                .filter(|(from, to)| from < to)
                .collect(),
        )
    }

    /// Takes the time from `from` to `to` out.
    pub fn remove(&mut self, from: i64, to: i64) {
        let begin = self.0.partition_point(|(_, end)| *end <= from);
        let end = self.0.partition_point(|(start, _)| *start < to).max(begin);
        let rest =
            self.0[begin..end].iter().flat_map(|run| [(run.0, from.min(run.1)), (to.max(run.0), run.1)]);
        let rest: Vec<(i64, i64)> = rest.filter(|(from, to)| from < to).collect();
        self.0.splice(begin..end, rest);
    }

    /// Takes the time of other runs out.
    pub fn subtract(&mut self, other: &Self) {
        other.iter().for_each(|(from, to)| self.remove(from, to));
    }

    /// Returns the runs between two times, without their parts before and behind.
    #[must_use]
    pub fn cut(&self, from: i64, to: i64) -> Self {
        Self(self.between(from, to).filter(|(from, to)| from < to).collect())
    }

    /// Iterates over the parts of the runs between two times.
    pub fn between(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
        let begin = self.0.partition_point(|(_, end)| *end <= from);
        let end = self.0.partition_point(|(start, _)| *start < to).max(begin);
        self.0[begin..end].iter().map(move |run| (run.0.max(from), run.1.min(to)))
    }

    /// Returns the beginning of the first run that begins at or after a time.
    #[must_use]
    pub fn first_from(&self, at: i64) -> Option<i64> {
        self.0.get(self.0.partition_point(|(from, _)| *from < at)).map(|(from, _)| *from)
    }

    /// Returns the end of the run that holds a time; the time itself if none does.
    #[must_use]
    pub fn end_from(&self, at: i64) -> i64 {
        let before = self.0.partition_point(|(from, _)| *from <= at);
        before.checked_sub(1).map_or(at, |run| self.0[run].1.max(at))
    }

    /// Returns the end of the last run.
    #[must_use]
    pub fn end(&self) -> Option<i64> {
        self.0.last().map(|(_, to)| *to)
    }

    /// Returns the end of the last run before a time, or the time if it lies in a run.
    #[must_use]
    pub fn last_end_before(&self, at: i64) -> Option<i64> {
        let before = self.0.partition_point(|(from, _)| *from < at);
        before.checked_sub(1).map(|run| self.0[run].1.min(at))
    }

    /// Iterates over the runs, each as its start and its end.
    pub fn iter(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.0.iter().copied()
    }

    /// Returns true if there is no run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Runs> for Vec<i64> {
    fn from(Runs(runs): Runs) -> Self {
        let mut numbers = Self::with_capacity(2 * runs.len());
        let mut at = 0;
        for (from, to) in runs {
            // Wrapping: a gap between two runs may have more than 2^63 ms.
            numbers.extend([from.wrapping_sub(at), to.wrapping_sub(from)]);
            at = to;
        }
        numbers
    }
}

/// The numbers are no list of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("runs of ticks are a start, and then lengths and gaps above 0 in turn")]
pub struct NotRuns;

impl TryFrom<Vec<i64>> for Runs {
    type Error = NotRuns;

    fn try_from(numbers: Vec<i64>) -> Result<Self, NotRuns> {
        let (mut runs, mut at) = (Vec::with_capacity(numbers.len() / 2), None);
        for pair in numbers.chunks(2) {
            let [gap, length] = *pair else { return Err(NotRuns) };
            let from = at.map_or(gap, |at: i64| at.wrapping_add(gap));
            let to = from.wrapping_add(length);
            if at.is_some_and(|at| from <= at) || to <= from {
                return Err(NotRuns);
            }
            runs.push((from, to));
            at = Some(to);
        }
        Ok(Self(runs))
    }
}

/// Returns the ticks with a reading of each channel of a window that ends at `until`.
#[must_use]
pub(super) fn ticks_of(description: &WindowDescription, until: i64) -> BTreeMap<String, Runs> {
    let WindowDescription { start, period, .. } = *description;
    let of = |(position, channel): (u16, &sotto_pack::Channel)| {
        // Agents of earlier versions did not tell which ticks had a reading: all count as sent.
        let presence = description.presence(position).unwrap_or_else(|| Presence::first(description.ticks()));
        (channel.name.clone(), Runs::of_ticks(&presence, start, period, until))
    };
    let channels = (0..).zip(description.layout.channels());
    channels.map(of).filter(|(_, runs)| !runs.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Returns the runs of these ticks of a millisecond.
    fn runs(ticks: &BTreeSet<i64>) -> Runs {
        let mut runs = Runs::default();
        ticks.iter().for_each(|tick| runs.add(&Runs(vec![(*tick, tick + 1)])));
        runs
    }

    fn ticks(runs: &Runs) -> BTreeSet<i64> {
        runs.iter().flat_map(|(from, to)| from..to).collect()
    }

    fn some_ticks() -> impl Strategy<Value = BTreeSet<i64>> {
        proptest::collection::btree_set(-40_i64..40, 0..50)
    }

    proptest! {
        #[test]
        fn runs_are_sets_of_ticks(sets in proptest::collection::vec(some_ticks(), 1..8)) {
            let (mut all, mut expected) = (Runs::default(), BTreeSet::new());
            for set in &sets {
                let one = runs(set);
                prop_assert_eq!(&ticks(&one), set);
                all.add(&one);
                expected.extend(set);
                prop_assert_eq!(&ticks(&all), &expected);
                let shape: Vec<(i64, i64)> = all.iter().collect();
                prop_assert!(shape.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?} touch", shape);
                prop_assert!((-41..41).all(|at| all.contains(at) == expected.contains(&at)));
            }
            let (from, to) = (-10, 15);
            let inside: BTreeSet<i64> = all.between(from, to).flat_map(|(from, to)| from..to).collect();
            prop_assert_eq!(inside, expected.range(from..to).copied().collect::<BTreeSet<_>>());
            let mut rest = all.clone();
            rest.subtract(&all.cut(from, to));
            let mut removed = all.clone();
            removed.remove(from, to);
            prop_assert_eq!(&rest, &removed);
            prop_assert_eq!(ticks(&rest), expected.iter().copied().filter(|at| !(from..to).contains(at)).collect::<BTreeSet<_>>());
            for at in -41..41 {
                let end = (at..).find(|at| !expected.contains(at)).unwrap();
                prop_assert_eq!(all.end_from(at), end);
                let starts = |at: &i64| expected.contains(at) && !expected.contains(&(at - 1));
                prop_assert_eq!(all.first_from(at), (at..41).find(starts));
                let last = expected.range(..at).next_back().map(|last| last + 1);
                prop_assert_eq!(all.last_end_before(at), last);
            }
            for set in &sets {
                prop_assert!(all.covers(&runs(set)));
                for other in &sets {
                    prop_assert_eq!(runs(set).covers(&runs(other)), other.is_subset(set));
                    prop_assert_eq!(runs(set).meets(&runs(other)), !other.is_disjoint(set));
                }
            }
            // The order of the sets, and a repetition, change nothing.
            let mut again = Runs::default();
            sets.iter().rev().chain(&sets).for_each(|set| again.add(&runs(set)));
            prop_assert_eq!(&again, &all);
            let numbers = Vec::<i64>::from(all.clone());
            prop_assert_eq!(Runs::try_from(numbers), Ok(all));
        }
    }

    #[test]
    fn numbers_that_are_no_runs_are_refused() {
        for wrong in [&[5][..], &[0, 0], &[0, -1], &[0, 5, 0, 5], &[0, 5, -1, 9], &[i64::MAX, 1]] {
            assert_eq!(Runs::try_from(wrong.to_vec()), Err(NotRuns), "{wrong:?}");
        }
        let far = Runs(vec![(i64::MIN, i64::MIN + 1), (i64::MAX - 1, i64::MAX)]);
        assert_eq!(Runs::try_from(Vec::from(far.clone())), Ok(far));
    }

    #[test]
    fn the_end_of_a_window_cuts_its_last_tick() {
        let mut presence = Presence::first(2);
        presence.insert(3);
        let runs = Runs::of_ticks(&presence, 100, Period::from_milliseconds(10), 135);
        assert_eq!(runs.iter().collect::<Vec<_>>(), [(100, 120), (130, 135)]);
        assert!(runs.contains(119) && !runs.contains(120) && runs.contains(134) && !runs.contains(135));
    }
}
