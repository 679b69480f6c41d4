//! a ·= constant.

use crate::modulus::{Factor, Modulus};
use crate::vectors::{LaneArithmetic, Lanes, by_prime, lines};

pub(crate) fn scalar(m: &Modulus, a: &mut [u64], factor: Factor) {
    for x in a {
        *x = m.multiply_factor(*x, factor);
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, a: &mut [u64], factor: Factor) {
    if !L::ADDS {
        return scalar(m, a, factor);
    }
    by_prime!(l: L, m; of => vector(of, m, a, factor); scalar(m, a, factor));
}

#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, x: &mut [u64], factor: Factor) {
    let (l, by) = (a.lanes(), a.constant(&A::pair(m, factor.value)));
    lines!(A::Lanes, l; x; v => a.give_product(a.times(a.take(v), by)); scalar(m, x, factor));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use super::*;
    use crate::ifma::lanes::{Constant, Prime, load, store};

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, a: &mut [u64], factor: Factor) {
        let p = Prime::new(m);
        let by = Constant::all(factor.into());
        let (lines, rest) = a.as_chunks_mut::<8>();
        for line in lines {
            store(line, p.correct(p.multiply_constant(load(line), by)));
        }
        scalar(m, rest, factor);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, constants, each_case};
    each_case(|m, [a, ..]| {
        let largest = vec![m.value() - 1; a.len()];
        for factor in constants(m) {
            for values in [a, &largest] {
                compare(m, values, |k, x| (k.scale)(m, x, factor));
            }
        }
    });
}
