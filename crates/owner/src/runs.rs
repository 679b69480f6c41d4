//! Runs: numbers or windows that follow each other.

use std::ops::Range;

/// Returns the runs of neighbouring numbers in their order: the first of each, and how many there are.
pub(crate) fn runs(numbers: impl IntoIterator<Item = u64>) -> Vec<(u64, u32)> {
    joined(numbers.into_iter().map(|number| (number, 1)))
}

/// Returns runs of numbers, those that follow each other as one: the first of each, and how many there are.
pub(crate) fn joined(runs: impl IntoIterator<Item = (u64, u32)>) -> Vec<(u64, u32)> {
    let mut joined: Vec<(u64, u32)> = Vec::new();
    for (number, more) in runs {
        let follows = |(first, count): &&mut (u64, u32)| {
            first.checked_add(u64::from(*count)) == Some(number) && count.checked_add(more).is_some()
        };
        match joined.last_mut().filter(follows) {
            Some((_, count)) => *count += more,
            None => joined.push((number, more)),
        }
    }
    joined
}

/// Returns the first of these indexes for which a condition does not hold, or their end. Where it does not hold, it holds for no
/// later one.
pub(crate) fn partition_point(indexes: Range<u64>, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (indexes.start, indexes.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Returns the bytes of some windows of a run of `count`, by their indexes. Those of all parts together are those of the run.
pub(crate) fn share(bytes: u64, windows: Range<u64>, count: u64) -> u64 {
    let before = |index: u64| u128::from(bytes) * u128::from(index) / u128::from(count.max(1));
    (before(windows.end) - before(windows.start)) as u64
}
