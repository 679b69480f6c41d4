//! Values of slots: integers modulo t, or real numbers.

use core::fmt::Debug;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::Modulus;
use zeroize::Zeroize;

mod sealed {
    /// Limits [`SlotValue`](super::SlotValue) to two types.
    ///
    /// Example: [`SlotValue`](super::SlotValue)
    pub trait Sealed {}
    impl Sealed for i64 {}
    impl Sealed for f64 {}
}

/// The value of a slot: `i64`, an integer modulo t, or `f64`, a real number. Code that depends on the kind of values
/// alone is written for these two instead of for each scheme.
///
/// ```
/// use sotto_rlwe::{Bgv, Ckks, Scheme, SlotValue};
///
/// fn half_of<S: Scheme>(value: S::Value) -> S::Value {
///     value.half(65_537)
/// }
/// assert_eq!((half_of::<Ckks>(-3.0), half_of::<Bgv>(-4)), (-1.5, -2));
/// // Modulo t an odd number has a half as well.
/// assert_eq!(half_of::<Bgv>(3), (3 - 65_537) / 2);
/// ```
pub trait SlotValue:
    Copy + Debug + Default + PartialEq + Zeroize + Send + Sync + sealed::Sealed + 'static
{
    /// True for integers modulo t, false for real numbers with an error.
    const EXACT: bool;
    /// The number 1.
    const ONE: Self;

    /// Returns the representative in the plaintext space: centred modulo t, or the value itself.
    fn canonical(self, plain_modulus: u64) -> Self;
    /// Returns the integer to multiply by in place of an encoded constant, or None if encoding is better. The value
    /// must be canonical.
    fn as_integer(self) -> Option<i64>;
    /// Returns the value whose sum with itself is this one; integers modulo an odd t. Constant time.
    fn half(self, plain_modulus: u64) -> Self;
    /// Returns the value that slots index, index + count, … of a row repeat: the first copy of integers, the mean of
    /// reals.
    fn shared(row: &[Self], index: usize, count: usize) -> Self;
}

impl SlotValue for i64 {
    const EXACT: bool = true;
    const ONE: Self = 1;

    fn canonical(self, plain_modulus: u64) -> Self {
        let t = Modulus::new(plain_modulus).expect("a checked plain modulus");
        t.centre(t.from_signed(self))
    }

    fn as_integer(self) -> Option<i64> {
        Some(self)
    }

    /// The result is within ±t/2 like the value: an odd value is first moved by t towards zero and beyond. Branch-free.
    fn half(self, plain_modulus: u64) -> Self {
        let sign = (self >> 63) | 1;
        (self - (self & 1) * sign * plain_modulus as i64) / 2
    }

    fn shared(row: &[Self], index: usize, _count: usize) -> Self {
        row[index]
    }
}

impl SlotValue for f64 {
    const EXACT: bool = false;
    const ONE: Self = 1.0;

    fn canonical(self, _plain_modulus: u64) -> Self {
        self
    }

    fn as_integer(self) -> Option<i64> {
        small_integer(self)
    }

    fn half(self, _plain_modulus: u64) -> Self {
        self / 2.0
    }

    fn shared(row: &[Self], index: usize, count: usize) -> Self {
        mean(row.iter().skip(index).step_by(count).copied())
    }
}

/// Largest integer constant that is multiplied as an integer, which takes no level.
const LARGEST_INTEGER: f64 = (1u64 << 31) as f64;

/// Returns the integer to multiply by in place of a constant, if the constant is an integer of at most 2^31 in
/// magnitude; else None.
pub fn small_integer(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= LARGEST_INTEGER).then_some(value as i64)
}

/// Returns the mean of copies of one number. Sums their differences, so that the number itself loses no bits.
fn mean(mut copies: impl Iterator<Item = f64>) -> f64 {
    let first = copies.next().unwrap_or(0.0);
    let (sum, count) = copies.fold((0.0, 1.0), |(sum, count), copy| (sum + (copy - first), count + 1.0));
    first + sum / count
}
