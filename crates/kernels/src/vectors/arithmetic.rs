//! Arithmetic modulo a prime in lanes. Two kinds: [`super::float::Float`] below 2^50, [`super::whole::Whole`] below 2^61.

use super::lanes::Lanes;
use crate::modulus::Modulus;

/// A constant as it is stored: what it is multiplied by, and that over q.
pub(crate) type Pair = [u64; 2];

/// Ranges differ by kind: docs/math/kernels.md#written-once. A *value* is what sums, products and layers of a transform are made of;
/// a *residue* is a word in [0, q).
pub(super) trait Arithmetic: Copy {
    type Lanes: Lanes;
    type Value: Copy;
    /// A constant in every lane, or one a lane.
    type Constant: Copy;

    /// Passes of the transforms begin by [`Arithmetic::settle`].
    const SETTLES_ON_LOAD: bool;
    /// Passes of the inverse transform end by [`Arithmetic::settle`] of what was not multiplied.
    const SETTLES_SUMS: bool;
    /// Primes of so many bits, and what their transforms leave open is a factor of [`Arithmetic::product`] as it stands.
    const FACTOR_BITS: u32;

    fn new(lanes: Self::Lanes, modulus: &Modulus) -> Self;
    fn lanes(self) -> Self::Lanes;
    /// Range: constant < q.
    fn pair(modulus: &Modulus, constant: u64) -> Pair;
    fn constant(self, pair: &Pair) -> Self::Constant;
    fn constants(self, lines: [&LineOf<Self>; 2]) -> Self::Constant;

    /// A value as it is kept between passes, and back.
    fn kept(self, value: Self::Value) -> WordsOf<Self>;
    fn of_kept(self, words: WordsOf<Self>) -> Self::Value;

    fn zero(self) -> Self::Value;
    /// A residue, or a word below 2^52, as a value.
    fn take(self, words: WordsOf<Self>) -> Self::Value;
    /// The residue of a sum.
    fn give(self, value: Self::Value) -> WordsOf<Self>;
    /// What the forward transform leaves, as a word below 2^52 or a residue that is congruent to it.
    fn open(self, value: Self::Value) -> WordsOf<Self>;
    /// The residue of one product.
    fn give_product(self, value: Self::Value) -> WordsOf<Self>;
    /// A small representative, to be summed or multiplied again.
    fn settle(self, value: Self::Value) -> Self::Value;
    /// What was taken, as a factor of [`Arithmetic::product`].
    fn factor(self, value: Self::Value) -> Self::Value;

    fn add(self, x: Self::Value, y: Self::Value) -> Self::Value;
    fn subtract(self, x: Self::Value, y: Self::Value) -> Self::Value;
    /// Of a value and a constant.
    fn times(self, x: Self::Value, by: Self::Constant) -> Self::Value;
    /// Of two factors.
    fn product(self, x: Self::Value, y: Self::Value) -> Self::Value;

    /// (x, y) to (x + y·w, x − y·w): a butterfly of the forward transform.
    fn split(self, x: &mut Self::Value, y: &mut Self::Value, by: Self::Constant);
    /// (x, y) to (x + y, x − y), the sum settled where this kind does so, the difference to be multiplied at once: of the inverse one.
    fn join(self, x: &mut Self::Value, y: &mut Self::Value);
}

pub(super) type WordsOf<A> = <<A as Arithmetic>::Lanes as Lanes>::Words;
pub(super) type LineOf<A> = <<A as Arithmetic>::Lanes as Lanes>::Line;
