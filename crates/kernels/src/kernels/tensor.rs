//! The three products of two ciphertexts.

use crate::modulus::Modulus;
use crate::vectors::{LaneArithmetic, Lanes, by_prime};

pub(crate) fn scalar(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) {
    let [low, middle, high] = out;
    for i in 0..low.len() {
        low[i] = m.multiply(a[0][i], b[0][i]);
        middle[i] = m.add(m.multiply(a[0][i], b[1][i]), m.multiply(a[1][i], b[0][i]));
        high[i] = m.multiply(a[1][i], b[1][i]);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) {
    by_prime!(l: L, m; of => vector(of, m, out, a, b); scalar(m, out, a, b));
}

/// Computes a0·b0, a0·b1 + a1·b0, a1·b1.
#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, out: [&mut [u64]; 3], x: [&[u64]; 2], y: [&[u64]; 2]) {
    let l = a.lanes();
    let [(low, low_rest), (middle, middle_rest), (high, high_rest)] = out.map(A::Lanes::lines_mut);
    let [(x0, x0_rest), (x1, x1_rest)] = x.map(A::Lanes::lines);
    let [(y0, y0_rest), (y1, y1_rest)] = y.map(A::Lanes::lines);
    for (i, line) in low.iter_mut().enumerate() {
        let [x0, x1] = [a.take(l.load(&x0[i])), a.take(l.load(&x1[i]))];
        let [y0, y1] = [a.take(l.load(&y0[i])), a.take(l.load(&y1[i]))];
        l.store(line, a.give_product(a.product(x0, y0)));
        l.store(&mut middle[i], a.give(a.add(a.product(x0, y1), a.product(x1, y0))));
        l.store(&mut high[i], a.give_product(a.product(x1, y1)));
    }
    scalar(m, [low_rest, middle_rest, high_rest], [x0_rest, x1_rest], [y0_rest, y1_rest]);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Barrett, Reduction, load, store};

    /// Computes a0·b0, a0·b1 + a1·b0, a1·b1.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) {
        let (barrett, reduction) = (Barrett::new(m), Reduction::new(m));
        let zero = _mm512_setzero_si512();
        let whole = out[0].len() / 8 * 8;
        let [(l, l_rest), (k, k_rest), (h, h_rest)] = out.map(|x| x.as_chunks_mut::<8>());
        let [(a0, _), (a1, _)] = a.map(|x| x.as_chunks::<8>());
        let [(b0, _), (b1, _)] = b.map(|x| x.as_chunks::<8>());
        let operands = a0.iter().zip(a1).zip(b0.iter().zip(b1));
        for (((l, k), h), ((a0, a1), (b0, b1))) in l.iter_mut().zip(k).zip(h).zip(operands) {
            let (a0, a1, b0, b1) = (load(a0), load(a1), load(b0), load(b1));
            store(l, barrett.multiply(a0, b0));
            let high = _mm512_madd52hi_epu64(_mm512_madd52hi_epu64(zero, a0, b1), a1, b0);
            let low = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(zero, a0, b1), a1, b0);
            store(k, reduction.reduce(high, low));
            store(h, barrett.multiply(a1, b1));
        }
        scalar(m, [l_rest, k_rest, h_rest], a.map(|x| &x[whole..]), b.map(|x| &x[whole..]));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, c]| {
        let length = a.len();
        compare(m, &vec![0; 3 * length], |k, x| {
            let (first, rest) = x.split_at_mut(length);
            let (second, third) = rest.split_at_mut(length);
            (k.tensor)(m, [first, second, third], [a, b], [c, a]);
        });
    });
}
