//! Sources of the conversions between bases, in groups of vectors.

use super::lanes::Lanes;

/// Vectors computed side by side.
pub(crate) const SIDE: usize = 2;
/// Products added before a sum is settled.
pub(crate) const SETTLED: usize = 8;
/// Largest number of sources of a conversion: see [`crate::Kernels`].
pub(crate) const MOST_SOURCES: usize = 34;

/// Returns the first count·[`SIDE`] vectors of some words.
#[inline(always)]
pub(crate) fn side_by_side<L: Lanes>(words: &[u64], count: usize) -> &[[L::Line; SIDE]] {
    &L::lines(words).0.as_chunks().0[..count]
}

/// Returns equally many groups of SIDE vectors of every source, and the number of words in them.
#[inline(always)]
pub(crate) fn rows<'a, L: Lanes>(
    length: usize,
    sources: &[&'a [u64]],
) -> ([&'a [[L::Line; SIDE]]; MOST_SOURCES], usize) {
    let count = length / (L::COUNT * SIDE);
    let mut rows: [&[[L::Line; SIDE]]; MOST_SOURCES] = [&[]; MOST_SOURCES];
    for (row, source) in rows.iter_mut().zip(sources) {
        *row = side_by_side::<L>(source, count);
    }
    (rows, count * L::COUNT * SIDE)
}

/// Returns the words of the sources that are not in whole groups of vectors.
#[inline(always)]
pub(crate) fn rests<'a>(sources: &[&'a [u64]], whole: usize) -> [&'a [u64]; MOST_SOURCES] {
    let mut rests: [&[u64]; MOST_SOURCES] = [&[]; MOST_SOURCES];
    for (rest, source) in rests.iter_mut().zip(sources) {
        *rest = &source[whole..];
    }
    rests
}
