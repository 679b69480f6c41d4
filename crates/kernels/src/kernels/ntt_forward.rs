//! The forward transform.

use super::ntt_forward_open;
use crate::ntt::{NttTable, subtract_if_reached};
use crate::vectors::{LaneArithmetic as _, Lanes, ntt, transform_by_prime};

/// Runs the forward transform. Range: in < q, out < q.
pub(crate) fn scalar(table: &NttTable, values: &mut [u64]) {
    let m = *table.modulus();
    ntt_forward_open::scalar(table, values);
    for x in values {
        *x = m.correct(subtract_if_reached(*x, 2 * m.value()));
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(lanes: L, table: &NttTable, values: &mut [u64]) {
    let (m, degree) = (table.modulus(), table.degree());
    if !ntt::fits::<L>(degree) || values.len() != degree {
        return scalar(table, values);
    }
    transform_by_prime!(lanes: L, m; a => ntt::forward::<_, false>(a, table, values); {
        scalar(table, values);
    });
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::ifma::ntt;

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(crate) fn run(table: &NttTable, values: &mut [u64]) {
        let lanes = table.lanes.as_ref().expect("the entry has asked has_lanes");
        ntt::forward::<false>(table, lanes, values);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_transform};
    each_transform(|table, input| compare(table.modulus(), input, |k, x| (k.ntt_forward)(table, x)));
}
