//! Primes for Paillier's scheme. How long a search takes shows; which candidates it went through does not.

use core::num::NonZeroU32;

use crypto_bigint::{BoxedUint, ConcatenatingMul, Gcd, Limb, NonZero, RandomBits, Resize, Word};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use sotto_partial::PartialError;
use sotto_partial::paillier::subgroup_bits;
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

/// p, q, and for subgroup keys the odd part β of the group's order that a mask's generator is raised to.
pub(super) struct Primes {
    pub(super) p: Zeroizing<BoxedUint>,
    pub(super) q: Zeroizing<BoxedUint>,
    pub(super) order: Zeroizing<BoxedUint>,
}

/// p ≡ q ≡ 3 modulo 4, gcd(p − 1, q − 1) = 2, n of exactly `bits` bits.
pub(super) fn half_length(bits: u32, rng: &mut impl SecretRng) -> Primes {
    loop {
        let [p, q] = [(); 2].map(|()| prime(bits / 2, SetBits::TwoMsb, 3, rng));
        if share_only_two(&p, &q) {
            return Primes { p, q, order: Zeroizing::new(BoxedUint::one()) };
        }
    }
}

/// P = 2·p·p' + 1 and Q = 2·q·q' + 1, p and q prime with half of the subgroup's bits each, p' and q' odd (Ma, Han and Lei,
/// section 4.1); the group of masks has the order 2·p·q.
pub(super) fn subgroup(bits: u32, rng: &mut impl SecretRng) -> Result<Primes, PartialError> {
    let small_bits = subgroup_bits(bits).ok_or(PartialError::Subgroup { bits })? / 2;
    loop {
        let [(big_p, p, p_rest), (big_q, q, q_rest)] =
            [(); 2].map(|()| with_factor(bits / 2, small_bits, rng));
        let small = Zeroizing::new(p.concatenating_mul(&*q));
        let order = Zeroizing::new(p_rest.concatenating_mul(&*q_rest));
        if share_only_two(&big_p, &big_q) && bool::from(small.gcd(&*order).is_one()) {
            return Ok(Primes { p: big_p, q: big_q, order });
        }
    }
}

/// p ≠ q with (p − 1)/2 and (q − 1)/2 coprime.
fn share_only_two(p: &BoxedUint, q: &BoxedUint) -> bool {
    let half = |x: &BoxedUint| Zeroizing::new(x.shr(1));
    p.cmp_vartime(q).is_ne() && bool::from(half(p).gcd(&*half(q)).is_one())
}

/// A prime with its top bit or bits set, and `low` in its two lowest bits (1: any odd prime).
fn prime(bits: u32, set: SetBits, low: Word, rng: &mut impl SecretRng) -> Zeroizing<BoxedUint> {
    let wanted = |candidate: &BoxedUint| candidate.as_words()[0] & low == low;
    loop {
        // The factory fails only for lengths that are not used here; then the search starts again.
        let Ok(factory) = SmallFactorsSieveFactory::<BoxedUint>::new(Flavor::Any, bits, set) else {
            continue;
        };
        let found = sieve_and_find(rng, factory, |_, c| wanted(c) && is_prime(Flavor::Any, c));
        if let Ok(Some(found)) = found {
            return Zeroizing::new(found);
        }
    }
}

/// (P, p, p') with P = 2·p·p' + 1 prime, its two top bits set.
#[allow(clippy::type_complexity, reason = "three numbers")]
fn with_factor(
    bits: u32,
    small_bits: u32,
    rng: &mut impl SecretRng,
) -> (Zeroizing<BoxedUint>, Zeroizing<BoxedUint>, Zeroizing<BoxedUint>) {
    let small = prime(small_bits, SetBits::TwoMsb, 1, rng);
    loop {
        let mut rest = Zeroizing::new(BoxedUint::random_bits(rng, bits - small_bits));
        // Its top bits and the lowest set: the product has `bits` bits or one less, and is looked at below.
        rest.as_mut_words()[0] |= 1;
        let half = small.concatenating_mul(&*rest);
        let candidate = Zeroizing::new(half.shl(1).wrapping_add(BoxedUint::one()).resize_unchecked(bits));
        let fits = half.bits() == bits - 1 && candidate.bit_vartime(bits - 2);
        if fits && !has_small_factor(&candidate) && is_prime(Flavor::Any, &*candidate) {
            return (candidate, small, rest);
        }
    }
}

/// Trial division by the odd numbers below 2^11, a candidate in eight left over.
fn has_small_factor(candidate: &BoxedUint) -> bool {
    let divisor = |d: u32| NonZeroU32::new(d).map(NonZero::<Limb>::from);
    (3..1 << 11).step_by(2).filter_map(divisor).any(|d| candidate.rem_limb(d).0 == 0)
}
