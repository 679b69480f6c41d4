//! The second half of a base conversion: a weighted sum of other residues.

use crate::modulus::Modulus;
use crate::vectors::conversions::{MOST_SOURCES, SETTLED, SIDE, rests, rows};
use crate::vectors::{FLOAT, Float, LaneArithmetic, Lanes, Pair, Whole};

/// Converts between bases. Range: at most 34 sources below 2^61, weights and base < q < 2^61, so the sum is below
/// 2^128.
pub(crate) fn scalar(
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    _source_bits: u32,
    weights: &[u64],
    base: u64,
) {
    for (i, x) in out.iter_mut().enumerate() {
        let sum: u128 = sources.iter().zip(weights).map(|(y, w)| u128::from(y[i]) * u128::from(*w)).sum();
        *x = m.add(m.reduce_wide(sum), base);
    }
}

/// Converts between bases. Sources below 2^50 are floating-point numbers, others words.
#[inline(always)]
pub(crate) fn lanes<L: Lanes>(
    lanes: L,
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    source_bits: u32,
    weights: &[u64],
    base: u64,
) {
    if m.bits() < *FLOAT.start() || sources.len() > MOST_SOURCES {
        scalar(m, out, sources, source_bits, weights, base);
    } else if m.bits().max(source_bits) <= *FLOAT.end() {
        let a = Float::<L, true>::new(lanes, m);
        vector(a, m, out, sources, source_bits, weights, base);
    } else if L::WHOLE {
        let a = Whole::new(lanes, m);
        vector(a, m, out, sources, source_bits, weights, base);
    } else {
        scalar(m, out, sources, source_bits, weights, base);
    }
}

/// Computes out = Σ source·weight + base. Range: sources below 2^50 in floating point, any word in whole words.
#[inline(always)]
fn vector<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    source_bits: u32,
    weights: &[u64],
    base: u64,
) {
    let l = a.lanes();
    let mut pairs: [Pair; MOST_SOURCES] = [[0; 2]; MOST_SOURCES];
    for (pair, weight) in pairs.iter_mut().zip(weights) {
        *pair = A::pair(m, *weight);
    }
    let (rows, whole) = rows::<A::Lanes>(out.len(), sources);
    let (rows, pairs) = (&rows[..sources.len()], &pairs[..sources.len()]);
    let start = a.take(l.all(base));
    for (at, lines) in A::Lanes::lines_mut(out).0.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
        let mut sums = [start; SIDE];
        for (i, (row, pair)) in rows.iter().zip(pairs).enumerate() {
            let (row, by) = (&row[at], a.constant(pair));
            for k in 0..SIDE {
                sums[k] = a.add(sums[k], a.times(a.take(l.load(&row[k])), by));
                if !A::SETTLES_SUMS || i % SETTLED == SETTLED - 1 {
                    sums[k] = a.settle(sums[k]);
                }
            }
        }
        for k in 0..SIDE {
            l.store(&mut lines[k], a.give(sums[k]));
        }
    }
    if whole < out.len() {
        let rest = rests(sources, whole);
        scalar(m, &mut out[whole..], &rest[..sources.len()], source_bits, weights, base);
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Barrett, Constant, Reduction, all, load, store};
    use crate::ifma::{SIDE, side};
    use alloc::vec::Vec;

    /// Sizes of the sum, which decide how it is reduced.
    const NARROW: u8 = 0;
    const MEDIUM: u8 = 1;
    const WIDE: u8 = 2;

    /// Computes out = Σ source·weight + base. Range: q < 2^50, at most 34 sources below 2^`source_bits` ≤ 2^50, weights and
    /// base < q.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(
        m: &Modulus,
        out: &mut [u64],
        sources: &[&[u64]],
        source_bits: u32,
        weights: &[u64],
        base: u64,
    ) {
        match (source_bits, m.bits()) {
            // The sum is below 2^(50 + b): one reduction.
            (..=44, _) => sum_of::<NARROW>(m, out, sources, weights, base),
            // The upper part of the sum is below 2^52.
            (s, t) if s + t <= 97 => sum_of::<MEDIUM>(m, out, sources, weights, base),
            _ => sum_of::<WIDE>(m, out, sources, weights, base),
        }
        let whole = out.len() / (8 * SIDE) * (8 * SIDE);
        if whole < out.len() {
            let rest: Vec<&[u64]> = sources.iter().map(|s| &s[whole..]).collect();
            scalar(m, &mut out[whole..], &rest, source_bits, weights, base);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sum_of<const SIZE: u8>(m: &Modulus, out: &mut [u64], sources: &[&[u64]], weights: &[u64], base: u64) {
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
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, moduli, words};
    for m in &moduli() {
        for source_bits in [20, 36, 44, 45, 47, 50, 51, 52, 53, 61] {
            for (count, length) in [(1, 9), (2, 64), (16, 40), (32, 23), (34, 32)] {
                let row = |seed| words(1 << source_bits, length, seed as u64);
                let rows: Vec<Vec<u64>> = (0..count).map(row).collect();
                let sources: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
                let weights = words(m.value(), count, 8);
                for base in [0, m.value() - 1] {
                    compare(m, &vec![0; length], |k, x| {
                        (k.convert)(m, x, &sources, source_bits, &weights, base);
                    });
                }
            }
        }
    }
}
