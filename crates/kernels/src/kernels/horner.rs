//! out = out·radix + digits modulo 2^64.

use crate::vectors::Lanes;

pub(crate) fn scalar(out: &mut [i64], radix: i64, digits: &[i64]) {
    for (x, digit) in out.iter_mut().zip(digits) {
        *x = x.wrapping_mul(radix).wrapping_add(*digit);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, out: &mut [i64], radix: i64, digits: &[i64]) {
    if !L::ADDS {
        return scalar(out, radix, digits);
    }
    let by = l.all(radix as u64);
    let ((lines, rest), (sources, tail)) = (L::signed_lines_mut(out), L::signed_lines(digits));
    for (line, source) in lines.iter_mut().zip(sources) {
        l.store(line, l.add(l.multiply_low(l.load(line), by), l.load(source)));
    }
    scalar(rest, radix, tail);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{load_signed, store_signed};

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(crate) fn run(out: &mut [i64], radix: i64, digits: &[i64]) {
        let by = _mm512_set1_epi64(radix);
        let (lines, rest) = out.as_chunks_mut::<8>();
        let (sources, tail) = digits.as_chunks::<8>();
        for (line, digit) in lines.iter_mut().zip(sources) {
            let product = _mm512_mullo_epi64(load_signed(line), by);
            store_signed(line, _mm512_add_epi64(product, load_signed(digit)));
        }
        scalar(rest, radix, tail);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_case};
    each_case(|m, [a, b, _]| {
        for digit in [i64::MIN, -1, 0, i64::MAX] {
            compare(m, a, |k, x| {
                let mut sums: Vec<i64> = b.iter().map(|word| *word as i64).collect();
                (k.horner)(&mut sums, -(m.value() as i64), &vec![digit; b.len()]);
                x.iter_mut().zip(sums).for_each(|(x, sum)| *x = sum as u64);
            });
        }
    });
}
