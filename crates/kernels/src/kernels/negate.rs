//! a = −a.

use crate::modulus::Modulus;
use crate::vectors::{Lanes, lines};

pub(crate) fn scalar(m: &Modulus, a: &mut [u64]) {
    for x in a {
        *x = m.negate(*x);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, a: &mut [u64]) {
    if !L::ADDS {
        return scalar(m, a);
    }
    let (q, zero) = (l.all(m.value()), l.all(0));
    lines!(L, l; a; x => l.wrapped(l.subtract(zero, x), q); scalar(m, a));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Prime, load, store};

    #[target_feature(enable = "avx512f")]
    pub(crate) fn run(m: &Modulus, a: &mut [u64]) {
        let p = Prime::new(m);
        let (lines, rest) = a.as_chunks_mut::<8>();
        for line in lines {
            let difference = _mm512_sub_epi64(_mm512_setzero_si512(), load(line));
            store(line, _mm512_min_epu64(difference, _mm512_add_epi64(difference, p.q)));
        }
        scalar(m, rest);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, ..]| compare(m, a, |k, x| (k.negate)(m, x)));
}
