//! Bit-reversed Eval form back to natural order (Gentleman–Sande), times a constant.

use super::layers::{Factors, layers as run_layers};
use super::twiddles::{Direction, block_words};
use super::{
    layers_in_lanes, layers_of_pass, load_block, of_pass, parts, splits_blocks, store_block, transpose,
    twiddles,
};
use crate::modulus::Factor;
use crate::ntt::NttTable;
use crate::vectors::arithmetic::{LaneArithmetic, LineOf, Pair};
use crate::vectors::lanes::Lanes;

/// The constant that scales every result, and the last layer's factor times that constant.
#[derive(Clone, Copy)]
struct Last {
    scale: Pair,
    twiddle: Pair,
}

/// Runs the inverse transform times `scale`·n, from `from` if given, else in place. Range: in < q, out < q. The degree
/// has at least two blocks.
#[inline(always)]
pub(crate) fn inverse<A: LaneArithmetic>(
    a: A,
    table: &NttTable,
    values: &mut [u64],
    from: Option<&[u64]>,
    scale: Factor,
) {
    let twiddles = &twiddles::<A>(table).inverse;
    let m = table.modulus();
    let twiddle = m.multiply(scale.value, table.inverse[1].value);
    let last = Last { scale: A::pair(m, scale.value), twiddle: A::pair(m, twiddle) };
    let (lines, _) = A::Lanes::lines_mut(values);
    let left = (lines.len() / 8).ilog2();
    let layers = layers_of_pass::<A::Lanes>(left);
    let length = lines.len() >> layers;
    let from = from.map(|from| A::Lanes::lines(from).0);
    for (part, lines) in lines.chunks_exact_mut(length).enumerate() {
        let from = from.map(|from| &from[part * length..][..length]);
        inner(a, twiddles, left - layers, lines, from, (1 << layers) + part);
    }
    any_pass::<A, true>(a, twiddles, layers, lines, 1, last);
}

/// Runs the layers below entry `at`.
#[inline(always)]
fn inner<A: LaneArithmetic>(
    a: A,
    twiddles: &Direction,
    left: u32,
    lines: &mut [LineOf<A>],
    from: Option<&[LineOf<A>]>,
    at: usize,
) {
    let blocks = twiddles.outer.len();
    let (count, words) = (lines.len() / 8, block_words(A::Lanes::COUNT));
    let words = &twiddles.blocks[((at << left) - blocks) * words..][..count * words];
    let from = from.map(|from| from.as_chunks::<8>().0);
    blocks_in(a, lines.as_chunks_mut::<8>().0, from, words);
    let unused = Last { scale: [0; 2], twiddle: [0; 2] };
    // The layers above the blocks, from the lowest on: the passes of the forward transform in reverse order.
    let mut done = 0;
    while done < left {
        let layers = layers_of_pass::<A::Lanes>(left - done);
        done += layers;
        let length = 8 << done;
        for (i, lines) in lines.chunks_exact_mut(length).enumerate() {
            any_pass::<A, false>(a, twiddles, layers, lines, (at << (left - done)) + i, unused);
        }
    }
}

#[inline(always)]
fn any_pass<A: LaneArithmetic, const LAST: bool>(
    a: A,
    twiddles: &Direction,
    layers: u32,
    lines: &mut [LineOf<A>],
    at: usize,
    last: Last,
) {
    match layers {
        1 => pass::<A, LAST, 2>(a, twiddles, lines, at, last),
        2 => pass::<A, LAST, 4>(a, twiddles, lines, at, last),
        _ => pass::<A, LAST, 8>(a, twiddles, lines, at, last),
    }
}

/// Runs log2(WAYS) layers between vectors that are `step` apart.
#[inline(always)]
fn pass<A: LaneArithmetic, const LAST: bool, const WAYS: usize>(
    a: A,
    twiddles: &Direction,
    lines: &mut [LineOf<A>],
    at: usize,
    last: Last,
) {
    let l = a.lanes();
    let step = lines.len() / WAYS;
    let mut twiddles = of_pass::<WAYS>(&twiddles.outer, at);
    if LAST {
        twiddles[0] = last.twiddle;
    }
    let parts = parts::<_, WAYS>(lines);
    #[allow(clippy::needless_range_loop, reason = "the same line of every part")]
    for i in 0..step {
        let mut v = [a.zero(); WAYS];
        for k in 0..WAYS {
            v[k] = a.of_kept(l.load(&parts[k][i]));
            if A::SETTLES_ON_LOAD {
                v[k] = a.settle(v[k]);
            }
        }
        run_layers::<A, false>(a, &mut v, Factors::All(&twiddles));
        if LAST {
            let scale = a.constant(&last.scale);
            for v in &mut v[..WAYS / 2] {
                *v = a.times(*v, scale);
            }
        } else {
            settle_sums(a, &mut v);
        }
        for k in 0..WAYS {
            l.store(&mut parts[k][i], if LAST { a.give_product(v[k]) } else { a.kept(v[k]) });
        }
    }
}

/// Settles the sums. Register 0 is a sum of all, register 1 of half as many products.
#[inline(always)]
fn settle_sums<A: LaneArithmetic>(a: A, v: &mut [A::Value]) {
    if A::SETTLES_SUMS {
        v[0] = a.settle(v[0]);
        v[1] = a.settle(v[1]);
    }
}

/// Runs the layers of the blocks, as in the forward transform.
#[inline(always)]
fn blocks_in<A: LaneArithmetic>(
    a: A,
    blocks: &mut [[LineOf<A>; 8]],
    from: Option<&[[LineOf<A>; 8]]>,
    words: &[u64],
) {
    let split = splits_blocks::<A::Lanes>();
    let twiddles = || words.chunks_exact(block_words(A::Lanes::COUNT)).map(|words| words.split_at(16));
    for (at, (lines, (registers, lanes))) in blocks.iter_mut().zip(twiddles()).enumerate() {
        let v = match from {
            Some(from) => lower(a, &from[at], lanes),
            None => lower(a, lines, lanes),
        };
        if split {
            store_block(a, lines, v);
        } else {
            upper(a, lines, v, registers);
        }
    }
    if split {
        for (lines, (registers, _)) in blocks.iter_mut().zip(twiddles()) {
            let v = load_block::<A, true, false>(a, lines);
            upper(a, lines, v, registers);
        }
    }
}

/// Runs the first layers.
#[inline(always)]
fn lower<A: LaneArithmetic>(a: A, lines: &[LineOf<A>; 8], twiddles: &[u64]) -> [A::Value; 8] {
    let mut v = transpose(a, load_block::<A, false, true>(a, lines));
    layers_in_lanes::<A, false>(a, &mut v, twiddles);
    for v in v.chunks_exact_mut(A::Lanes::COUNT) {
        settle_sums(a, v);
    }
    transpose(a, v)
}

/// Runs the layers between registers.
#[inline(always)]
fn upper<A: LaneArithmetic>(a: A, lines: &mut [LineOf<A>; 8], v: [A::Value; 8], registers: &[u64]) {
    let mut v = v;
    if A::SETTLES_ON_LOAD {
        for v in &mut v {
            *v = a.settle(*v);
        }
    }
    run_layers::<A, false>(a, &mut v, Factors::All(registers.as_chunks::<2>().0));
    settle_sums(a, &mut v);
    store_block(a, lines, v);
}
