//! The first half of a base conversion: the rounded quotient.

use crate::conversion::{FRACTION_BITS, Quotient};
#[cfg(target_arch = "x86_64")]
use crate::ifma::lanes::BITS;
use crate::vectors::conversions::{MOST_SOURCES, SIDE, rests, rows};
use crate::vectors::{Lanes, ROUND};

pub(crate) fn scalar(out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    for (i, v) in out.iter_mut().enumerate() {
        let part =
            |(y, q): (&&[u64], &Quotient)| ((u128::from(y[i]) * u128::from(q.constant)) >> q.shift) as u64;
        let sum: u64 = sources.iter().zip(quotients).map(part).sum();
        *v = (sum + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
    }
}

/// Rounds a quotient. Sources are below 2^(shift − 26); floating-point integers must be below 2^52.
#[inline(always)]
pub(crate) fn lanes<L: Lanes>(lanes: L, out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    if sources.len() <= MOST_SOURCES && quotients.iter().all(|q| q.shift <= 26 + 52) {
        vector(lanes, out, sources, quotients);
    } else {
        scalar(out, sources, quotients);
    }
}

/// Computes out = round(Σ floor(y·constant / 2^shift) / 2^25) in floating point: docs/math/kernels.md#floating-point.
/// Range: y < 2^52.
#[inline(always)]
fn vector<L: Lanes>(l: L, out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    let round = l.all_floats(ROUND);
    let half = l.all(1 << (FRACTION_BITS - 1));
    // The constant, 2^shift and 2^-shift.
    let mut numbers = [[0.0; 3]; MOST_SOURCES];
    for (numbers, quotient) in numbers.iter_mut().zip(quotients) {
        let unit = power_of_two(quotient.shift);
        *numbers = [quotient.constant as f64, unit, 1.0 / unit];
    }
    let (rows, whole) = rows::<L>(out.len(), sources);
    let (rows, numbers) = (&rows[..sources.len()], &numbers[..sources.len()]);
    for (at, lines) in L::lines_mut(out).0.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
        let (mut sums, mut over) = ([l.all_floats(0.0); SIDE], [l.all(0); SIDE]);
        for (row, [by, unit, inverse]) in rows.iter().zip(numbers) {
            let row = &row[at];
            let (by, unit, inverse) = (l.all_floats(*by), l.all_floats(*unit), l.all_floats(*inverse));
            for k in 0..SIDE {
                let y = l.to_floats(l.load(&row[k]));
                let product = l.times(y, by);
                let lost = l.minus_times(product, y, by);
                let nearest = l.minus(l.times_plus(product, inverse, round), round);
                // If the product is below the nearest multiple, the floor is one less.
                let rest = l.minus(l.minus_times(product, nearest, unit), lost);
                sums[k] = l.plus(sums[k], nearest);
                over[k] = l.add(over[k], l.shift_right(l.words_of(rest), 63));
            }
        }
        for k in 0..SIDE {
            let sum = l.subtract(l.to_integers(sums[k]), over[k]);
            l.store(&mut lines[k], l.shift_right(l.add(sum, half), FRACTION_BITS));
        }
    }
    if whole < out.len() {
        let rest = rests(sources, whole);
        scalar(&mut out[whole..], &rest[..sources.len()], quotients);
    }
}

/// Returns 2^exponent. Range: exponent < 1024.
#[inline(always)]
fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits((1023 + u64::from(exponent)) << 52)
}

/// Returns true if 52-bit products hold the terms: y is below 2^(shift − 26).
#[cfg(target_arch = "x86_64")]
pub(crate) fn small(quotients: &[Quotient]) -> bool {
    quotients.iter().all(|q| q.shift <= 26 + BITS.end())
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{all, load, store};
    use crate::ifma::{SIDE, side};
    use alloc::vec::Vec;

    /// Computes out = round(Σ floor(y·constant / 2^shift) / 2^25). Range: y < 2^50, constants < 2^52, shifts ≤ 76.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
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
            scalar(rest, &sources, quotients);
        }
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, words};
    use crate::{Kernels, Modulus};
    let any = Modulus::new(97).unwrap();
    for source_bits in [20, 36, 44, 45, 47, 50, 51, 52, 53, 61] {
        for (count, length) in [(1, 9), (2, 64), (16, 40), (32, 23), (34, 32)] {
            let row = |seed| words(1 << source_bits, length, seed as u64);
            let rows: Vec<Vec<u64>> = (0..count).map(row).collect();
            let sources: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            let constants = [(1 << 52) - 1, 1 << 51, 0, 1];
            let quotient = |i: usize| Quotient { constant: constants[i % 4], shift: source_bits + 26 };
            let quotients: Vec<Quotient> = (0..count).map(quotient).collect();
            compare(&any, &vec![0; length], |k, x| (k.round_quotient)(x, &sources, &quotients));
        }
    }
    // One source at the limit of its range: the quotient's fraction is truncated, then rounded.
    for target in Kernels::available() {
        let mut out = [0; 1];
        let quotient = Quotient { constant: 1 << 51, shift: 76 };
        (target.round_quotient)(&mut out, &[&[(1 << 50) - 1]], &[quotient]);
        let expected = ((((1u64 << 50) - 1) >> 25) + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
        assert_eq!(out[0], expected, "{}", target.name);
    }
}
