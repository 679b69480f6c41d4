//! Weights of ticks: windows whose ticks share a weight are added in the cloud, others come down by themselves.

use std::collections::BTreeMap;
use std::ops::Range;

use super::columns::{Source, parts_of};
use super::{Read, Task};
use crate::quantities::{Input, Inputs, TickWeights};

/// Largest size of a weight's absolute value, in bits.
const WEIGHT_BITS: u32 = 17;
/// Largest number of sums over all windows of a part, for windows with the same weights.
const MOST_ALIKE: usize = 64;

/// The sums of one quantity with a weight for each tick of each window.
pub(super) struct Weighted<'w> {
    pub(super) part: usize,
    pub(super) windows: Range<usize>,
    pub(super) inputs: &'w Inputs<'w>,
    /// The number of the quantity in the results.
    pub(super) quantity: usize,
    pub(super) sources: &'w [Source],
    /// Σ|c| that every place holds.
    pub(super) capacity: u64,
}

impl Weighted<'_> {
    /// Adds the sums for the weights of a group's ticks. Returns None if a weight is too large.
    pub(super) fn of_ticks(&self, weights: &TickWeights, tasks: &mut Vec<Task>) -> Option<()> {
        let of = |input: &Input| {
            (0..input.window.sent_ticks()).map(|tick| input.weight(weights, tick)).collect::<Vec<i64>>()
        };
        let mut alike: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
        let mut even: Vec<(usize, i64)> = Vec::new();
        for at in self.windows.clone() {
            let of = of(self.inputs.at(at).input);
            match of.first() {
                Some(first) if of.iter().all(|weight| weight == first) => even.push((at, *first)),
                Some(_) => alike.entry(of).or_default().push(at),
                None => {}
            }
        }
        self.even(&even, tasks)?;
        let many = alike.len() > MOST_ALIKE;
        for (ticks, windows) in alike {
            match &windows[..] {
                [_] => self.alone(&windows, &ticks, tasks),
                _ if many => self.alone(&windows, &ticks, tasks),
                _ => self.chosen(&windows, Some(&ticks), tasks),
            }
        }
        Some(())
    }

    /// Adds each of these windows by itself, with a factor for each tick.
    pub(super) fn alone(&self, windows: &[usize], ticks: &[i64], tasks: &mut Vec<Task>) {
        tasks.extend(windows.iter().map(|at| self.task(*at..at + 1, None, 1, Some(ticks))));
    }

    /// Adds the sum of some windows: the others between them have the weight 0.
    pub(super) fn chosen(&self, windows: &[usize], ticks: Option<&[i64]>, tasks: &mut Vec<Task>) {
        for windows in windows.chunks(usize::try_from(self.capacity).unwrap_or(usize::MAX).max(1)) {
            let (Some(first), Some(last)) = (windows.first(), windows.last()) else { continue };
            let range = *first..last + 1;
            let weights: Vec<i64> =
                range.clone().map(|at| i64::from(windows.binary_search(&at).is_ok())).collect();
            let weights = Some(weights).filter(|weights| weights.contains(&0));
            tasks.push(self.task(range, weights, 1, ticks));
        }
    }

    /// Adds windows each of whose ticks have one weight, in digits of so many bits that the places hold the sums.
    fn even(&self, windows: &[(usize, i64)], tasks: &mut Vec<Task>) -> Option<()> {
        let largest = windows.iter().map(|(_, weight)| weight.unsigned_abs()).max().unwrap_or_default();
        if largest >> WEIGHT_BITS != 0 || self.capacity == 0 {
            return None;
        }
        let sums = |bits: u32| {
            let windows_a_sum = (self.capacity / ((1 << bits) - 1)).max(1);
            (windows.len() as u64).div_ceil(windows_a_sum) * u64::from(WEIGHT_BITS.div_ceil(bits))
        };
        let fitting = |bits: &u32| (1u64 << bits) - 1 <= self.capacity;
        let bits = (1..=WEIGHT_BITS).filter(fitting).min_by_key(|bits| sums(*bits))?;
        for shift in (0..u64::BITS - largest.leading_zeros()).step_by(bits as usize) {
            let digit =
                |weight: i64| weight.signum() * ((weight.unsigned_abs() >> shift) & ((1 << bits) - 1)) as i64;
            let (mut from, mut total) = (0, 0);
            for to in 0..=windows.len() {
                let size = windows.get(to).map_or(u64::MAX, |(_, weight)| digit(*weight).unsigned_abs());
                if u128::from(total) + u128::from(size) <= u128::from(self.capacity) {
                    total += size;
                    continue;
                }
                if total > 0 {
                    tasks.push(self.between(&windows[from..to], digit, 1 << shift));
                }
                (from, total) = (to, size);
            }
        }
        Some(())
    }

    fn between(&self, windows: &[(usize, i64)], digit: impl Fn(i64) -> i64, factor: i128) -> Task {
        let (first, last) = (windows[0].0, windows[windows.len() - 1].0);
        let weights: BTreeMap<usize, i64> =
            windows.iter().map(|(at, weight)| (*at, digit(*weight))).collect();
        let weights = (first..=last).map(|at| weights.get(&at).copied().unwrap_or_default()).collect();
        self.task(first..last + 1, Some(weights), factor, None)
    }

    fn task(
        &self,
        windows: Range<usize>,
        weights: Option<Vec<i64>>,
        factor: i128,
        ticks: Option<&[i64]>,
    ) -> Task {
        let parts = parts_of(self.sources.iter());
        let read = self.sources.iter().map(|source| Read {
            quantity: self.quantity,
            source: *source,
            ticks: ticks.map(<[i64]>::to_vec),
            window: None,
        });
        Task { part: self.part, windows, parts, weights, factor, read: read.collect(), each: false }
    }
}
