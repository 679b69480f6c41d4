//! out = a·b + addend, entry by entry.

use crate::modulus::Modulus;
use crate::vectors::{LaneArithmetic, Lanes, by_prime, lines};

pub(crate) fn scalar(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]) {
    for (((x, a), b), c) in out.iter_mut().zip(a).zip(b).zip(addend) {
        *x = m.add(m.multiply(*a, *b), *c);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]) {
    by_prime!(l: L, m; of => vector(of, m, out, a, b, addend); scalar(m, out, a, b, addend));
}

#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, out: &mut [u64], x: &[u64], y: &[u64], addend: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; out, x, y, addend; _o, v, w, s => {
        a.give(a.add(a.take(s), a.product(a.take(v), a.take(w))))
    }; scalar(m, out, x, y, addend));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::Barrett;
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]) {
        let barrett = Barrett::new(m);
        lines!(out, a, b, addend; _x, y, z, w => {
            barrett.prime().correct(_mm512_add_epi64(w, barrett.multiply(y, z)))
        }; scalar(m, out, a, b, addend));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, c]| compare(m, a, |k, x| (k.product_sum)(m, x, b, c, a)));
}
