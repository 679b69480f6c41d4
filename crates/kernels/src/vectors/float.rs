//! Residues below 2^50 as floating-point integers, with fused multiplication. Proof:
//! docs/math/kernels.md#floating-point.

use super::arithmetic::{LaneArithmetic, LineOf, Pair, WordsOf};
use super::lanes::Lanes;
use crate::modulus::Modulus;

/// Between 2^52 and 2^53 floating-point numbers are integers: adding and subtracting this rounds numbers below 2^51.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0; // 3·2^51

/// 2^52: adding it to a smaller integer puts the integer into the low bits.
const BASE: f64 = 4_503_599_627_370_496.0;

/// A prime in every lane. LAZY: below 2^48, where transforms settle only a few sums. EXACT: below 2^25, where products
/// in transforms are exact floating-point numbers.
#[derive(Clone, Copy)]
pub(crate) struct Float<L: Lanes, const LAZY: bool, const EXACT: bool = false> {
    lanes: L,
    q: L::Floats,
    /// 1/q.
    inverse: L::Floats,
    round: L::Floats,
    residue: L::Words,
    /// 2^52; `lifted` is 2^52 + 14·q.
    base: L::Floats,
    lifted: L::Floats,
}

/// A centred constant, and the constant divided by q.
#[derive(Clone, Copy)]
pub(crate) struct Constant<L: Lanes> {
    value: L::Floats,
    quotient: L::Floats,
}

impl<L: Lanes, const LAZY: bool, const EXACT: bool> Float<L, LAZY, EXACT> {
    /// Returns x·y − b·q exactly, where b is near x·y/q.
    #[inline(always)]
    fn rest(self, x: L::Floats, y: L::Floats, product: L::Floats, b: L::Floats) -> L::Floats {
        let l = self.lanes;
        if EXACT {
            return l.minus_times(product, b, self.q);
        }
        // product − x·y, which is exactly a floating-point number.
        let lost = l.minus_times(product, x, y);
        l.minus(l.minus_times(product, b, self.q), lost)
    }

    /// Returns the integer nearest to x·y. Range: |x·y| < 2^51.
    #[inline(always)]
    fn rounded(self, x: L::Floats, y: L::Floats) -> L::Floats {
        self.lanes.minus(self.lanes.times_plus(x, y, self.round), self.round)
    }
}

impl<L: Lanes, const LAZY: bool, const EXACT: bool> LaneArithmetic for Float<L, LAZY, EXACT> {
    type Lanes = L;
    type Value = L::Floats;
    type Constant = Constant<L>;
    const SETTLES_ON_LOAD: bool = !LAZY;
    const SETTLES_SUMS: bool = LAZY;
    const SIGNED: bool = true;
    const FACTOR_BITS: u32 = 45;

    #[inline(always)]
    fn new(lanes: L, modulus: &Modulus) -> Self {
        let q = modulus.value() as f64;
        Self {
            lanes,
            q: lanes.all_floats(q),
            inverse: lanes.all_floats(1.0 / q),
            round: lanes.all_floats(ROUND),
            residue: lanes.all(modulus.value()),
            base: lanes.all_floats(BASE),
            lifted: lanes.all_floats(BASE + 14.0 * q),
        }
    }

    #[inline(always)]
    fn lanes(self) -> L {
        self.lanes
    }

    #[inline(always)]
    fn pair(modulus: &Modulus, constant: u64) -> Pair {
        let centred = modulus.centre(constant) as f64;
        [centred.to_bits(), (centred / modulus.value() as f64).to_bits()]
    }

    #[inline(always)]
    fn constant(self, pair: &Pair) -> Constant<L> {
        let all = |bits: u64| self.lanes.all_floats(f64::from_bits(bits));
        Constant { value: all(pair[0]), quotient: all(pair[1]) }
    }

    #[inline(always)]
    fn constants(self, lines: [&LineOf<Self>; 2]) -> Constant<L> {
        let l = self.lanes;
        Constant { value: l.floats_of(l.load(lines[0])), quotient: l.floats_of(l.load(lines[1])) }
    }

    #[inline(always)]
    fn kept(self, value: L::Floats) -> WordsOf<Self> {
        self.lanes.words_of(value)
    }

    #[inline(always)]
    fn of_kept(self, words: WordsOf<Self>) -> L::Floats {
        self.lanes.floats_of(words)
    }

    #[inline(always)]
    fn zero(self) -> L::Floats {
        self.lanes.all_floats(0.0)
    }

    #[inline(always)]
    fn take(self, words: WordsOf<Self>) -> L::Floats {
        self.lanes.to_floats(words)
    }

    #[inline(always)]
    fn give(self, value: L::Floats) -> WordsOf<Self> {
        self.give_product(self.settle(value))
    }

    /// Returns a word below 2^52. Range: q < 2^47.
    #[inline(always)]
    fn open(self, value: L::Floats) -> WordsOf<Self> {
        self.lanes.subtract(
            self.lanes.words_of(self.lanes.plus(value, self.lifted)),
            self.lanes.words_of(self.base),
        )
    }

    #[inline(always)]
    fn give_product(self, value: L::Floats) -> WordsOf<Self> {
        self.lanes.wrapped(self.lanes.to_integers(value), self.residue)
    }

    #[inline(always)]
    fn settle(self, value: L::Floats) -> L::Floats {
        self.lanes.minus_times(value, self.rounded(value, self.inverse), self.q)
    }

    #[inline(always)]
    fn factor(self, value: L::Floats) -> L::Floats {
        self.settle(value)
    }

    #[inline(always)]
    fn add(self, x: L::Floats, y: L::Floats) -> L::Floats {
        self.lanes.plus(x, y)
    }

    #[inline(always)]
    fn subtract(self, x: L::Floats, y: L::Floats) -> L::Floats {
        self.lanes.minus(x, y)
    }

    #[inline(always)]
    fn times(self, x: L::Floats, by: Constant<L>) -> L::Floats {
        self.rest(x, by.value, self.lanes.times(x, by.value), self.rounded(x, by.quotient))
    }

    #[inline(always)]
    fn product(self, x: L::Floats, y: L::Floats) -> L::Floats {
        let product = self.lanes.times(x, y);
        self.rest(x, y, product, self.rounded(product, self.inverse))
    }

    #[inline(always)]
    fn split(self, x: &mut L::Floats, y: &mut L::Floats, by: Constant<L>) {
        let t = self.times(*y, by);
        (*x, *y) = (self.lanes.plus(*x, t), self.lanes.minus(*x, t));
    }

    #[inline(always)]
    fn join(self, x: &mut L::Floats, y: &mut L::Floats) {
        (*x, *y) = (self.lanes.plus(*x, *y), self.lanes.minus(*x, *y));
    }
}
