//! The windows that an answer uses, each once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use sotto_wire::Digest;

use crate::quantities::Input;
use crate::runs::share;
use crate::windows::StoredWindow;

/// The identity of a window of sums without its last bytes, which are its number.
type StreamPart = [u8; 24];

/// Windows with their bytes. Those of sums are kept as runs of numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    sums: BTreeMap<StreamPart, Runs>,
    /// The others, by their leaf.
    leaves: HashMap<Digest, u64>,
}

/// Runs of numbers that do not overlap: by the first one, the one behind the last, and the bytes of their windows.
#[derive(Clone, Debug, Default)]
struct Runs(BTreeMap<u128, (u128, u64)>);

impl Runs {
    /// Adds the numbers of a run that are not there.
    fn add(&mut self, first: u128, end: u128, bytes: u64) {
        let mut at = first;
        let index = |at: u128| (at - first) as u64;
        let share = |part: Range<u128>| share(bytes, index(part.start)..index(part.end), index(end));
        while at < end {
            let there = self.0.range(..=at).next_back().map_or(0, |(_, (end, _))| *end);
            if there > at {
                at = there;
                continue;
            }
            let until = self.0.range(at..end).next().map_or(end, |(first, _)| *first);
            let (first, before_it) = match self.0.range(..at).next_back() {
                Some((first, (end, bytes))) if *end == at => (*first, *bytes),
                _ => (at, 0),
            };
            let (end, behind) = self.0.remove(&until).unwrap_or((until, 0));
            self.0.insert(first, (end, before_it + share(at..until) + behind));
            at = until;
        }
    }
}

impl Used {
    /// Adds the windows of an input.
    pub(crate) fn add(&mut self, input: &Input) {
        match (input.name, stream_part(&input.identity, input.sequence)) {
            (Some(_), Some(stream)) => {
                let first = u128::from(input.sequence);
                let end = first + u128::from(input.count);
                self.sums.entry(stream).or_default().add(first, end, input.bytes);
            }
            _ => drop(self.leaves.insert(input.identity, input.bytes)),
        }
    }

    /// Adds those of others that are not there.
    pub(crate) fn extend(&mut self, others: Self) {
        for (stream, runs) in others.sums {
            let own = self.sums.entry(stream).or_default();
            runs.0.into_iter().for_each(|(first, (end, bytes))| own.add(first, end, bytes));
        }
        self.leaves.extend(others.leaves);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.leaves.is_empty()
    }

    /// Returns the number of windows.
    pub(crate) fn windows(&self) -> u64 {
        let runs = self.sums.values().flat_map(|runs| &runs.0);
        runs.map(|(first, (end, _))| (end - first) as u64).sum::<u64>() + self.leaves.len() as u64
    }

    /// Returns the bytes of all windows.
    pub(crate) fn bytes(&self) -> u64 {
        let sums: u64 = self.sums.values().flat_map(|runs| runs.0.values()).map(|(_, bytes)| bytes).sum();
        sums + self.leaves.values().sum::<u64>()
    }

    /// Returns true if a window that is an entry of its own in a list is used.
    pub(crate) fn has(&self, window: &StoredWindow) -> bool {
        let Some(stream) = Self::stream_of(window) else { return self.leaves.contains_key(&window.identity) };
        let number = u128::from(window.sequence);
        let runs = self.sums.get(&stream);
        runs.and_then(|runs| runs.0.range(..=number).next_back()).is_some_and(|(_, (end, _))| *end > number)
    }

    /// Returns the numbers of a device's windows that are used, by stream, as runs: the first of each, and how many there are.
    /// `windows` has all of them.
    pub(crate) fn numbers<'w>(
        &self,
        windows: impl Iterator<Item = &'w StoredWindow>,
    ) -> BTreeMap<String, Vec<(u64, u32)>> {
        let mut streams: BTreeMap<&str, BTreeSet<Option<StreamPart>>> = BTreeMap::new();
        let mut alone: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        let mut last: Option<(&str, Option<StreamPart>)> = None;
        for window in windows {
            let of = (&*window.stream, Self::stream_of(window));
            if of.1.is_none() && self.leaves.contains_key(&window.identity) {
                alone.entry(of.0).or_default().insert(window.sequence);
            }
            if last != Some(of) {
                streams.entry(of.0).or_default().insert(of.1);
                last = Some(of);
            }
        }
        let of_stream = |(stream, parts): (&str, BTreeSet<Option<StreamPart>>)| {
            let mut all = Runs::default();
            for number in alone.remove(stream).into_iter().flatten().map(u128::from) {
                all.add(number, number + 1, 0);
            }
            for runs in parts.iter().flatten().filter_map(|part| self.sums.get(part)) {
                runs.0.iter().for_each(|(first, (end, _))| all.add(*first, *end, 0));
            }
            let runs = all.0.into_iter().flat_map(|(first, (end, _))| {
                let most = u128::from(u32::MAX);
                let firsts = (0..).map(move |at| first + at * most).take_while(move |first| *first < end);
                firsts.map(move |first| (first as u64, (end - first).min(most) as u32))
            });
            (stream.to_owned(), runs.collect::<Vec<_>>())
        };
        streams.into_iter().map(of_stream).filter(|(_, runs)| !runs.is_empty()).collect()
    }

    /// Returns the part of its identity by which a window of sums is kept.
    fn stream_of(window: &StoredWindow) -> Option<StreamPart> {
        window.stream_of_sums().and_then(|_| stream_part(&window.identity, window.sequence))
    }

    /// Iterates over the leaves of windows that are not of sums, with their bytes.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = (&Digest, u64)> {
        self.leaves.iter().map(|(leaf, bytes)| (leaf, *bytes))
    }
}

/// Returns the part of an identity before a window's number; None if it does not end with that.
fn stream_part(identity: &Digest, sequence: u64) -> Option<StreamPart> {
    let (stream, number) = identity.split_first_chunk()?;
    (*number == sequence.to_le_bytes()).then_some(*stream)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_count_once(runs in proptest::collection::vec((0_u64..60, 1_u64..20), 0..30)) {
            let (mut all, mut right) = (Runs::default(), BTreeSet::new());
            for (first, count) in runs {
                all.add(first.into(), (first + count).into(), 7 * count);
                right.extend(u128::from(first)..u128::from(first + count));
            }
            let found = all.0.iter().flat_map(|(first, (end, _))| *first..*end);
            prop_assert!(found.eq(right.iter().copied()));
            prop_assert_eq!(all.0.values().map(|(_, bytes)| bytes).sum::<u64>(), 7 * right.len() as u64);
            let parts: Vec<_> = all.0.iter().map(|(first, (end, _))| (*first, *end)).collect();
            prop_assert!(parts.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", parts);
        }
    }
}
