//! The windows of inputs, by their position among all of them.

use std::ops::Range;

use sotto_wire::MaskName;

use super::quantity::{Input, Rolled};

/// Some windows of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputRun<'i> {
    pub(crate) input: &'i Input,
    /// The index of the first one in the input.
    pub(crate) from: u32,
    /// Number of windows, at least 1.
    pub(crate) count: u32,
}

/// The windows of some inputs, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs<'i> {
    runs: Vec<InputRun<'i>>,
    /// The position of the first window of each run.
    firsts: Vec<usize>,
    windows: usize,
}

impl<'i> InputRun<'i> {
    /// Returns its windows from an index on.
    pub(crate) fn part(self, from: u32, count: u32) -> Self {
        Self { from: self.from + from, count, ..self }
    }

    /// Iterates over its windows.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        (0..self.count).map(move |index| self.part(index, 1))
    }

    /// Returns the number of the first window in its stream.
    pub(crate) fn sequence(self) -> u64 {
        self.input.sequence.wrapping_add(self.from.into())
    }

    /// Returns the name of the first window's pads.
    pub(crate) fn name(self) -> Option<MaskName> {
        let after = |name: MaskName| name.ahead(self.from.into());
        self.input.name.map(after)
    }

    /// Returns the start of a window, by its index.
    pub(crate) fn start(self, index: u32) -> i64 {
        let window = &self.input.window;
        window.period.at(window.start, (self.from + index) * window.ticks())
    }

    /// Returns the sum that the cloud keeps in place of their bodies.
    pub(crate) fn rolled(self) -> Option<Rolled> {
        self.input.rolled
    }
}

impl<'i> Inputs<'i> {
    /// Returns the windows of these inputs.
    pub(crate) fn of(inputs: impl IntoIterator<Item = &'i Input>) -> Self {
        let mut all = Self::default();
        for input in inputs {
            all.push(InputRun { input, from: 0, count: input.count });
        }
        all
    }

    pub(crate) fn push(&mut self, run: InputRun<'i>) {
        self.firsts.push(self.windows);
        self.windows += run.count as usize;
        self.runs.push(run);
    }

    /// Returns the number of windows.
    pub(crate) fn len(&self) -> usize {
        self.windows
    }

    /// Iterates over the windows at some positions, as runs.
    pub(crate) fn runs(&self, windows: Range<usize>) -> impl Iterator<Item = InputRun<'i>> {
        let first = self.firsts.partition_point(|first| *first <= windows.start).saturating_sub(1);
        let runs = self.runs.iter().zip(&self.firsts).skip(first);
        runs.take_while(move |(_, first)| **first < windows.end).filter_map(move |(run, first)| {
            let from = windows.start.max(*first) - first;
            let end = windows.end.min(first + run.count as usize) - first;
            (from < end).then(|| run.part(from as u32, (end - from) as u32))
        })
    }

    /// Returns the window at a position, which must be one of them.
    pub(crate) fn at(&self, position: usize) -> InputRun<'i> {
        // Mostly each input is one window.
        let run = match self.firsts.get(position) {
            Some(first) if *first == position => position,
            _ => self.firsts.partition_point(|first| *first <= position) - 1,
        };
        self.runs[run].part((position - self.firsts[run]) as u32, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::input;

    #[test]
    fn an_input_is_its_windows() {
        let mut all = Input { count: 5, bytes: 503, offset: -4, ..input(7) };
        all.identity[24..].copy_from_slice(&7_u64.to_le_bytes());
        let each: Vec<Input> = all.each().collect();
        assert_eq!(each.iter().map(|input| input.bytes).sum::<u64>(), 503);
        for (index, input) in (0..).zip(&each) {
            let own = InputRun { input: &all, from: index, count: 1 };
            assert_eq!(
                (input.sequence, input.name, input.window.start),
                (own.sequence(), own.name(), own.start(0))
            );
            assert_eq!((input.count, input.offset), (1, -4 + 6 * i64::from(index)));
            assert_eq!(input.identity[24..], input.sequence.to_le_bytes());
        }
    }

    #[test]
    fn positions_are_those_of_the_windows_one_by_one() {
        let inputs = [(0, 1), (1, 5), (6, 1), (7, 3)].map(|(first, count)| Input { count, ..input(first) });
        let all = Inputs::of(&inputs);
        let alone: Vec<Input> = (0..10).map(input).collect();
        assert_eq!(all.len(), 10);
        let facts = |run: InputRun<'_>| (run.sequence(), run.name(), run.start(0));
        for (position, window) in alone.iter().enumerate() {
            let own = InputRun { input: window, from: 0, count: 1 };
            assert_eq!(facts(all.at(position)), facts(own));
        }
        for from in 0..=10 {
            for to in from..=10 {
                let found: Vec<u64> =
                    all.runs(from..to).flat_map(InputRun::each).map(InputRun::sequence).collect();
                assert_eq!(found, (from as u64..to as u64).collect::<Vec<_>>());
            }
        }
    }
}
