//! out = a + b.

use crate::modulus::Modulus;
use crate::vectors::{Lanes, lines};

pub(crate) fn scalar(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    for ((x, a), b) in out.iter_mut().zip(a).zip(b) {
        *x = m.add(*a, *b);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    if !L::ADDS {
        return scalar(m, out, a, b);
    }
    let q = l.all(m.value());
    lines!(L, l; out, a, b; _x, y, z => l.below(l.add(y, z), q); scalar(m, out, a, b));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::Prime;
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f")]
    pub(crate) fn run(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
        let p = Prime::new(m);
        lines!(out, a, b; _x, y, z => p.correct(_mm512_add_epi64(y, z)); scalar(m, out, a, b));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, c]| compare(m, a, |k, x| (k.sum)(m, x, b, c)));
}
