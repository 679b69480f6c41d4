//! sum += a·b, entry by entry.

use crate::modulus::Modulus;
use crate::vectors::{LaneArithmetic, Lanes, by_prime, lines};

pub(crate) fn scalar(m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) {
    for ((s, x), y) in sum.iter_mut().zip(a).zip(b) {
        *s = m.add(*s, m.multiply(*x, *y));
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) {
    by_prime!(l: L, m; of => vector(of, m, sum, a, b); scalar(m, sum, a, b));
}

#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; sum, x, y; s, v, w => a.give(a.add(a.take(s), a.product(a.take(v), a.take(w)))); {
        scalar(m, sum, x, y);
    });
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::Barrett;
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) {
        let barrett = Barrett::new(m);
        lines!(sum, a, b; s, x, y => {
            barrett.prime().correct(_mm512_add_epi64(s, barrett.multiply(x, y)))
        }; scalar(m, sum, a, b));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, c]| compare(m, a, |k, x| (k.add_product)(m, x, b, c)));
}
