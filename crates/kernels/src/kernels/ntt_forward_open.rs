//! The forward transform without its last reduction.

use crate::ntt::{NttTable, subtract_if_reached};
use crate::vectors::{FLOAT, LaneArithmetic as _, Lanes, by_prime, ntt, transform_by_prime};

/// Up to this bit length the unreduced output of floating-point transforms is below 2^52.
const OPEN: u32 = 47;

/// Runs the forward transform without the last reduction: Cooley–Tukey with lazy reduction (Harvey, arXiv:1205.2926,
/// algorithm 4; Longa and Naehrig, ePrint 2016/504, algorithm 1). Range: in < q, out and inside < 4q < 2^63.
pub(crate) fn scalar(table: &NttTable, values: &mut [u64]) {
    let m = *table.modulus();
    let two_q = 2 * m.value();
    let mut half = values.len();
    let mut blocks = 1;
    while blocks < values.len() {
        half /= 2;
        for (block, twiddle) in values.chunks_exact_mut(2 * half).zip(&table.forward[blocks..2 * blocks]) {
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let sum = subtract_if_reached(*x, two_q);
                let product = m.multiply_factor_lazy(*y, *twiddle);
                *x = sum + product;
                *y = sum + two_q - product;
            }
        }
        blocks *= 2;
    }
}

/// Runs the forward transform with output below 2^52 or below 4q, both of which readers accept like residues. For
/// floating-point primes above [`OPEN`] bits the output is reduced.
#[inline(always)]
pub(crate) fn lanes<L: Lanes>(lanes: L, table: &NttTable, values: &mut [u64]) {
    let (m, degree) = (table.modulus(), table.degree());
    if !ntt::fits::<L>(degree) || values.len() != degree {
        return scalar(table, values);
    }
    if FLOAT.contains(&m.bits()) && m.bits() > OPEN {
        return transform_by_prime!(lanes: L, m; a => ntt::forward::<_, false>(a, table, values); {
            scalar(table, values);
        });
    }
    by_prime!(lanes: L, m; a => ntt::forward::<_, true>(a, table, values); scalar(table, values));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::ifma::ntt;

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(crate) fn run(table: &NttTable, values: &mut [u64]) {
        let lanes = table.lanes.as_ref().expect("the entry has asked has_lanes");
        ntt::forward::<true>(table, lanes, values);
    }
}

/// Compares every target with the scalar one: unreduced output goes through its valid readers, as a digit and as a rest.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_transform, words};
    each_transform(|table, input| {
        let (m, degree) = (table.modulus(), input.len());
        let key = words(m.value(), degree, 9);
        let by = [m.factor(m.value() - 1); 2];
        compare(m, &vec![0; 3 * degree], |k, x| {
            let mut open = input.to_vec();
            (k.ntt_forward_open)(table, &mut open);
            let (first, rest) = x.split_at_mut(degree);
            let (second, third) = rest.split_at_mut(degree);
            (k.inner_products)(m, [first, second], &[&open, &open], &[[key.as_slice(), input]; 2], None);
            (k.subtract_rest)(m, third, Some(&key), &open, by, Some(input));
        });
    });
}
