//! Natural order to bit-reversed Eval form (Cooley–Tukey).

use super::layers::{Factors, layers as run_layers};
use super::twiddles::{Direction, block_words};
use super::{
    layers_in_lanes, layers_of_pass, load_block, of_pass, parts, splits_blocks, store_block, transpose,
    twiddles,
};
use crate::ntt::NttTable;
use crate::vectors::arithmetic::{LaneArithmetic, LineOf};
use crate::vectors::lanes::Lanes;

/// Runs the forward transform. Range: in < q, out < q, or if OPEN the result of [`LaneArithmetic::open`]. The degree has at
/// least two blocks.
#[inline(always)]
pub(crate) fn forward<A: LaneArithmetic, const OPEN: bool>(a: A, table: &NttTable, values: &mut [u64]) {
    let twiddles = &twiddles::<A>(table).forward;
    let (lines, _) = A::Lanes::lines_mut(values);
    let left = (lines.len() / 8).ilog2();
    let layers = layers_of_pass::<A::Lanes>(left);
    any_pass::<A, true>(a, twiddles, layers, lines, 1);
    // Each part is finished while it is in the first-level cache.
    let length = lines.len() >> layers;
    for (part, lines) in lines.chunks_exact_mut(length).enumerate() {
        inner::<A, OPEN>(a, twiddles, left - layers, lines, (1 << layers) + part);
    }
}

/// Runs the layers below entry `at`.
#[inline(always)]
fn inner<A: LaneArithmetic, const OPEN: bool>(
    a: A,
    twiddles: &Direction,
    mut left: u32,
    lines: &mut [LineOf<A>],
    at: usize,
) {
    let mut at = at;
    while left > 0 {
        let layers = layers_of_pass::<A::Lanes>(left);
        let length = 8 << left;
        for (i, lines) in lines.chunks_exact_mut(length).enumerate() {
            any_pass::<A, false>(a, twiddles, layers, lines, at + i);
        }
        left -= layers;
        at <<= layers;
    }
    let blocks = twiddles.outer.len();
    let (count, words) = (lines.len() / 8, block_words(A::Lanes::COUNT));
    let words = &twiddles.blocks[(at - blocks) * words..][..count * words];
    blocks_in::<A, OPEN>(a, lines.as_chunks_mut::<8>().0, words);
}

/// Runs the layers of the blocks. With sixteen registers (four lanes) it runs the upper layers over all blocks, then
/// the lower layers: the chain of instructions of both is longer than the processor's reordering window.
#[inline(always)]
fn blocks_in<A: LaneArithmetic, const OPEN: bool>(a: A, blocks: &mut [[LineOf<A>; 8]], words: &[u64]) {
    let twiddles = || words.chunks_exact(block_words(A::Lanes::COUNT)).map(|words| words.split_at(16));
    let split = splits_blocks::<A::Lanes>();
    for (lines, (registers, lanes)) in blocks.iter_mut().zip(twiddles()) {
        let v = upper(a, lines, registers);
        if split {
            store_block(a, lines, v);
        } else {
            lower::<A, OPEN>(a, lines, v, lanes);
        }
    }
    if split {
        for (lines, (_, lanes)) in blocks.iter_mut().zip(twiddles()) {
            let v = load_block::<A, true, false>(a, lines);
            lower::<A, OPEN>(a, lines, v, lanes);
        }
    }
}

#[inline(always)]
fn any_pass<A: LaneArithmetic, const FIRST: bool>(
    a: A,
    twiddles: &Direction,
    layers: u32,
    lines: &mut [LineOf<A>],
    at: usize,
) {
    match layers {
        1 => pass::<A, FIRST, 2>(a, twiddles, lines, at),
        2 => pass::<A, FIRST, 4>(a, twiddles, lines, at),
        _ => pass::<A, FIRST, 8>(a, twiddles, lines, at),
    }
}

/// Runs log2(WAYS) layers between vectors that are `step` apart.
#[inline(always)]
fn pass<A: LaneArithmetic, const FIRST: bool, const WAYS: usize>(
    a: A,
    twiddles: &Direction,
    lines: &mut [LineOf<A>],
    at: usize,
) {
    let l = a.lanes();
    let step = lines.len() / WAYS;
    let twiddles = of_pass::<WAYS>(&twiddles.outer, at);
    let parts = parts::<_, WAYS>(lines);
    #[allow(clippy::needless_range_loop, reason = "the same line of every part")]
    for i in 0..step {
        let mut v = [a.zero(); WAYS];
        for k in 0..WAYS {
            let words = l.load(&parts[k][i]);
            v[k] = if FIRST { a.take(words) } else { a.of_kept(words) };
            if A::SETTLES_ON_LOAD && !FIRST {
                v[k] = a.settle(v[k]);
            }
        }
        run_layers::<A, true>(a, &mut v, Factors::All(&twiddles));
        for k in 0..WAYS {
            l.store(&mut parts[k][i], a.kept(v[k]));
        }
    }
}

/// Runs the layers between registers.
#[inline(always)]
fn upper<A: LaneArithmetic>(a: A, lines: &[LineOf<A>; 8], registers: &[u64]) -> [A::Value; 8] {
    let mut v = load_block::<A, true, true>(a, lines);
    run_layers::<A, true>(a, &mut v, Factors::All(registers.as_chunks::<2>().0));
    v
}

/// Runs the last layers, and the reduction.
#[inline(always)]
fn lower<A: LaneArithmetic, const OPEN: bool>(
    a: A,
    lines: &mut [LineOf<A>; 8],
    v: [A::Value; 8],
    twiddles: &[u64],
) {
    let mut v = transpose(a, v);
    layers_in_lanes::<A, true>(a, &mut v, twiddles);
    let mut words = [a.lanes().all(0); 8];
    for (words, v) in words.iter_mut().zip(v) {
        *words = if OPEN { a.open(v) } else { a.give(v) };
    }
    words = a.lanes().transpose(words);
    for (line, words) in lines.iter_mut().zip(words) {
        a.lanes().store(line, words);
    }
}
