//! The inverse transform of other values, times a constant.

use super::ntt_inverse;
use crate::modulus::Factor;
use crate::ntt::NttTable;
use crate::vectors::Lanes;

pub(crate) fn scalar(table: &NttTable, out: &mut [u64], values: &[u64], scale: Factor) {
    out.copy_from_slice(values);
    ntt_inverse::scaled(table, out, scale);
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(lanes: L, table: &NttTable, out: &mut [u64], values: &[u64], scale: Factor) {
    if values.len() == out.len() {
        ntt_inverse::from(lanes, table, out, Some(values), scale);
    } else {
        scalar(table, out, values, scale);
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::ifma::ntt;

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(crate) fn run(table: &NttTable, out: &mut [u64], values: &[u64], scale: Factor) {
        let lanes = table.lanes.as_ref().expect("the entry has asked has_lanes");
        ntt::inverse(table, lanes, out, Some(values), scale);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, each_transform};
    each_transform(|table, input| {
        let q = table.modulus().value();
        for constant in [0, 1, q - 1, q / 3] {
            let scale = table.inverse_scale(constant);
            compare(table.modulus(), &vec![0; input.len()], |k, x| {
                (k.ntt_inverse_from)(table, x, input, scale);
            });
        }
    });
}
