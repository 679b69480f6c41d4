//! Primes for Paillier's scheme. Timing shows how long a search takes, but not the candidates.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use crypto_bigint::{BitOps, BoxedUint, ConcatenatingMul, Gcd, Limb, NonZero, Resize, Word};
use crypto_primes::{Flavor, is_prime};
use sotto_partial::PartialError;
use sotto_partial::number::from_words;
use sotto_partial::paillier::subgroup_bits;
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

/// p and q; for subgroup keys also p'·q' (otherwise 1), since a mask's generator is a power to 2·p'·q'.
pub(super) struct Primes {
    pub(super) p: Zeroizing<BoxedUint>,
    pub(super) q: Zeroizing<BoxedUint>,
    pub(super) order: Zeroizing<BoxedUint>,
}

/// Draws p ≡ q ≡ 3 modulo 4 with gcd(p − 1, q − 1) = 2 and n of exactly `bits` bits.
pub(super) fn half_length(bits: u32, rng: &mut impl SecretRng) -> Primes {
    loop {
        let [p, q] = [(); 2].map(|()| prime(bits / 2, 3, rng));
        if share_only_two(&p, &q) {
            return Primes { p, q, order: Zeroizing::new(BoxedUint::one()) };
        }
    }
}

/// Draws P = 2·p·p' + 1 and Q = 2·q·q' + 1 with p, q prime, each half as long as the subgroup's order, and
/// p', q' odd (Ma, Han and Lei, section 4.1). The group of masks has the order 2·p·q.
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

/// Returns true if p ≠ q and (p − 1)/2 and (q − 1)/2 are coprime.
fn share_only_two(p: &BoxedUint, q: &BoxedUint) -> bool {
    let half = |x: &BoxedUint| Zeroizing::new(x.shr(1));
    p.cmp_vartime(q).is_ne() && bool::from(half(p).gcd(&*half(q)).is_one())
}

/// Draws a prime whose two top bits are set and whose lowest bits include `low` (1: any odd prime). It is the
/// first one of the stream, so that derived keys stay the same under a faster search.
fn prime(bits: u32, low: Word, rng: &mut impl SecretRng) -> Zeroizing<BoxedUint> {
    loop {
        let mut candidate = draw(bits, rng);
        for top in [bits - 1, bits - 2] {
            candidate.set_bit_vartime(top, true);
        }
        candidate.as_mut_words()[0] |= low;
        if !has_small_factor(&candidate) && is_prime(Flavor::Any, &*candidate) {
            return candidate;
        }
    }
}

/// Draws a number below 2^bits from whole words of the stream, least significant first.
pub(super) fn draw(bits: u32, rng: &mut impl SecretRng) -> Zeroizing<BoxedUint> {
    let mut words: Zeroizing<Vec<u64>> =
        Zeroizing::new((0..bits.div_ceil(64)).map(|_| rng.next_u64()).collect());
    if let (Some(top), used @ 1..) = (words.last_mut(), bits % 64) {
        *top &= u64::MAX >> (64 - used);
    }
    Zeroizing::new(from_words(&words))
}

/// Draws (P, p, p') with P = 2·p·p' + 1 prime, the two top bits of P set.
#[allow(clippy::type_complexity, reason = "three numbers")]
fn with_factor(
    bits: u32,
    small_bits: u32,
    rng: &mut impl SecretRng,
) -> (Zeroizing<BoxedUint>, Zeroizing<BoxedUint>, Zeroizing<BoxedUint>) {
    let small = prime(small_bits, 1, rng);
    loop {
        let mut rest = draw(bits - small_bits, rng);
        // P has `bits` bits or one less; `fits` below accepts only the full length.
        rest.as_mut_words()[0] |= 1;
        let half = Zeroizing::new(small.concatenating_mul(&*rest));
        let double = Zeroizing::new(half.shl(1));
        let mut candidate = Zeroizing::new(Resize::resize_unchecked(&*double, bits));
        candidate.as_mut_words()[0] |= 1;
        let fits = half.bits() == bits - 1 && candidate.bit_vartime(bits - 2);
        if fits && !has_small_factor(&candidate) && is_prime(Flavor::Any, &*candidate) {
            return (candidate, small, rest);
        }
    }
}

/// Returns true if an odd number below 2^11 divides the candidate. About one candidate in eight passes.
fn has_small_factor(candidate: &BoxedUint) -> bool {
    let divisor = |d: u32| NonZeroU32::new(d).map(NonZero::<Limb>::from);
    (3..1 << 11).step_by(2).filter_map(divisor).any(|d| candidate.rem_limb(d).0 == 0)
}
