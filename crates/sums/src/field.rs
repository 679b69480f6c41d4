//! Integers modulo the prime 2^61 − 1, without a branch or a division.

use zeroize::DefaultIsZeroes;

/// The prime P that tags are computed by: 2^61 − 1.
pub const PRIME: u64 = (1 << BITS) - 1;
const BITS: u32 = 61;

/// An integer modulo P, below P.
#[derive(Clone, Copy, Default)]
pub(crate) struct Residue(u64);

impl Residue {
    /// Reads the low 61 bits of a word of a key stream; all ones are read as 0.
    pub(crate) fn from_word(word: u64) -> Self {
        Self(reduce(word & PRIME))
    }

    /// Returns the residue of an integer in −P..P.
    pub(crate) fn from_integer(integer: i64) -> Self {
        // In 0..2P whatever the sign is.
        Self(reduce(PRIME.wrapping_add(integer as u64)))
    }

    /// Returns the residue of a weight or a count. Both are public.
    pub(crate) fn from_public(integer: i64) -> Self {
        Self(integer.rem_euclid(PRIME as i64) as u64)
    }

    /// Returns the residue, or None for P and above.
    pub(crate) const fn from_canonical(word: u64) -> Option<Self> {
        if word < PRIME { Some(Self(word)) } else { None }
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(reduce(self.0 + other.0))
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let (high, low) = product(self.0, other.0);
        Self(reduce(low + high))
    }
}

impl DefaultIsZeroes for Residue {}

/// Returns x modulo P for x < 2P: the carry of x + 1 into bit 61 tells if x ≥ P, and takes P away. Neither a
/// comparison nor a select, which a compiler may turn into a branch.
fn reduce(x: u64) -> u64 {
    (x + ((x + 1) >> BITS)) & PRIME
}

/// Returns (x·y) / 2^61 and (x·y) mod 2^61 for x, y < 2^61.
#[cfg(target_pointer_width = "64")]
fn product(x: u64, y: u64) -> (u64, u64) {
    let product = u128::from(x) * u128::from(y);
    ((product >> BITS) as u64, product as u64 & PRIME)
}

#[cfg(not(target_pointer_width = "64"))]
use product_of_halves as product;

/// Like `product`, by products of 32 bits.
#[cfg(any(test, not(target_pointer_width = "64")))]
fn product_of_halves(x: u64, y: u64) -> (u64, u64) {
    const LOW: u64 = u32::MAX as u64;
    let ((x1, x0), (y1, y0)) = ((x >> 32, x & LOW), (y >> 32, y & LOW));
    // Below 2^29·2^32·2: no carry is lost.
    let middle = x0 * y1 + x1 * y0;
    let bottom = x0 * y0;
    // The product is top·2^64 + middle·2^32 + bottom.
    let (low, carry) = bottom.overflowing_add(middle << 32);
    let high = x1 * y1 + (middle >> 32) + u64::from(carry);
    ((high << 3) | (low >> BITS), low & PRIME)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(x: u64, y: u64) -> u64 {
        (u128::from(x) * u128::from(y) % u128::from(PRIME)) as u64
    }

    proptest! {
        #[test]
        fn products_and_sums_are_those_of_integers(x in 0..PRIME, y in 0..PRIME) {
            prop_assert_eq!(Residue(x).times(Residue(y)).0, exact(x, y));
            prop_assert_eq!(Residue(x).plus(Residue(y)).0, (x + y) % PRIME);
            prop_assert_eq!(product_of_halves(x, y), product(x, y));
        }

        #[test]
        fn integers_have_their_residues(x in -(PRIME as i64) + 1..PRIME as i64) {
            prop_assert_eq!(Residue::from_integer(x).0, x.rem_euclid(PRIME as i64) as u64);
        }
    }

    #[test]
    fn edges() {
        let edges = [0, 1, 2, PRIME / 2, PRIME - 2, PRIME - 1];
        for (x, y) in edges.iter().flat_map(|x| edges.map(|y| (*x, y))) {
            assert_eq!(Residue(x).times(Residue(y)).0, exact(x, y), "{x}·{y}");
            assert_eq!(Residue(x).plus(Residue(y)).0, (x + y) % PRIME, "{x} + {y}");
            assert_eq!(product_of_halves(x, y), product(x, y), "{x}·{y}");
        }
        assert_eq!(Residue::from_word(u64::MAX).0, 0);
        assert_eq!(Residue::from_word(PRIME).0, 0);
        assert_eq!(Residue::from_word(PRIME - 1).0, PRIME - 1);
        assert_eq!(Residue::from_word(1 << 61).0, 0);
        assert_eq!(Residue::from_public(i64::MIN).0, i64::MIN.rem_euclid(PRIME as i64) as u64);
        assert!(Residue::from_canonical(PRIME).is_none());
    }
}
