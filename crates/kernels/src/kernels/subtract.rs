//! a −= b.

use crate::modulus::Modulus;
use crate::vectors::{Lanes, lines};

pub(crate) fn scalar(m: &Modulus, a: &mut [u64], b: &[u64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = m.subtract(*x, *y);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, a: &mut [u64], b: &[u64]) {
    if !L::ADDS {
        return scalar(m, a, b);
    }
    let q = l.all(m.value());
    lines!(L, l; a, b; x, y => l.wrapped(l.subtract(x, y), q); scalar(m, a, b));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::Prime;
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f")]
    pub(crate) fn run(m: &Modulus, a: &mut [u64], b: &[u64]) {
        let p = Prime::new(m);
        // A negative difference is a large word, and adding q makes it smaller.
        lines!(a, b; x, y => {
            let difference = _mm512_sub_epi64(x, y);
            _mm512_min_epu64(difference, _mm512_add_epi64(difference, p.q))
        }; scalar(m, a, b));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, _]| compare(m, a, |k, x| (k.subtract)(m, x, b)));
}
