//! Residues up to 2^61 as words, with products from 32-bit halves; also serves functions that take any word. Proof:
//! docs/math/kernels.md#whole-words.

use super::arithmetic::{LaneArithmetic, LineOf, Pair, WordsOf};
use super::lanes::Lanes;
use crate::modulus::Modulus;

/// A prime in every lane, and the constants that reduce its products.
#[derive(Clone, Copy)]
pub(crate) struct Whole<L: Lanes> {
    lanes: L,
    q: L::Words,
    two_q: L::Words,
    four_q: L::Words,
    /// floor(2^(2b)/q)·2^(62 − b), b the bit length of q, and its upper half.
    barrett: Halves<L>,
    /// The bit length b of q.
    bits: u32,
}

/// A word, and its upper half shifted down.
#[derive(Clone, Copy)]
struct Halves<L: Lanes> {
    word: L::Words,
    high: L::Words,
}

/// A constant's value and floor(value·2^64/q).
#[derive(Clone, Copy)]
pub(crate) struct Constant<L: Lanes> {
    value: L::Words,
    quotient: L::Words,
}

impl<L: Lanes> Whole<L> {
    #[inline(always)]
    fn halves(self, word: L::Words) -> Halves<L> {
        Halves { word, high: self.lanes.shift_right(word, 32) }
    }

    /// Returns floor(x·y/2^64), or one or two less.
    #[inline(always)]
    fn high_nearly(self, x: Halves<L>, y: Halves<L>) -> L::Words {
        let l = self.lanes;
        let first = l.shift_right(l.multiply_halves(x.high, y.word), 32);
        let second = l.shift_right(l.multiply_halves(x.word, y.high), 32);
        l.add(l.add(l.multiply_halves(x.high, y.high), first), second)
    }

    /// Returns floor(x·y/2^64), or one less. Range: x, y < 2^63.
    #[inline(always)]
    fn high_narrow(self, x: Halves<L>, y: Halves<L>) -> L::Words {
        let l = self.lanes;
        let across = l.add(l.multiply_halves(x.high, y.word), l.multiply_halves(x.word, y.high));
        l.add(l.multiply_halves(x.high, y.high), l.shift_right(across, 32))
    }
}

impl<L: Lanes> LaneArithmetic for Whole<L> {
    type Lanes = L;
    type Value = L::Words;
    type Constant = Constant<L>;
    // Not needed: butterflies settle their values.
    const SETTLES_ON_LOAD: bool = false;
    const SETTLES_SUMS: bool = false;
    const SIGNED: bool = false;
    const FACTOR_BITS: u32 = 0;

    #[inline(always)]
    fn new(lanes: L, modulus: &Modulus) -> Self {
        let (q, bits) = (modulus.value(), modulus.bits());
        let barrett = modulus.barrett << (62 - bits);
        Self {
            lanes,
            q: lanes.all(q),
            two_q: lanes.all(2 * q),
            four_q: lanes.all(4 * q),
            barrett: Halves { word: lanes.all(barrett), high: lanes.all(barrett >> 32) },
            bits,
        }
    }

    #[inline(always)]
    fn lanes(self) -> L {
        self.lanes
    }

    #[inline(always)]
    fn pair(modulus: &Modulus, constant: u64) -> Pair {
        let factor = modulus.factor(constant);
        [factor.value, factor.quotient]
    }

    #[inline(always)]
    fn constant(self, pair: &Pair) -> Constant<L> {
        Constant { value: self.lanes.all(pair[0]), quotient: self.lanes.all(pair[1]) }
    }

    #[inline(always)]
    fn constants(self, lines: [&LineOf<Self>; 2]) -> Constant<L> {
        Constant { value: self.lanes.load(lines[0]), quotient: self.lanes.load(lines[1]) }
    }

    #[inline(always)]
    fn kept(self, value: L::Words) -> WordsOf<Self> {
        value
    }

    #[inline(always)]
    fn of_kept(self, words: WordsOf<Self>) -> L::Words {
        words
    }

    #[inline(always)]
    fn zero(self) -> L::Words {
        self.lanes.all(0)
    }

    #[inline(always)]
    fn take(self, words: WordsOf<Self>) -> L::Words {
        words
    }

    #[inline(always)]
    fn give(self, value: L::Words) -> WordsOf<Self> {
        self.give_product(self.settle(value))
    }

    /// Returns a value below 4q.
    #[inline(always)]
    fn open(self, value: L::Words) -> WordsOf<Self> {
        self.settle(value)
    }

    #[inline(always)]
    fn give_product(self, value: L::Words) -> WordsOf<Self> {
        self.lanes.below(self.lanes.below(value, self.two_q), self.q)
    }

    #[inline(always)]
    fn settle(self, value: L::Words) -> L::Words {
        self.lanes.below(value, self.four_q)
    }

    #[inline(always)]
    fn factor(self, value: L::Words) -> L::Words {
        self.give_product(value)
    }

    #[inline(always)]
    fn add(self, x: L::Words, y: L::Words) -> L::Words {
        self.lanes.add(x, y)
    }

    #[inline(always)]
    fn subtract(self, x: L::Words, y: L::Words) -> L::Words {
        self.lanes.subtract(self.lanes.add(x, self.four_q), y)
    }

    #[inline(always)]
    fn times(self, x: L::Words, by: Constant<L>) -> L::Words {
        let l = self.lanes;
        let quotient = self.high_nearly(self.halves(x), self.halves(by.quotient));
        l.subtract(l.multiply_low(x, by.value), l.multiply_low(quotient, self.q))
    }

    #[inline(always)]
    fn product(self, x: L::Words, y: L::Words) -> L::Words {
        let l = self.lanes;
        let (x, y) = (self.halves(x), self.halves(y));
        let low = l.multiply_halves(x.word, y.word);
        let across = l.add(l.multiply_halves(x.high, y.word), l.multiply_halves(x.word, y.high));
        let middle = l.add(across, l.shift_right(low, 32));
        let high = l.add(l.multiply_halves(x.high, y.high), l.shift_right(middle, 32));
        let low = l.add(low, l.shift_left(across, 32));
        let top = l.or(l.shift_left(high, 66 - self.bits), l.shift_right(low, self.bits - 2));
        let quotient = self.high_narrow(self.halves(top), self.barrett);
        l.subtract(low, l.multiply_low(quotient, self.q))
    }

    #[inline(always)]
    fn split(self, x: &mut L::Words, y: &mut L::Words, by: Constant<L>) {
        let (low, t) = (self.settle(*x), self.times(*y, by));
        (*x, *y) = (self.lanes.add(low, t), self.subtract(low, t));
    }

    #[inline(always)]
    fn join(self, x: &mut L::Words, y: &mut L::Words) {
        (*x, *y) = (self.settle(self.lanes.add(*x, *y)), self.subtract(*x, *y));
    }
}
