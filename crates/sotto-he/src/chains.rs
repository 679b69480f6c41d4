//! Chains of real numbers by depth: as precise as a reading usually needs, at the smallest degree that has them.

use sotto_rlwe::{ChainRequest, Digits, ParameterSpec, SchemeId};

/// The degrees with a usual chain, with the bits of its scale. The scale keeps a fresh bound 30 bits below the range: the
/// rounding of an encoding is bounded by n/2, so a larger degree needs a larger scale for that.
const USUAL: [(usize, u32); 4] = [(8192, 45), (16384, 45), (32768, 46), (65536, 47)];
/// Levels of the shortest chain.
const LEAST_DEPTH: usize = 2;
/// Bits of the largest first prime: above a scale of 56 bits, slots within ±2^3 stay decryptable.
const LARGEST_FIRST: u32 = 60;
/// Bits of a first prime that leaves little room at the last level, and of the primes that every vector kernel takes.
const FAST: u32 = 50;
/// Bits that the first prime has beyond the scale, unless a sum needs more: slots within ±2^9 stay decryptable at the last level.
const HEADROOM: u32 = 10;
/// Bits by which the special primes exceed a digit: the error that a key switching adds shrinks by as many.
const SPARE: u32 = 4;

/// Returns the chains for `depth` products and a sum over all slots, smallest degree first. Fewer products than two leave a
/// level to sums of more values than a ciphertext holds, which shrink.
pub(crate) fn usual(depth: usize) -> impl Iterator<Item = ParameterSpec> {
    let depth = depth.max(LEAST_DEPTH);
    USUAL.into_iter().filter_map(move |(degree, scale)| {
        // A sum over all slots has log2(n/2) bits more than a slot, and a sign.
        let sum = scale + degree.ilog2();
        if sum < LARGEST_FIRST {
            chain(degree, LARGEST_FIRST, scale, depth)
        } else {
            // The sum does not fit beside a prime of 60 bits: one more level shrinks it.
            chain(degree, (scale + SPARE).max(FAST), scale, depth + 1)
        }
    })
}

/// Returns the chain of a degree with a scale of `scale` bits and `levels` levels; None if it is not secure.
pub(crate) fn precise(degree: usize, scale: u32, levels: usize) -> Option<ParameterSpec> {
    chain(degree, first_bits(scale), scale, levels)
}

/// Returns the bits of the first prime beside a scale of `scale` bits.
pub(crate) fn first_bits(scale: u32) -> u32 {
    (scale + HEADROOM).min(LARGEST_FIRST)
}

/// Builds a chain of one first prime and `levels` others, with about four digits of key switching, or more where fewer have
/// no room.
fn chain(degree: usize, first: u32, scale: u32, levels: usize) -> Option<ParameterSpec> {
    let count = levels + 1;
    let most = count.div_ceil(4).max(2).min(count);
    (1..=most).rev().find_map(|primes| {
        let others = scale * (primes.min(levels) as u32);
        let digit = others.max(first + scale * (primes as u32 - 1)) + SPARE;
        let special = digit.div_ceil(FAST);
        let request = ChainRequest {
            levels: Some(levels),
            first_bits: Some(first),
            other_bits: Some(scale),
            special_primes: Some(special as usize),
            special_bits: Some(digit.div_ceil(special)),
            digits: Some(Digits::Primes(primes)),
            ..ChainRequest::new(SchemeId::Ckks, degree, 0)
        };
        request.build().ok()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::usual;
    use crate::{Ckks, Context, Params};

    /// Bits of the range that a bound leaves.
    fn bits(
        context: &Context<Ckks>,
        work: impl FnOnce(&crate::Encrypted<Ckks>) -> crate::Result<crate::Encrypted<Ckks>>,
    ) -> f64 {
        -context.plan(&[context.slots()], |x| work(&x[0])).unwrap().error_bound().log2()
    }

    #[test]
    fn bounds_keep_thirty_bits_and_never_tighten_with_depth_by_more_than_a_tenth_of_a_bit() {
        let (mut fresh_before, mut mean_before) = (f64::INFINITY, f64::INFINITY);
        for depth in (0..=14).chain([20, 25]) {
            let context = Context::<Ckks>::builder().values_within(1.0).depth(depth).build().unwrap();
            let fresh = bits(&context, |x| Ok(x.clone()));
            let mean = bits(&context, crate::Encrypted::mean);
            assert!(fresh >= 30.0 && mean >= 24.0, "depth {depth}: {fresh} {mean}");
            assert!(fresh <= fresh_before + 0.1, "depth {depth}: {fresh} after {fresh_before}");
            assert!(mean <= mean_before + 0.1, "depth {depth}: {mean} after {mean_before}");
            (fresh_before, mean_before) = (fresh, mean);
        }
    }

    #[test]
    fn the_degree_is_the_smallest_with_room() {
        let degree = |depth| Context::<Ckks>::for_depth(depth).unwrap().params().degree();
        assert_eq!([0, 1, 2, 3, 6, 7].map(degree), [8192, 8192, 8192, 16384, 16384, 32768]);
        // No chain of half the degree and thirty bits is secure for the first depth of each degree.
        for (half, scale, levels) in [(4096, 44, 0), (8192, 45, 3), (16384, 45, 7)] {
            assert!(super::chain(half, 60, scale, levels).is_none(), "{half}");
        }
    }

    #[test]
    fn every_chain_is_secure_and_takes_its_primes_once() {
        for depth in 0..=30 {
            for spec in usual(depth) {
                let params = Params::<Ckks>::new(spec).unwrap();
                assert!(params.can_switch_keys());
            }
        }
    }
}
