//! Representatives nearest to zero.

use crate::modulus::Modulus;
use crate::vectors::Lanes;

pub(crate) fn scalar(m: &Modulus, out: &mut [i64], values: &[u64]) {
    for (x, value) in out.iter_mut().zip(values) {
        *x = m.centre(*value);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, out: &mut [i64], values: &[u64]) {
    let (q, limit) = (l.all(m.value()), l.all(m.value().div_ceil(2)));
    let ((lines, rest), (sources, tail)) = (L::signed_lines_mut(out), L::lines(values));
    for (line, source) in lines.iter_mut().zip(sources) {
        let x = l.load(source);
        l.store(line, l.where_negative(l.subtract(x, limit), x, l.subtract(x, q)));
    }
    scalar(m, rest, tail);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{all, load, store_signed};

    #[target_feature(enable = "avx512f")]
    pub(crate) fn run(m: &Modulus, out: &mut [i64], values: &[u64]) {
        let (q, limit) = (all(m.value()), all(m.value().div_ceil(2)));
        let (lines, rest) = out.as_chunks_mut::<8>();
        let (sources, tail) = values.as_chunks::<8>();
        for (line, source) in lines.iter_mut().zip(sources) {
            let x = load(source);
            store_signed(line, _mm512_mask_sub_epi64(x, _mm512_cmpge_epu64_mask(x, limit), x, q));
        }
        scalar(m, rest, tail);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, _]| {
        compare(m, a, |k, x| {
            let mut centred = vec![0; b.len()];
            (k.centre)(m, &mut centred, b);
            x.iter_mut().zip(centred).for_each(|(x, c)| *x = c as u64);
        });
    });
}
