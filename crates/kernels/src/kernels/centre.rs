//! Representatives nearest to zero.

use crate::modulus::Modulus;
use crate::vectors::{Lanes, lines};

pub(crate) fn scalar(m: &Modulus, values: &mut [u64]) {
    for x in values {
        *x = m.centre(*x) as u64;
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, values: &mut [u64]) {
    let (q, limit) = (l.all(m.value()), l.all(m.value().div_ceil(2)));
    lines!(L, l; values; x => l.where_negative(l.subtract(x, limit), x, l.subtract(x, q)); scalar(m, values));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{all, load, store};

    #[target_feature(enable = "avx512f")]
    pub(crate) fn run(m: &Modulus, values: &mut [u64]) {
        let (q, limit) = (all(m.value()), all(m.value().div_ceil(2)));
        let (lines, rest) = values.as_chunks_mut::<8>();
        for line in lines {
            let x = load(line);
            store(line, _mm512_mask_sub_epi64(x, _mm512_cmpge_epu64_mask(x, limit), x, q));
        }
        scalar(m, rest);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, ..]| compare(m, a, |k, x| (k.centre)(m, x)));
}
