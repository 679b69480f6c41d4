//! The windows that a stream has sent: their numbers, times and channels. A correction names them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::names::Names;
use super::runs::Runs;

/// A window that was sent. Times are in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    number: u64,
    start: i64,
    until: i64,
    /// The place of its channels in [`SentWindows::sets`].
    set: u32,
}

/// The windows that a stream has sent, by number. One with a number of its own stands for each message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentWindows {
    /// The different sets of channels with readings.
    sets: Vec<BTreeSet<String>>,
    /// In order of their numbers.
    windows: Vec<Window>,
}

/// Windows with readings of the same channels, as one line of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    channels: BTreeSet<String>,
    /// For each window, its number less the one before, its start less the end of the one before, and its length.
    windows: Vec<i64>,
}

impl SentWindows {
    /// Adds a window with readings of these channels. A number that is there is not added again.
    pub fn add(&mut self, number: u64, (start, until): (i64, i64), channels: BTreeSet<String>) {
        let Err(place) = self.windows.binary_search_by_key(&number, |window| window.number) else { return };
        let set = self.sets.iter().position(|set| *set == channels).unwrap_or_else(|| {
            self.sets.push(channels);
            self.sets.len() - 1
        });
        self.windows.insert(place, Window { number, start, until, set: set as u32 });
    }

    /// Gives a window the number under which it was sent again.
    pub(super) fn renumber(&mut self, from: u64, to: u64) {
        let Ok(place) = self.windows.binary_search_by_key(&from, |window| window.number) else { return };
        let window = self.windows.remove(place);
        if let Err(place) = self.windows.binary_search_by_key(&to, |window| window.number) {
            self.windows.insert(place, Window { number: to, ..window });
        }
    }

    /// Returns the numbers of the windows between two times that have readings of one of these channels, ascending.
    #[must_use]
    pub fn between(&self, from: i64, to: i64, channels: &BTreeSet<&str>) -> Vec<u64> {
        let has = |set: &BTreeSet<String>| set.iter().any(|channel| channels.contains(channel.as_str()));
        let sets: Vec<bool> = self.sets.iter().map(has).collect();
        let named = |window: &&Window| {
            window.start < to && from < window.until && sets.get(window.set as usize).is_some_and(|has| *has)
        };
        self.windows.iter().filter(named).map(|window| window.number).collect()
    }

    /// Returns, by channel, the times of the windows that another one names, which covers `own`. False if windows that it
    /// does not name may have ticks there, too, or one is not known.
    pub(super) fn named(&self, names: &Names, own: (i64, i64)) -> (BTreeMap<String, Runs>, bool) {
        let (mut times, mut is_exact) = (BTreeMap::<String, Runs>::new(), true);
        for channel in &names.channels {
            let runs = times.entry(channel.clone()).or_default();
            let is_named = |window: &&Window| names.windows.binary_search(&window.number).is_ok();
            let named = self.of_channel(channel).filter(is_named);
            named.for_each(|window| runs.insert(window.start, window.until));
            let is_known =
                |number: &u64| self.windows.binary_search_by_key(number, |window| window.number).is_ok();
            if !names.windows.iter().all(is_known) {
                runs.insert(own.0, own.1);
                is_exact = false;
            }
            let meets = |window: &Window| runs.between(window.start, window.until).next().is_some();
            is_exact &= !self.of_channel(channel).any(|window| !is_named(&window) && meets(window));
        }
        (times, is_exact)
    }

    /// Returns the largest number, without these, of a window that ends after a time.
    pub(super) fn last_except(&self, numbers: &BTreeSet<u64>, after: Option<i64>) -> Option<u64> {
        let is_meant = |window: &&Window| {
            !numbers.contains(&window.number) && after.is_none_or(|after| window.until > after)
        };
        self.windows.iter().rev().find(is_meant).map(|window| window.number)
    }

    /// Iterates over the windows with readings of a channel.
    fn of_channel(&self, channel: &str) -> impl Iterator<Item = &Window> {
        let sets: Vec<bool> = self.sets.iter().map(|set| set.contains(channel)).collect();
        self.windows.iter().filter(move |window| sets.get(window.set as usize).is_some_and(|has| *has))
    }

    /// Returns the times of the windows with readings of a channel.
    #[must_use]
    pub fn times_of(&self, channel: &str) -> Runs {
        let mut times: Vec<(i64, i64)> =
            self.of_channel(channel).map(|window| (window.start, window.until)).collect();
        times.sort_unstable();
        let mut runs = Runs::default();
        times.into_iter().for_each(|(start, until)| runs.insert(start, until));
        runs
    }

    /// Iterates over the lines of a snapshot.
    pub(super) fn lines(&self) -> impl Iterator<Item = Listed> + '_ {
        self.sets.iter().enumerate().filter_map(|(set, channels)| {
            let (mut number, mut end, mut windows) = (0, 0, Vec::new());
            for window in self.windows.iter().filter(|window| window.set as usize == set) {
                // Wrapping: numbers have 64 bits, and two times may be more than 2^63 ms apart.
                windows.extend([
                    window.number.wrapping_sub(number).cast_signed(),
                    window.start.wrapping_sub(end),
                    window.until.wrapping_sub(window.start),
                ]);
                (number, end) = (window.number, window.until);
            }
            (!windows.is_empty()).then(|| Listed { channels: channels.clone(), windows })
        })
    }

    /// Adds the windows of a line.
    pub(super) fn add_listed(&mut self, listed: &Listed) {
        let (mut number, mut end) = (0_u64, 0_i64);
        for window in listed.windows.chunks_exact(3) {
            number = number.wrapping_add(window[0].cast_unsigned());
            let start = end.wrapping_add(window[1]);
            end = start.wrapping_add(window[2]);
            self.add(number, (start, end), listed.channels.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(channels: &[&str]) -> BTreeSet<String> {
        channels.iter().map(|channel| (*channel).to_owned()).collect()
    }

    fn windows() -> SentWindows {
        let mut all = SentWindows::default();
        all.add(7, (100, 200), set(&["a"]));
        all.add(3, (0, 100), set(&["a", "b"]));
        all.add(1 << 60, (-50, 0), set(&["b"]));
        all.add(9, (100, 150), set(&["b"]));
        all
    }

    #[test]
    fn windows_are_found_by_time_and_channel() {
        let all = windows();
        let between = |from, to, channel| all.between(from, to, &BTreeSet::from([channel]));
        assert_eq!(between(0, 200, "a"), [3, 7]);
        assert_eq!(between(99, 101, "b"), [3, 9]);
        assert_eq!(between(150, 300, "b"), Vec::<u64>::new());
        assert_eq!(between(-100, 1, "b"), [3, 1 << 60]);
        assert_eq!(all.times_of("b").iter().collect::<Vec<_>>(), [(-50, 150)]);
        assert_eq!(all.times_of("c").iter().count(), 0);
    }

    #[test]
    fn a_snapshot_keeps_them() {
        let mut all = windows();
        all.renumber(7, 12);
        let mut again = SentWindows::default();
        for line in all.lines() {
            let json = serde_json::to_string(&line).unwrap();
            again.add_listed(&serde_json::from_str(&json).unwrap());
        }
        let numbers = |windows: &SentWindows| windows.windows.iter().map(|w| w.number).collect::<Vec<_>>();
        assert_eq!(numbers(&again), [3, 9, 12, 1 << 60]);
        assert_eq!(again.between(100, 200, &BTreeSet::from(["a"])), [12]);
    }
}
