//! The three products of a ciphertext with itself.

use crate::modulus::Modulus;
use crate::vectors::{LaneArithmetic, Lanes, by_prime};

pub(crate) fn scalar(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2]) {
    let [low, middle, high] = out;
    for i in 0..low.len() {
        let product = m.multiply(a[0][i], a[1][i]);
        low[i] = m.multiply(a[0][i], a[0][i]);
        middle[i] = m.add(product, product);
        high[i] = m.multiply(a[1][i], a[1][i]);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2]) {
    by_prime!(l: L, m; of => vector(of, m, out, a); scalar(m, out, a));
}

/// Computes a0², 2·a0·a1, a1².
#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, out: [&mut [u64]; 3], x: [&[u64]; 2]) {
    let l = a.lanes();
    let [(low, low_rest), (middle, middle_rest), (high, high_rest)] = out.map(A::Lanes::lines_mut);
    let [(x0, x0_rest), (x1, x1_rest)] = x.map(A::Lanes::lines);
    let (x0, x1) = (&x0[..low.len()], &x1[..low.len()]);
    let (middle, high) = (&mut middle[..low.len()], &mut high[..low.len()]);
    for (i, line) in low.iter_mut().enumerate() {
        let [x0, x1] = [a.take(l.load(&x0[i])), a.take(l.load(&x1[i]))];
        let product = a.product(x0, x1);
        l.store(line, a.give_product(a.product(x0, x0)));
        l.store(&mut middle[i], a.give(a.add(product, product)));
        l.store(&mut high[i], a.give_product(a.product(x1, x1)));
    }
    scalar(m, [low_rest, middle_rest, high_rest], [x0_rest, x1_rest]);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Barrett, load, store};

    /// Computes a0², 2·a0·a1, a1².
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2]) {
        let barrett = Barrett::new(m);
        let [(low, low_rest), (middle, middle_rest), (high, high_rest)] = out.map(|x| x.as_chunks_mut::<8>());
        let [(a0, a0_rest), (a1, a1_rest)] = a.map(|x| x.as_chunks::<8>());
        let operands = a0.iter().zip(a1);
        for (((low, middle), high), (a0, a1)) in low.iter_mut().zip(middle).zip(high).zip(operands) {
            let (a0, a1) = (load(a0), load(a1));
            let product = barrett.multiply(a0, a1);
            store(low, barrett.multiply(a0, a0));
            store(middle, barrett.prime().correct(_mm512_add_epi64(product, product)));
            store(high, barrett.multiply(a1, a1));
        }
        scalar(m, [low_rest, middle_rest, high_rest], [a0_rest, a1_rest]);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, _]| {
        let length = a.len();
        compare(m, &vec![0; 3 * length], |k, x| {
            let (first, rest) = x.split_at_mut(length);
            let (second, third) = rest.split_at_mut(length);
            (k.square)(m, [first, second, third], [a, b]);
        });
    });
}
