//! Residues of signed integers.

use crate::modulus::Modulus;
use crate::vectors::{FLOAT, LaneArithmetic, Lanes, Whole};

pub(crate) fn scalar(m: &Modulus, out: &mut [u64], values: &[i64]) {
    for (x, y) in out.iter_mut().zip(values) {
        *x = m.from_signed(*y);
    }
}

/// Multiplies whole words for primes of any size: splitting a word into two floating-point numbers takes longer.
#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], values: &[i64]) {
    if L::WHOLE && m.bits() >= *FLOAT.start() {
        vector(Whole::new(l, m), m, out, values);
    } else {
        scalar(m, out, values);
    }
}

/// Reduces any signed words: adds 2^63, reduces, and subtracts the residue of 2^63.
#[inline(always)]
fn vector<L: Lanes>(a: Whole<L>, m: &Modulus, out: &mut [u64], values: &[i64]) {
    let (l, one) = (a.lanes(), a.constant(&Whole::<L>::pair(m, 1)));
    let (top, offset) = (l.all(1 << 63), a.take(l.all(m.negate(m.reduce(1 << 63)))));
    let ((lines, rest), (sources, tail)) = (L::lines_mut(out), L::signed_lines(values));
    for (line, source) in lines.iter_mut().zip(sources) {
        let raised = l.add(l.load(source), top);
        l.store(line, a.give(a.add(a.times(raised, one), offset)));
    }
    scalar(m, rest, tail);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Constant, Prime, load_signed, store};

    /// Reduces any signed words: the magnitude in two parts, then negated under a mask.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(crate) fn run(m: &Modulus, out: &mut [u64], values: &[i64]) {
        let p = Prime::new(m);
        let (one, shifted) =
            (Constant::all(m.factor(1).into()), Constant::all(m.factor(m.reduce(1 << 52)).into()));
        let (lines, rest) = out.as_chunks_mut::<8>();
        let (sources, tail) = values.as_chunks::<8>();
        for (line, source) in lines.iter_mut().zip(sources) {
            let x = load_signed(source);
            let magnitude = _mm512_abs_epi64(x);
            let low = p.multiply_constant(p.mask(magnitude), one);
            let high = p.multiply_constant(_mm512_srli_epi64::<52>(magnitude), shifted);
            let reduced = p.correct(p.below(_mm512_add_epi64(low, high), p.two_q));
            let negated = _mm512_sub_epi64(_mm512_setzero_si512(), reduced);
            let negated = _mm512_min_epu64(negated, _mm512_add_epi64(negated, p.q));
            let sign = _mm512_movepi64_mask(x);
            store(line, _mm512_mask_mov_epi64(reduced, sign, negated));
        }
        scalar(m, rest, tail);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case, words};
    each_case(|m, [a, ..]| {
        let mut signed: Vec<i64> = words(u64::MAX, a.len(), 5).iter().map(|x| *x as i64).collect();
        for (x, end) in signed.iter_mut().zip([i64::MIN, i64::MAX, -1, 0, 1, i64::MIN + 1]) {
            *x = end;
        }
        compare(m, a, |k, x| (k.from_signed)(m, x, &signed));
    });
}
