//! a = (a − b)·constant.

use crate::modulus::{Factor, Modulus};
use crate::vectors::{LaneArithmetic, Lanes, by_prime, lines};

pub(crate) fn scalar(m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = m.multiply_factor(m.subtract(*x, *y), factor);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor) {
    by_prime!(l: L, m; of => vector(of, m, a, b, factor); scalar(m, a, b, factor));
}

#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, x: &mut [u64], y: &[u64], factor: Factor) {
    let (l, by) = (a.lanes(), a.constant(&A::pair(m, factor.value)));
    lines!(A::Lanes, l; x, y; v, w => a.give_product(a.times(a.subtract(a.take(v), a.take(w)), by)); {
        scalar(m, x, y, factor);
    });
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Constant, Prime};
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor) {
        let p = Prime::new(m);
        let by = Constant::all(factor.into());
        lines!(a, b; x, y => {
            let difference = _mm512_sub_epi64(_mm512_add_epi64(x, p.q), y);
            p.correct(p.multiply_constant(difference, by))
        }; scalar(m, a, b, factor));
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, constants, each_case};
    each_case(|m, [a, b, _]| {
        for factor in constants(m) {
            compare(m, a, |k, x| (k.subtract_scale)(m, x, b, factor));
        }
    });
}
