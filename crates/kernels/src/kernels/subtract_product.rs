//! body −= mask·secret, for the table of streams ([`crate::Streams::subtract_product`]).

use crate::modulus::Modulus;
use crate::streams::Streams;
use crate::vectors::{LaneArithmetic, Lanes, by_prime, lines};

fn scalar(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
    (Streams::SCALAR.subtract_product)(m, body, mask, secret);
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(l: L, m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
    by_prime!(l: L, m; of => vector(of, m, body, mask, secret); scalar(m, body, mask, secret));
}

#[inline(always)]
fn vector<A: LaneArithmetic>(a: A, m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; body, mask, secret; b, v, w => {
        a.give(a.subtract(a.take(b), a.product(a.take(v), a.take(w))))
    }; scalar(m, body, mask, secret));
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::Barrett;
    use crate::ifma::lines;

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
        let barrett = Barrett::new(m);
        let p = barrett.prime();
        lines!(body, mask, secret; b, a, s => {
            let difference = _mm512_sub_epi64(b, barrett.multiply(a, s));
            _mm512_min_epu64(difference, _mm512_add_epi64(difference, p.q))
        }; scalar(m, body, mask, secret));
    }
}
