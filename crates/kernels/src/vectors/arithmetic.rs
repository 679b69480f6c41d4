//! Arithmetic modulo a prime on vectors, in two kinds: [`super::float::Float`] below 2^50, [`super::whole::Whole`]
//! below 2^61.

use super::lanes::Lanes;
use crate::modulus::Modulus;

/// A constant as stored: the multiplier and the multiplier divided by q.
pub(crate) type Pair = [u64; 2];

/// Ranges differ by kind: docs/math/kernels.md#written-once. A *value* is the operand and result of sums, products and
/// layers of a transform; a *residue* is a word in [0, q).
pub(crate) trait LaneArithmetic: Copy {
    type Lanes: Lanes;
    type Value: Copy;
    /// A constant in every lane, or a different one in each.
    type Constant: Copy;

    /// If true, passes of the transforms begin with [`LaneArithmetic::settle`].
    const SETTLES_ON_LOAD: bool;
    /// If true, passes of the inverse transform end with [`LaneArithmetic::settle`] on the values that were not multiplied.
    const SETTLES_SUMS: bool;
    /// True if values may be negative, so that a difference with an unreduced word is one.
    const SIGNED: bool;
    /// Up to this bit length of the prime, unreduced output of the transforms is a valid factor of
    /// [`LaneArithmetic::product`].
    const FACTOR_BITS: u32;

    fn new(lanes: Self::Lanes, modulus: &Modulus) -> Self;
    fn lanes(self) -> Self::Lanes;
    /// Prepares a constant. Range: constant < q.
    fn pair(modulus: &Modulus, constant: u64) -> Pair;
    fn constant(self, pair: &Pair) -> Self::Constant;
    fn constants(self, lines: [&LineOf<Self>; 2]) -> Self::Constant;

    /// Converts a value to its representation between passes; `of_kept` converts back.
    fn kept(self, value: Self::Value) -> WordsOf<Self>;
    fn of_kept(self, words: WordsOf<Self>) -> Self::Value;

    fn zero(self) -> Self::Value;
    /// Converts a residue, or a word below 2^52, to a value.
    fn take(self, words: WordsOf<Self>) -> Self::Value;
    /// Reduces a sum to its residue.
    fn give(self, value: Self::Value) -> WordsOf<Self>;
    /// Converts the output of the forward transform to a word below 2^52 or a residue, congruent to it.
    fn open(self, value: Self::Value) -> WordsOf<Self>;
    /// Reduces one product to its residue.
    fn give_product(self, value: Self::Value) -> WordsOf<Self>;
    /// Returns a small representative, ready for further sums or products.
    fn settle(self, value: Self::Value) -> Self::Value;
    /// Converts the result of [`LaneArithmetic::take`] to a factor of [`LaneArithmetic::product`].
    fn factor(self, value: Self::Value) -> Self::Value;

    fn add(self, x: Self::Value, y: Self::Value) -> Self::Value;
    fn subtract(self, x: Self::Value, y: Self::Value) -> Self::Value;
    /// Multiplies a value by a constant.
    fn times(self, x: Self::Value, by: Self::Constant) -> Self::Value;
    /// Multiplies two factors.
    fn product(self, x: Self::Value, y: Self::Value) -> Self::Value;

    /// Maps (x, y) to (x + y·w, x − y·w): a butterfly of the forward transform.
    fn split(self, x: &mut Self::Value, y: &mut Self::Value, by: Self::Constant);
    /// Maps (x, y) to (x + y, x − y): a butterfly of the inverse transform without its product. Settles the sum if this
    /// kind does so; the caller multiplies the difference next.
    fn join(self, x: &mut Self::Value, y: &mut Self::Value);
}

pub(crate) type WordsOf<A> = <<A as LaneArithmetic>::Lanes as Lanes>::Words;
pub(crate) type LineOf<A> = <<A as LaneArithmetic>::Lanes as Lanes>::Line;
