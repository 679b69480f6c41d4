//! Windows that follow each other, as one entry of a list: its first window is described, the others follow from it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::group::InGroup;
use super::known::identity;
use super::window::StoredWindow;
use crate::runs::{partition_point, share};

impl StoredWindow {
    /// Returns the number of windows that it stands for.
    pub(crate) fn count(&self) -> u64 {
        self.count.into()
    }

    /// Returns true if it stands for several windows. Each of them has all readings.
    pub(crate) fn is_run(&self) -> bool {
        self.count > 1
    }

    /// Returns the number of ticks of all its windows.
    pub(super) fn all_ticks(&self) -> u32 {
        self.description.ticks().saturating_mul(self.count)
    }

    /// Returns how much of the last tick of each of its windows the end of the window's span cuts off, in milliseconds.
    pub(super) fn cut_off(&self) -> i64 {
        self.instant(self.all_ticks()).saturating_sub(self.end)
    }

    /// Returns the end of the tick before one, or of its window's span if that is earlier.
    pub(super) fn end_before(&self, tick: u32) -> i64 {
        let is_last = tick.is_multiple_of(self.description.ticks().max(1));
        self.instant(tick) - if is_last { self.cut_off() } else { 0 }
    }

    /// Returns some of its windows, from an index on, with those of their ticks that an answer uses.
    pub(crate) fn part(&self, from: u32, count: u32) -> Self {
        let length = self.description.ticks();
        let (first, all) = (from * length, count * length);
        let description = if from == 0 {
            self.description.clone()
        } else {
            let mut description = (*self.description).clone();
            description.start = self.instant(first);
            description.into()
        };
        let mut part = Self {
            sequence: self.sequence.wrapping_add(from.into()),
            bytes: share(self.bytes, from.into()..(from + count).into(), self.count.into()),
            end: self.instant(first + all) - self.cut_off(),
            ticks: self.ticks.start.clamp(first, first + all) - first
                ..self.ticks.end.clamp(first, first + all) - first,
            description,
            count,
            ..self.clone()
        };
        if let Some(sums) = &mut part.sums {
            sums.name = sums.name.ahead(from.into());
            part.identity = identity(Some(&sums.stream), part.sequence);
        }
        part
    }

    /// Iterates over its windows with ticks that an answer uses.
    pub(crate) fn each(&self) -> impl Iterator<Item = Self> {
        let length = self.description.ticks().max(1);
        let used = self.ticks.start / length..self.ticks.end.div_ceil(length).min(self.count);
        (if self.is_run() { used } else { 0..1 }).map(|index| self.part(index, 1))
    }

    /// Divides it so that each part is all windows of a run, or a window alone, with the groups of its ticks: windows that several
    /// groups share, or of which a group has some ticks only, are alone. `pieces` are its ticks in groups, in order.
    pub(crate) fn by_pieces(&self, pieces: Vec<InGroup>) -> Vec<(Self, Vec<InGroup>)> {
        if !self.is_run() {
            return vec![(self.clone(), pieces)];
        }
        let length = self.description.ticks();
        let (mut parts, mut alone) = (Vec::new(), BTreeMap::<u32, Vec<InGroup>>::new());
        for InGroup { group, ticks } in pieces {
            let whole = ticks.start.div_ceil(length)..ticks.end / length;
            let mut cut = |index: u32| {
                let all = index * length..(index + 1) * length;
                let ticks = ticks.start.max(all.start)..ticks.end.min(all.end);
                if !ticks.is_empty() {
                    let ticks = ticks.start - all.start..ticks.end - all.start;
                    alone.entry(index).or_default().push(InGroup { group, ticks });
                }
            };
            if whole.start > whole.end {
                cut(whole.end);
                continue;
            }
            if whole.start * length > ticks.start {
                cut(whole.start - 1);
            }
            if !whole.is_empty() {
                let part = self.part(whole.start, whole.end - whole.start);
                parts.push((part, vec![InGroup { group, ticks: 0..length }]));
            }
            if ticks.end > whole.end * length {
                cut(whole.end);
            }
        }
        parts.extend(alone.into_iter().map(|(index, pieces)| (self.part(index, 1), pieces)));
        parts.sort_by_key(|(part, _)| part.sequence);
        parts
    }

    /// Returns the windows of a run that lie in none of these times, which are in order and do not overlap, as runs, and the
    /// others one by one.
    pub(super) fn outside(&self, times: &[Range<i64>]) -> (Vec<Self>, Vec<Self>) {
        let length = self.description.ticks();
        let first_of = |index: u32| self.instant(index * length);
        let (mut runs, mut alone, mut at) = (Vec::new(), Vec::new(), 0);
        for time in &times[times.partition_point(|time| time.end <= first_of(0))..] {
            // The first window that ends after the time begins, and the first one that begins when it has ended.
            let first = |from: u32, holds: &dyn Fn(u32) -> bool| {
                partition_point(from.into()..self.count.into(), |index| holds(index as u32)) as u32
            };
            let met = first(at, &|index| first_of(index + 1) <= time.start);
            let end = first(met, &|index| first_of(index) < time.end);
            if met >= self.count {
                break;
            }
            if met > at {
                runs.push(self.part(at, met - at));
            }
            alone.extend((met..end).map(|index| self.part(index, 1)));
            at = end;
        }
        if at < self.count {
            runs.push(self.part(at, self.count - at));
        }
        let is_used = |window: &Self| !window.ticks.is_empty();
        runs.retain(is_used);
        alone.retain(is_used);
        (runs, alone)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::group::{Grouping, pieces};
    use super::super::overlaps::tests::run;
    use super::super::row_time::Group;
    use super::*;

    const HOUR: i64 = 3_600_000;

    type Facts = (u64, i64, i64, Range<u32>, u64);

    fn facts(window: &StoredWindow) -> Facts {
        (window.sequence, window.start(), window.to(), window.ticks(), window.bytes)
    }

    proptest! {
        #[test]
        fn a_run_is_its_windows(
            (length, count) in (1_u32..9, 2_u32..12),
            (from, to) in (0_u32..120, 0_u32..120),
            ends in prop::collection::btree_set(0_i64..130, 0..9),
        ) {
            let mut all = run(3, 0..i64::from(length), count);
            all.ticks = from.min(to)..from.max(to).min(all.all_ticks());
            prop_assume!(!all.ticks.is_empty());
            let alone: Vec<StoredWindow> = all.each().collect();
            prop_assert_eq!(alone.iter().map(|window| window.ticks.len()).sum::<usize>(), all.ticks.len());
            prop_assert_eq!((alone[0].from(), alone[alone.len() - 1].to()), (all.from(), all.to()));
            // Groups with gaps between them.
            let ends: Vec<i64> = ends.into_iter().map(|end| end * HOUR).collect();
            let groups: Vec<Group> = ends.windows(2).step_by(2).map(|pair| Group { from: pair[0], to: pair[1] }).collect();
            let of_alone: BTreeMap<u64, Vec<InGroup>> = alone
                .iter()
                .map(|window| (window.sequence, pieces(&groups, Grouping::Times, window)))
                .filter(|(_, pieces)| !pieces.is_empty())
                .collect();
            let mut of_run = BTreeMap::new();
            for (part, groups) in all.by_pieces(pieces(&groups, Grouping::Times, &all)) {
                prop_assert!(!part.is_run() || part.is_whole() && groups.len() == 1);
                for window in part.each() {
                    let groups = if part.is_run() { vec![InGroup { ticks: window.ticks(), ..groups[0].clone() }] } else { groups.clone() };
                    prop_assert!(of_run.insert(window.sequence, groups).is_none());
                    let same = alone.iter().find(|other| other.sequence == window.sequence).unwrap();
                    prop_assert_eq!(facts(&window).1, facts(same).1);
                }
            }
            prop_assert_eq!(of_run, of_alone);
        }

        #[test]
        fn windows_outside_of_times_stay_in_runs(
            (length, count) in (1_u32..9, 2_u32..12),
            ends in prop::collection::btree_set(-20_i64..130, 0..9),
        ) {
            let all = run(3, 0..i64::from(length), count);
            let ends: Vec<i64> = ends.into_iter().map(|end| end * HOUR).collect();
            let times: Vec<Range<i64>> = ends.windows(2).step_by(2).map(|pair| pair[0]..pair[1]).collect();
            let meets = |window: &StoredWindow| {
                times.iter().any(|time| time.start < window.to() && window.from() < time.end)
            };
            let (runs, alone) = all.outside(&times);
            prop_assert!(alone.iter().all(|window| !window.is_run() && meets(window)));
            prop_assert!(runs.iter().all(|run| !meets(run)));
            let mut found: Vec<Facts> = runs.iter().flat_map(StoredWindow::each).chain(alone).map(|window| facts(&window)).collect();
            found.sort_by_key(|facts| facts.0);
            let mut right: Vec<Facts> = all.each().map(|window| facts(&window)).collect();
            for (found, right) in found.iter_mut().zip(&mut right) {
                (found.4, right.4) = (0, 0);
            }
            prop_assert_eq!(found, right);
        }
    }
}
