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

    /// Returns the residue of a sum of fewer than 2^60 residues.
    #[cfg(feature = "alloc")]
    pub(crate) fn from_sum(sum: u128) -> Self {
        // 2^61 is 1.
        Self::from_word(sum as u64).plus(Self::from_public((sum >> BITS) as i64))
    }

    /// Returns the residue, or None for P and above.
    pub(crate) const fn from_canonical(word: u64) -> Option<Self> {
        if word < PRIME { Some(Self(word)) } else { None }
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }

    #[cfg(any(feature = "alloc", test))]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self(reduce(self.0 + other.0))
    }

    #[cfg(any(feature = "alloc", test))]
    pub(crate) fn times(self, other: Self) -> Self {
        Self(reduce(product(self.0, other.0)))
    }
}

impl DefaultIsZeroes for Residue {}

/// A sum of residues and products, reduced at its end.
#[derive(Clone, Copy, Default)]
pub(crate) struct Total(u64);

impl Total {
    pub(crate) fn add(&mut self, residue: Residue) {
        self.fold(residue.0);
    }

    pub(crate) fn add_product(&mut self, x: Residue, y: Residue) {
        self.fold(product(x.0, y.0));
    }

    /// Adds x·y for |y| below 2^31, in half the time on small cores.
    pub(crate) fn add_small_product(&mut self, x: Residue, y: i64) {
        self.fold(small_product(x.0, y as i32));
    }

    /// Adds an integer below 2^62. The sum stays below 2^61 + 4.
    fn fold(&mut self, integer: u64) {
        let sum = self.0 + integer;
        self.0 = (sum & PRIME) + (sum >> BITS);
    }

    pub(crate) fn residue(self) -> Residue {
        Residue(reduce(self.0))
    }
}

impl DefaultIsZeroes for Total {}

/// A sum of products that is not reduced before the caller folds it.
#[cfg(all(feature = "alloc", target_pointer_width = "64"))]
#[derive(Clone, Copy, Default)]
pub(crate) struct Products(u128);

#[cfg(all(feature = "alloc", target_pointer_width = "64"))]
impl Products {
    /// Products between two folds: each is below 2^123.
    pub(crate) const MOST: usize = 16;

    /// Adds k·x for the residue k of a word of a key stream, and an integer x in −P..P.
    #[inline]
    pub(crate) fn add(&mut self, word: u64, x: i64) {
        // All ones are P, which is 0, and P + x is x: neither needs a reduction.
        self.0 += u128::from(word & PRIME) * u128::from(PRIME.wrapping_add(x as u64));
    }

    /// Leaves an integer below 2^67 + 2^61.
    #[inline]
    pub(crate) fn fold(&mut self) {
        self.0 = (self.0 >> BITS) + (self.0 & u128::from(PRIME));
    }

    pub(crate) fn residue(mut self) -> Residue {
        // Below 2^67 + 2^61, then below 2^61 + 2^7.
        self.fold();
        self.fold();
        Residue(reduce(self.0 as u64))
    }
}

/// A sum of products. Processors without products of 64 bits fold each.
#[cfg(all(feature = "alloc", not(target_pointer_width = "64")))]
#[derive(Clone, Copy, Default)]
pub(crate) struct Products(Total);

#[cfg(all(feature = "alloc", not(target_pointer_width = "64")))]
impl Products {
    pub(crate) const MOST: usize = 16;

    pub(crate) fn add(&mut self, word: u64, x: i64) {
        self.0.add_product(Residue::from_word(word), Residue::from_integer(x));
    }

    pub(crate) fn fold(&mut self) {}

    pub(crate) fn residue(self) -> Residue {
        self.0.residue()
    }
}

/// Returns x modulo P for x < 2P: the carry of x + 1 into bit 61 tells if x ≥ P, and takes P away. Neither a
/// comparison nor a select, which a compiler may turn into a branch.
fn reduce(x: u64) -> u64 {
    (x + ((x + 1) >> BITS)) & PRIME
}

/// Returns an integer below 2^62 that is congruent to x·y, for x, y < 2^61. 2^61 is 1.
#[cfg(target_pointer_width = "64")]
fn product(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    (product >> BITS) as u64 + (product as u64 & PRIME)
}

/// Like `product`, for |y| < 2^31: P + y times x is y times x.
#[cfg(target_pointer_width = "64")]
fn small_product(x: u64, y: i32) -> u64 {
    product(x, reduce(PRIME.wrapping_add(i64::from(y) as u64)))
}

#[cfg(not(target_pointer_width = "64"))]
use {halves::product, halves::small_product};

/// Products of 32 bits for small cores, and no carry, for which these have to branch.
#[cfg(any(test, not(target_pointer_width = "64")))]
mod halves {
    use super::{BITS, PRIME};

    const LOW: u64 = (1 << 31) - 1;

    /// Like `product` above. Neither is inlined, so that its variables take no memory while a block is drawn.
    #[inline(never)]
    pub(super) fn product(x: u64, y: u64) -> u64 {
        let ((x1, x0), (y1, y0)) = ((x >> 31, x & LOW), (y >> 31, y & LOW));
        // x·y = x1·y1·2^62 + middle·2^31 + x0·y0.
        fold(2 * (x1 * y1) + x0 * y0, x0 * y1 + x1 * y0)
    }

    /// Like `product`, for |y| < 2^31. Products are signed: a magnitude would take a branch on some cores.
    #[inline(never)]
    pub(super) fn small_product(x: u64, y: i32) -> u64 {
        let times = |half: u64| (i64::from(half as i32) * i64::from(y)) as u64;
        // Multiples of P, which is above 2^61 − 2^31 and 2P above (2^31 − 1)^2, leave nothing negative.
        fold(times(x & LOW).wrapping_add(2 * PRIME), times(x >> 31).wrapping_add(PRIME))
    }

    /// Returns an integer below 2^62 congruent to ends + middle·2^31, for ends < 2^63 and middle < 2^62.
    fn fold(ends: u64, middle: u64) -> u64 {
        // 2^31·2^30 is 1.
        let sum = ends + (middle >> 30) + ((middle & ((1 << 30) - 1)) << 31);
        (sum & PRIME) + (sum >> BITS)
    }
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
            prop_assert_eq!(reduce(halves::product(x, y)), exact(x, y));
            let (small, mut total) = (y >> 30, [Total::default(); 2]);
            total[0].add_small_product(Residue(x), small as i64);
            total[1].add_small_product(Residue(x), -(small as i64));
            prop_assert_eq!(total[0].residue().0, exact(x, small));
            prop_assert_eq!(total[1].residue().0, exact(PRIME - x, small));
            prop_assert_eq!(reduce(halves::small_product(x, small as i32)), exact(x, small));
            prop_assert_eq!(reduce(halves::small_product(x, -(small as i32))), exact(PRIME - x, small));
        }

        #[test]
        fn totals_are_sums(list in proptest::collection::vec((0..PRIME, 0..PRIME), 0..40)) {
            let (mut total, mut sum) = (Total::default(), Residue::default());
            for (x, y) in list {
                total.add_product(Residue(x), Residue(y));
                total.add(Residue(y));
                sum = sum.plus(Residue(x).times(Residue(y))).plus(Residue(y));
            }
            prop_assert_eq!(total.residue().0, sum.0);
        }

        #[cfg(feature = "alloc")]
        #[test]
        fn sums_of_products_are_sums(
            list in proptest::collection::vec((any::<u64>(), -(PRIME as i64) + 1..PRIME as i64), 0..100),
        ) {
            let (mut products, mut total) = (Products::default(), Total::default());
            for (index, (word, x)) in list.into_iter().enumerate() {
                products.add(word, x);
                total.add_product(Residue::from_word(word), Residue::from_integer(x));
                if index % Products::MOST == Products::MOST - 1 {
                    products.fold();
                }
            }
            prop_assert_eq!(products.residue().0, total.residue().0);
        }

        #[test]
        fn integers_have_their_residues(x in -(PRIME as i64) + 1..PRIME as i64) {
            prop_assert_eq!(Residue::from_integer(x).0, x.rem_euclid(PRIME as i64) as u64);
        }
    }

    #[test]
    fn edges() {
        let edges = [0, 1, 2, (1 << 31) - 1, 1 << 31, PRIME / 2, PRIME - (1 << 31), PRIME - 2, PRIME - 1];
        for (x, y) in edges.iter().flat_map(|x| edges.map(|y| (*x, y))) {
            assert_eq!(Residue(x).times(Residue(y)).0, exact(x, y), "{x}·{y}");
            assert_eq!(Residue(x).plus(Residue(y)).0, (x + y) % PRIME, "{x} + {y}");
            assert_eq!(reduce(halves::product(x, y)), exact(x, y), "{x}·{y} by halves");
        }
        let most = i32::MAX as u64;
        for x in edges {
            assert_eq!(reduce(halves::small_product(x, i32::MAX)), exact(x, most), "{x}");
            assert_eq!(reduce(halves::small_product(x, -i32::MAX)), exact(PRIME - x, most), "{x}");
        }
        for x in [0, 1, PRIME - 1] {
            let mut total = Total::default();
            total.add_small_product(Residue(x), 1 - (1 << 31));
            assert_eq!(total.residue().0, exact(x, PRIME + 1 - (1 << 31)), "{x} times the least");
        }
        let mut total = Total::default();
        (0..100).for_each(|_| total.add_product(Residue(PRIME - 1), Residue(PRIME - 1)));
        assert_eq!(total.residue().0, 100);
        (0..100).for_each(|_| total.add(Residue(PRIME - 1)));
        assert_eq!(total.residue().0, 0);
        assert_eq!(Residue::from_word(u64::MAX).0, 0);
        assert_eq!(Residue::from_word(PRIME).0, 0);
        assert_eq!(Residue::from_word(PRIME - 1).0, PRIME - 1);
        assert_eq!(Residue::from_word(1 << 61).0, 0);
        assert_eq!(Residue::from_public(i64::MIN).0, i64::MIN.rem_euclid(PRIME as i64) as u64);
        assert!(Residue::from_canonical(PRIME).is_none());
    }
    #[cfg(feature = "alloc")]
    #[test]
    fn the_largest_products_fit() {
        // Words P − 1 and P (which is 0), times the ends.
        for (word, x) in
            [(PRIME - 1, PRIME as i64 - 1), (PRIME, PRIME as i64 - 1), (PRIME - 1, 1 - PRIME as i64)]
        {
            let mut products = Products::default();
            for round in 1..=3 {
                products.fold();
                (0..Products::MOST).for_each(|_| products.add(word, x));
                let count = (round * Products::MOST) as u64;
                let one = exact(word % PRIME, x.rem_euclid(PRIME as i64) as u64);
                assert_eq!(products.residue().0, exact(one, count), "{word}·{x}, {round} rounds");
            }
        }
    }
}
