//! Residues of one other modulus.

use crate::conversion::Lift;
use crate::modulus::Modulus;
use crate::vectors::{FLOAT, Float, LaneArithmetic, Lanes, Whole, lines};

pub(crate) fn scalar(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let modulus = m.reduce(lift.modulus);
    for (x, y) in out.iter_mut().zip(values) {
        // 1 from the threshold on: both are below 2^61. `black_box` keeps the compiler from turning the mask into a
        // branch.
        let reached = 1 - (y.wrapping_sub(lift.threshold) >> 63);
        let mask = core::hint::black_box(reached.wrapping_neg());
        *x = m.subtract(m.reduce(*y), modulus & mask);
    }
}

/// Lifts residues ([`crate::Kernels::lift`]). Those that stay between −q and q are handled as words; others as
/// floating-point numbers if both primes allow it.
#[inline(always)]
pub(crate) fn lanes<L: Lanes>(lanes: L, m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let bits = m.bits().max(u64::BITS - lift.modulus.leading_zeros());
    if lift.threshold.saturating_sub(1).max(lift.modulus - lift.threshold) < m.value() {
        near(lanes, m, out, values, lift);
    } else if m.bits() >= *FLOAT.start() && bits <= *FLOAT.end() {
        float(Float::<L, true>::new(lanes, m), m, out, values, lift);
    } else if L::WHOLE && m.bits() >= *FLOAT.start() {
        whole(Whole::new(lanes, m), m, out, values, lift);
    } else {
        scalar(m, out, values, lift);
    }
}

/// Lifts any words.
#[inline(always)]
fn whole<L: Lanes>(a: Whole<L>, m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let (l, one) = (a.lanes(), a.constant(&Whole::<L>::pair(m, 1)));
    let (threshold, zero, q) = (l.all(lift.threshold), l.all(0), l.all(m.value()));
    let modulus = l.all(m.reduce(lift.modulus));
    lines!(L, l; out, values; _x, y => {
        let taken_off = l.where_negative(l.subtract(y, threshold), zero, modulus);
        l.wrapped(l.subtract(a.give_product(a.times(y, one)), taken_off), q)
    }; scalar(m, out, values, lift));
}

/// Lifts where every result lies between −q and q.
#[inline(always)]
fn near<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let (threshold, zero) = (l.all(lift.threshold), l.all(0));
    let (modulus, q) = (l.all(lift.modulus), l.all(m.value()));
    lines!(L, l; out, values; _x, y => {
        let taken_off = l.where_negative(l.subtract(y, threshold), zero, modulus);
        l.wrapped(l.subtract(y, taken_off), q)
    }; scalar(m, out, values, lift));
}

/// Lifts residues of a modulus below 2^50.
#[inline(always)]
fn float<L: Lanes>(a: Float<L, true>, m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let l = a.lanes();
    let (threshold, zero) = (l.all(lift.threshold), l.all(0));
    let modulus = l.words_of(l.all_floats(lift.modulus as f64));
    lines!(L, l; out, values; _x, y => {
        let taken_off = l.where_negative(l.subtract(y, threshold), zero, modulus);
        a.give(l.minus(a.take(y), l.floats_of(taken_off)))
    }; scalar(m, out, values, lift));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Prime, all, load, store};

    /// Computes x, or x − modulus from the threshold on. Range: q < 2^50, x < modulus < 2^50.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
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
        scalar(m, rest, tail, lift);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, moduli, words};
    let moduli = moduli();
    for (m, source) in moduli.iter().flat_map(|m| moduli.iter().map(move |source| (m, source.value()))) {
        for length in [0, 7, 8, 40] {
            let mut values = words(source, length, 3);
            for threshold in [source / 2, source / 2 + 1, source.div_ceil(2) + source / 1000] {
                // Values on both sides of the threshold.
                for (x, end) in values.iter_mut().zip([threshold - 1, threshold, source - 1, 0]) {
                    *x = end.min(source - 1);
                }
                let lift = Lift { modulus: source, threshold };
                compare(m, &vec![0; length], |k, x| (k.lift)(m, x, &values, &lift));
            }
        }
    }
    // Lifted values that just stay between −q and q, and that just do not.
    for m in &moduli {
        let q = m.value();
        for source in [q + 1, 2 * q - 1, 2 * q, 2 * q + 1].into_iter().filter(|source| *source < 1 << 61) {
            for threshold in [q - 1, q, q + 1, source - q, source - q + 1, source] {
                let ends = [0, threshold - 1, threshold, q - 1, q, q + 1, source - 1];
                let values: Vec<u64> = ends.iter().map(|x| (*x).min(source - 1)).cycle().take(24).collect();
                let lift = Lift { modulus: source, threshold: threshold.clamp(1, source) };
                compare(m, &[0; 24], |k, x| (k.lift)(m, x, &values, &lift));
            }
        }
    }
    let mut out = [0; 3];
    let (five, lift) = (Modulus::new(5).unwrap(), Lift { modulus: 11, threshold: 6 });
    scalar(&five, &mut out, &[5, 6, 10], &lift);
    assert_eq!(out, [0, 0, 4], "5, −5 and −1 modulo 5");
}
