//! a ·= b, entry by entry.

use crate::modulus::Modulus;
use crate::vectors::{LaneArithmetic, Lanes, by_prime, lines};

pub(crate) fn scalar(m: &Modulus, a: &mut [u64], b: &[u64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = m.multiply(*x, *y);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, a: &mut [u64], b: &[u64]) {
    by_prime!(l: L, m; of => vector(of, m, a, b); scalar(m, a, b));
}

#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, x: &mut [u64], y: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; x, y; v, w => a.give_product(a.product(a.take(v), a.take(w))); scalar(m, x, y));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::ifma::lanes::Barrett;
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, a: &mut [u64], b: &[u64]) {
        let barrett = Barrett::new(m);
        lines!(a, b; x, y => barrett.multiply(x, y); scalar(m, a, b));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, _]| compare(m, a, |k, x| (k.multiply)(m, x, b)));
}
