//! The inverse transform.

use crate::modulus::Factor;
use crate::ntt::{NttTable, subtract_if_reached};
use crate::vectors::{LaneArithmetic as _, Lanes, ntt, transform_by_prime};

pub(crate) fn scalar(table: &NttTable, values: &mut [u64]) {
    scaled(table, values, table.inverse_degree);
}

/// Runs the inverse transform times a constant (Gentleman–Sande). Range: in < q, out < q; inside < 2q.
pub(super) fn scaled(table: &NttTable, values: &mut [u64], scale: Factor) {
    let m = *table.modulus();
    let two_q = 2 * m.value();
    let mut half = 1;
    let mut blocks = values.len() / 2;
    while blocks > 0 {
        for (block, twiddle) in values.chunks_exact_mut(2 * half).zip(&table.inverse[blocks..2 * blocks]) {
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let (a, b) = (*x, *y);
                *x = subtract_if_reached(a + b, two_q);
                *y = m.multiply_factor_lazy(a + two_q - b, *twiddle);
            }
        }
        half *= 2;
        blocks /= 2;
    }
    for x in values {
        *x = m.multiply_factor(*x, scale);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(lanes: L, table: &NttTable, values: &mut [u64]) {
    from(lanes, table, values, None, table.inverse_degree);
}

/// Transforms `values`, or those of `from` into `values`, times a constant.
#[inline(always)]
pub(super) fn from<L: Lanes>(
    lanes: L,
    table: &NttTable,
    values: &mut [u64],
    from: Option<&[u64]>,
    scale: Factor,
) {
    let (m, degree) = (table.modulus(), table.degree());
    if !ntt::fits::<L>(degree) || values.len() != degree {
        return scalar_from(table, values, from, scale);
    }
    transform_by_prime!(lanes: L, m; a => ntt::inverse(a, table, values, from, scale); {
        scalar_from(table, values, from, scale);
    });
}

fn scalar_from(table: &NttTable, values: &mut [u64], from: Option<&[u64]>, scale: Factor) {
    if let Some(from) = from {
        values.copy_from_slice(from);
    }
    scaled(table, values, scale);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::ifma::ntt;

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(crate) fn run(table: &NttTable, values: &mut [u64]) {
        let lanes = table.lanes.as_ref().expect("the entry has asked has_lanes");
        ntt::inverse(table, lanes, values, None, table.inverse_degree);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_transform};
    each_transform(|table, input| compare(table.modulus(), input, |k, x| (k.ntt_inverse)(table, x)));
}
