//! The number-theoretic transform on vectors. A *block* is eight registers: three layers run between them, and the last
//! layers inside transposed groups of as many registers as there are lanes. Ranges: docs/math/kernels.md#written-once.

mod forward;
mod inverse;
mod layers;
mod twiddles;

pub(crate) use forward::forward;
pub(crate) use inverse::inverse;
pub(crate) use twiddles::{Prepared, Twiddles};

use layers::{Factors, two_groups};
use twiddles::group_words;

use super::arithmetic::{LaneArithmetic, LineOf, Pair};
use super::lanes::Lanes;
use crate::ntt::NttTable;

/// Returns true if a degree has at least two blocks.
#[inline(always)]
pub(crate) fn fits<L: Lanes>(degree: usize) -> bool {
    degree >= 16 * L::COUNT
}

#[inline(always)]
fn twiddles<A: LaneArithmetic>(table: &NttTable) -> &Twiddles {
    prepared(table, A::Lanes::COUNT, A::pair)
}

#[inline(never)]
fn prepared(table: &NttTable, lanes: usize, pair: fn(&crate::Modulus, u64) -> Pair) -> &Twiddles {
    table.prepared.0[lanes.ilog2() as usize - 1]
        .or_init(|| Twiddles::new(table.modulus(), [&table.forward, &table.inverse], lanes, pair))
}

/// Returns the number of layers of the next pass, given the layers left above the blocks.
#[inline(always)]
fn layers_of_pass<L: Lanes>(left: u32) -> u32 {
    match left {
        1 => 1,
        _ if L::COUNT == 4 => 2,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Splits a part of the values into WAYS parts of equal length.
#[inline(always)]
fn parts<Line, const WAYS: usize>(lines: &mut [Line]) -> [&mut [Line]; WAYS] {
    let step = lines.len() / WAYS;
    let mut parts: [&mut [Line]; WAYS] = [(); WAYS].map(|()| Default::default());
    let mut rest = lines;
    for part in &mut parts {
        (*part, rest) = rest.split_at_mut(step);
    }
    parts
}

/// Returns the factors of log2(WAYS) layers, where entry `at` belongs to the first, in the order of
/// [`layers::Factors`].
#[inline(always)]
fn of_pass<const WAYS: usize>(outer: &[Pair], at: usize) -> [Pair; 7] {
    let mut twiddles = [outer[at]; 7];
    let mut groups = 1;
    while groups < WAYS {
        for group in 0..groups {
            twiddles[groups - 1 + group] = outer[groups * at + group];
        }
        groups *= 2;
    }
    twiddles
}

/// Returns true if a block's layers between registers and its layers in lanes are separate passes.
#[inline(always)]
fn splits_blocks<L: Lanes>() -> bool {
    L::COUNT == 4
}

/// Loads eight lines as values. KEPT: they are in the format between passes, else residues. SETTLED: settles them if
/// this kind does so on load.
#[inline(always)]
fn load_block<A: LaneArithmetic, const KEPT: bool, const SETTLED: bool>(
    a: A,
    lines: &[LineOf<A>; 8],
) -> [A::Value; 8] {
    let mut v = [a.zero(); 8];
    for (v, line) in v.iter_mut().zip(lines) {
        let words = a.lanes().load(line);
        *v = if KEPT { a.of_kept(words) } else { a.take(words) };
        if A::SETTLES_ON_LOAD && SETTLED {
            *v = a.settle(*v);
        }
    }
    v
}

#[inline(always)]
fn store_block<A: LaneArithmetic>(a: A, lines: &mut [LineOf<A>; 8], v: [A::Value; 8]) {
    for (line, v) in lines.iter_mut().zip(v) {
        a.lanes().store(line, a.kept(v));
    }
}

/// Runs the layers inside transposed groups of as many registers as there are lanes.
#[inline(always)]
fn layers_in_lanes<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value; 8], twiddles: &[u64]) {
    let count = A::Lanes::COUNT;
    let mut groups =
        twiddles.chunks_exact(group_words(count)).map(|words| Factors::Lanes(A::Lanes::lines(words).0));
    if count == 4 {
        let (first, second) = (groups.next().expect("a group"), groups.next().expect("another"));
        return two_groups::<A, FORWARD>(a, v, first, second);
    }
    for (v, lanes) in v.chunks_exact_mut(count).zip(groups) {
        layers::layers::<A, FORWARD>(a, v, lanes);
    }
}

#[inline(always)]
fn transpose<A: LaneArithmetic>(a: A, v: [A::Value; 8]) -> [A::Value; 8] {
    let mut words = [a.lanes().all(0); 8];
    for (words, v) in words.iter_mut().zip(v) {
        *words = a.kept(v);
    }
    words = a.lanes().transpose(words);
    let mut v = v;
    for (v, words) in v.iter_mut().zip(words) {
        *v = a.of_kept(words);
    }
    v
}
