//! Base conversion. Ranges: docs/math/kernels.md#conversion.

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::lanes::{Barrett, Constant, Line, Prime, Reduction, all, load, store};
use crate::conversion::{FRACTION_BITS, Lift, Quotient};
use crate::modulus::Modulus;
use crate::scalar;

/// Sizes of the sum, which decide how it is reduced.
const NARROW: u8 = 0;
const MEDIUM: u8 = 1;
const WIDE: u8 = 2;

/// Vectors computed side by side, so that constants are loaded once for all of them.
const SIDE: usize = 4;

/// Computes out = Σ source·weight + base. Range: q < 2^50, at most 34 sources below 2^`source_bits` ≤ 2^50, weights and
/// base < q.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn convert(
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    source_bits: u32,
    weights: &[u64],
    base: u64,
) {
    match (source_bits, m.bits()) {
        // The sum is below 2^(50 + b): one reduction.
        (..=44, _) => run::<NARROW>(m, out, sources, weights, base),
        // The upper part of the sum is below 2^52.
        (s, t) if s + t <= 97 => run::<MEDIUM>(m, out, sources, weights, base),
        _ => run::<WIDE>(m, out, sources, weights, base),
    }
    let whole = out.len() / (8 * SIDE) * (8 * SIDE);
    if whole < out.len() {
        let rest: Vec<&[u64]> = sources.iter().map(|s| &s[whole..]).collect();
        scalar::convert(m, &mut out[whole..], &rest, source_bits, weights, base);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn run<const SIZE: u8>(m: &Modulus, out: &mut [u64], sources: &[&[u64]], weights: &[u64], base: u64) {
    let (barrett, reduction) = (Barrett::new(m), Reduction::new(m));
    let p = barrett.prime();
    let zero = _mm512_setzero_si512();
    let word = m.narrow.word;
    let top = if SIZE == WIDE { m.factor(m.multiply(word, word)) } else { m.factor(0) };
    let top = Constant::all(top.into());
    let base = all(base);
    let (groups, _) = out.as_chunks_mut::<{ 8 * SIDE }>();
    for (i, group) in groups.iter_mut().enumerate() {
        let (mut low, mut high) = ([base; SIDE], [zero; SIDE]);
        for (source, weight) in sources.iter().zip(weights) {
            let (lines, weight) = (side(source, i), all(*weight));
            for k in 0..SIDE {
                let y = load(&lines[k]);
                low[k] = _mm512_madd52lo_epu64(low[k], y, weight);
                high[k] = _mm512_madd52hi_epu64(high[k], y, weight);
            }
        }
        let (lines, _) = group.as_chunks_mut::<8>();
        for ((line, low), high) in lines.iter_mut().zip(low).zip(high) {
            let reduced = match SIZE {
                NARROW => {
                    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
                    barrett.reduce(high, p.mask(low))
                }
                MEDIUM => reduction.reduce(high, low),
                _ => {
                    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
                    let part = p.multiply_constant(_mm512_srli_epi64::<52>(high), top);
                    let rest = reduction.reduce(p.mask(high), p.mask(low));
                    p.correct(p.below(_mm512_add_epi64(rest, part), p.two_q))
                }
            };
            store(line, reduced);
        }
    }
}

/// Computes x, or x − modulus from the threshold on. Range: q < 2^50, x < modulus < 2^50.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn lift(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let q = m.value();
    // A multiple of q that keeps the difference from falling below zero.
    let multiple = ((lift.modulus - lift.threshold) / q + 1) * q;
    if lift.threshold + multiple <= 2 * q {
        lift_by::<false>(m, out, values, lift, multiple);
    } else {
        lift_by::<true>(m, out, values, lift, multiple);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn lift_by<const REDUCE: bool>(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift, multiple: u64) {
    let p = Prime::new(m);
    let (threshold, below) = (all(lift.threshold), all(multiple));
    // Below zero if the modulus is larger than the multiple: then the word wraps.
    let above = all(multiple.wrapping_sub(lift.modulus));
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (sources, tail) = values.as_chunks::<8>();
    for (line, source) in lines.iter_mut().zip(sources) {
        let x = load(source);
        let reached = _mm512_cmpge_epu64_mask(x, threshold);
        let moved = _mm512_add_epi64(x, _mm512_mask_mov_epi64(below, reached, above));
        store(line, p.correct(if REDUCE { p.reduce_open(moved) } else { moved }));
    }
    scalar::lift(m, rest, tail, lift);
}

/// Computes out = round(Σ floor(y·constant / 2^shift) / 2^25). Range: y < 2^50, constants < 2^52, shifts ≤ 76.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn round_quotient(out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    let zero = _mm512_setzero_si512();
    let half = all(1 << (FRACTION_BITS - 1));
    let whole = out.len() / (8 * SIDE) * (8 * SIDE);
    let (groups, rest) = out.as_chunks_mut::<{ 8 * SIDE }>();
    for (i, group) in groups.iter_mut().enumerate() {
        let mut sums = [half; SIDE];
        for (source, quotient) in sources.iter().zip(quotients) {
            let (lines, by) = (side(source, i), all(quotient.constant));
            let shift = i64::from(quotient.shift);
            // A shift count of 64 or more, or below zero, gives zero.
            let count = |by: i64| _mm_cvtsi64_si128(by);
            let (left, right, beyond) = (count(52 - shift), count(shift), count(shift - 52));
            for k in 0..SIDE {
                let y = load(&lines[k]);
                let high = _mm512_madd52hi_epu64(zero, y, by);
                let part = if shift >= 52 {
                    _mm512_srl_epi64(high, beyond)
                } else {
                    let low = _mm512_madd52lo_epu64(zero, y, by);
                    _mm512_or_si512(_mm512_sll_epi64(high, left), _mm512_srl_epi64(low, right))
                };
                sums[k] = _mm512_add_epi64(sums[k], part);
            }
        }
        let (lines, _) = group.as_chunks_mut::<8>();
        for (line, sum) in lines.iter_mut().zip(sums) {
            store(line, _mm512_srli_epi64::<FRACTION_BITS>(sum));
        }
    }
    if !rest.is_empty() {
        let sources: Vec<&[u64]> = sources.iter().map(|s| &s[whole..]).collect();
        scalar::round_quotient(rest, &sources, quotients);
    }
}

/// Returns group number `index` of a slice.
#[inline(always)]
fn side(words: &[u64], index: usize) -> &[Line; SIDE] {
    let (lines, _) = words.as_chunks::<8>();
    lines[SIDE * index..].first_chunk().expect("a whole group")
}
