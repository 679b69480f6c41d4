//! out = a·b, entry by entry.

use crate::modulus::Modulus;
use crate::vectors::{LaneArithmetic, Lanes, by_prime, lines};

pub(crate) fn scalar(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    for ((x, a), b) in out.iter_mut().zip(a).zip(b) {
        *x = m.multiply(*a, *b);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    by_prime!(l: L, m; of => vector(of, m, out, a, b); scalar(m, out, a, b));
}

#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, out: &mut [u64], x: &[u64], y: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; out, x, y; _o, v, w => a.give_product(a.product(a.take(v), a.take(w))); {
        scalar(m, out, x, y);
    });
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::ifma::lanes::Barrett;
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
        let barrett = Barrett::new(m);
        lines!(out, a, b; _x, y, z => barrett.multiply(y, z); scalar(m, out, a, b));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, c]| compare(m, a, |k, x| (k.product)(m, x, b, c)));
}
