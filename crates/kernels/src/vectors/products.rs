//! Sums of many products: key switching, tensors, base conversion, the end of a division.

use super::arithmetic::{LaneArithmetic, LineOf, Pair};
use super::float::ROUND;
use super::lanes::Lanes;
use crate::conversion::{FRACTION_BITS, Quotient};
use crate::modulus::{Factor, Modulus};
use crate::scalar;

/// Vectors computed side by side.
const SIDE: usize = 2;
/// Products added before a sum is settled.
const SETTLED: usize = 8;

/// Computes out\[h\] = Σ digit·key\[h\] for unreduced digits, permuted by `map` if given.
#[inline(always)]
pub(super) fn inner_products<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
) {
    let [first, second] = out;
    if first.len() % (A::Lanes::COUNT * SIDE) != 0 || digits.is_empty() {
        return scalar::inner_products(m, [first, second], digits, keys, map);
    }
    for (i, (digits, keys)) in digits.chunks(SETTLED).zip(keys.chunks(SETTLED)).enumerate() {
        let sums = Sums { digits, keys, map, more: i > 0 };
        let out = [&mut *first, &mut *second];
        match (map.is_some(), m.bits() <= A::FACTOR_BITS) {
            (false, false) => sums.write::<A, false, false>(a, out),
            (false, true) => sums.write::<A, false, true>(a, out),
            (true, false) => sums.write::<A, true, false>(a, out),
            (true, true) => sums.write::<A, true, true>(a, out),
        }
    }
}

/// At most [`SETTLED`] digits and their keys. If `more`, the sums are added to the output.
struct Sums<'a> {
    digits: &'a [&'a [u64]],
    keys: &'a [[&'a [u64]; 2]],
    map: Option<&'a [u32]>,
    more: bool,
}

impl Sums<'_> {
    /// Writes the sums. MOVED: there is a map. FACTORS: digits are valid factors without conversion.
    #[inline(always)]
    fn write<A: LaneArithmetic, const MOVED: bool, const FACTORS: bool>(&self, a: A, out: [&mut [u64]; 2]) {
        let l = a.lanes();
        let [first, second] = out.map(|out| A::Lanes::lines_mut(out).0.as_chunks_mut::<SIDE>().0);
        let count = first.len().min(second.len());
        // Cut to one length before the loop, so that it needs few bounds checks.
        let mut rows: [[&[[LineOf<A>; SIDE]]; 3]; SETTLED] = [[&[]; 3]; SETTLED];
        for ((row, digit), [body, mask]) in rows.iter_mut().zip(self.digits).zip(self.keys) {
            *row = [digit, body, mask].map(|words| side_by_side::<A::Lanes>(words, count));
        }
        let rows = &rows[..self.digits.len().min(SETTLED)];
        let places = self.map.unwrap_or_default().chunks_exact(A::Lanes::COUNT * SIDE);
        let mut places = places.map(|places| places.split_at(A::Lanes::COUNT));
        for at in 0..count {
            let mut sums = [[a.zero(); SIDE]; 2];
            if self.more {
                for k in 0..SIDE {
                    sums[0][k] = a.take(l.load(&first[at][k]));
                    sums[1][k] = a.take(l.load(&second[at][k]));
                }
            }
            let mut moves = None;
            if MOVED {
                let (low, high) = places.next().expect("a place of every word");
                moves = Some([l.places(low), l.places(high)]);
            }
            for (number, [digit, body, mask]) in rows.iter().enumerate() {
                let (digit, body, mask) = (&digit[at], &body[at], &mask[at]);
                for k in 0..SIDE {
                    let words = match moves {
                        Some(places) => l.moved(self.digits[number], places[k]),
                        None => l.load(&digit[k]),
                    };
                    let mut x = a.take(words);
                    if !FACTORS {
                        x = a.factor(x);
                    }
                    sums[0][k] = a.add(sums[0][k], a.product(x, a.take(l.load(&body[k]))));
                    sums[1][k] = a.add(sums[1][k], a.product(x, a.take(l.load(&mask[k]))));
                    if !A::SETTLES_SUMS {
                        sums[0][k] = a.settle(sums[0][k]);
                        sums[1][k] = a.settle(sums[1][k]);
                    }
                }
            }
            for k in 0..SIDE {
                l.store(&mut first[at][k], a.give(sums[0][k]));
                l.store(&mut second[at][k], a.give(sums[1][k]));
            }
        }
    }
}

/// Computes out = sum·first + rest·second + addend (if given). Range: rest below 2^52 or a residue.
#[inline(always)]
pub(super) fn subtract_rest<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    let l = a.lanes();
    let (first, second) = (a.constant(&A::pair(m, by[0].value)), a.constant(&A::pair(m, by[1].value)));
    let (lines, tail) = A::Lanes::lines_mut(out);
    let ((sums, sum), (rests, rest)) = (A::Lanes::lines(sum), A::Lanes::lines(rest));
    let (addends, addend) = match addend.map(A::Lanes::lines) {
        Some((lines, tail)) => (Some(lines), Some(tail)),
        None => (None, None),
    };
    for (i, line) in lines.iter_mut().enumerate() {
        let [x, y] = [a.take(l.load(&sums[i])), a.take(l.load(&rests[i]))];
        let mut value = a.add(a.times(x, first), a.times(y, second));
        if !A::SETTLES_SUMS {
            value = a.settle(value);
        }
        if let Some(addends) = addends {
            value = a.add(value, a.take(l.load(&addends[i])));
        }
        l.store(line, a.give(value));
    }
    scalar::subtract_rest(m, tail, sum, rest, by, addend);
}

/// Computes a0·b0, a0·b1 + a1·b0, a1·b1.
#[inline(always)]
pub(super) fn tensor<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: [&mut [u64]; 3],
    x: [&[u64]; 2],
    y: [&[u64]; 2],
) {
    let l = a.lanes();
    let [(low, low_rest), (middle, middle_rest), (high, high_rest)] = out.map(A::Lanes::lines_mut);
    let [(x0, x0_rest), (x1, x1_rest)] = x.map(A::Lanes::lines);
    let [(y0, y0_rest), (y1, y1_rest)] = y.map(A::Lanes::lines);
    for (i, line) in low.iter_mut().enumerate() {
        let [x0, x1] = [a.take(l.load(&x0[i])), a.take(l.load(&x1[i]))];
        let [y0, y1] = [a.take(l.load(&y0[i])), a.take(l.load(&y1[i]))];
        l.store(line, a.give_product(a.product(x0, y0)));
        l.store(&mut middle[i], a.give(a.add(a.product(x0, y1), a.product(x1, y0))));
        l.store(&mut high[i], a.give_product(a.product(x1, y1)));
    }
    scalar::tensor(m, [low_rest, middle_rest, high_rest], [x0_rest, x1_rest], [y0_rest, y1_rest]);
}

/// Computes out = Σ source·weight + base. Range: sources below 2^50 in floating point, any word in whole words.
#[inline(always)]
pub(super) fn convert<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    source_bits: u32,
    weights: &[u64],
    base: u64,
) {
    let l = a.lanes();
    let mut pairs: [Pair; MOST_SOURCES] = [[0; 2]; MOST_SOURCES];
    for (pair, weight) in pairs.iter_mut().zip(weights) {
        *pair = A::pair(m, *weight);
    }
    let (rows, whole) = rows::<A::Lanes>(out.len(), sources);
    let (rows, pairs) = (&rows[..sources.len()], &pairs[..sources.len()]);
    let start = a.take(l.all(base));
    for (at, lines) in A::Lanes::lines_mut(out).0.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
        let mut sums = [start; SIDE];
        for (i, (row, pair)) in rows.iter().zip(pairs).enumerate() {
            let (row, by) = (&row[at], a.constant(pair));
            for k in 0..SIDE {
                sums[k] = a.add(sums[k], a.times(a.take(l.load(&row[k])), by));
                if !A::SETTLES_SUMS || i % SETTLED == SETTLED - 1 {
                    sums[k] = a.settle(sums[k]);
                }
            }
        }
        for k in 0..SIDE {
            l.store(&mut lines[k], a.give(sums[k]));
        }
    }
    if whole < out.len() {
        let rest = rests(sources, whole);
        scalar::convert(m, &mut out[whole..], &rest[..sources.len()], source_bits, weights, base);
    }
}

/// Returns the first count·[`SIDE`] vectors of some words.
#[inline(always)]
fn side_by_side<L: Lanes>(words: &[u64], count: usize) -> &[[L::Line; SIDE]] {
    &L::lines(words).0.as_chunks().0[..count]
}

/// Returns equally many groups of SIDE vectors of every source, and the number of words in them.
#[inline(always)]
fn rows<'a, L: Lanes>(
    length: usize,
    sources: &[&'a [u64]],
) -> ([&'a [[L::Line; SIDE]]; MOST_SOURCES], usize) {
    let count = length / (L::COUNT * SIDE);
    let mut rows: [&[[L::Line; SIDE]]; MOST_SOURCES] = [&[]; MOST_SOURCES];
    for (row, source) in rows.iter_mut().zip(sources) {
        *row = side_by_side::<L>(source, count);
    }
    (rows, count * L::COUNT * SIDE)
}

/// Returns the words of the sources that are not in whole groups of vectors.
#[inline(always)]
fn rests<'a>(sources: &[&'a [u64]], whole: usize) -> [&'a [u64]; MOST_SOURCES] {
    let mut rests: [&[u64]; MOST_SOURCES] = [&[]; MOST_SOURCES];
    for (rest, source) in rests.iter_mut().zip(sources) {
        *rest = &source[whole..];
    }
    rests
}

/// Computes out = round(Σ floor(y·constant / 2^shift) / 2^25) in floating point: docs/math/kernels.md#floating-point.
/// Range: y < 2^52.
#[inline(always)]
pub(super) fn round_quotient<L: Lanes>(l: L, out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    let round = l.all_floats(ROUND);
    let half = l.all(1 << (FRACTION_BITS - 1));
    // The constant, 2^shift and 2^-shift.
    let mut numbers = [[0.0; 3]; MOST_SOURCES];
    for (numbers, quotient) in numbers.iter_mut().zip(quotients) {
        let unit = power_of_two(quotient.shift);
        *numbers = [quotient.constant as f64, unit, 1.0 / unit];
    }
    let (rows, whole) = rows::<L>(out.len(), sources);
    let (rows, numbers) = (&rows[..sources.len()], &numbers[..sources.len()]);
    for (at, lines) in L::lines_mut(out).0.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
        let (mut sums, mut over) = ([l.all_floats(0.0); SIDE], [l.all(0); SIDE]);
        for (row, [by, unit, inverse]) in rows.iter().zip(numbers) {
            let row = &row[at];
            let (by, unit, inverse) = (l.all_floats(*by), l.all_floats(*unit), l.all_floats(*inverse));
            for k in 0..SIDE {
                let y = l.to_floats(l.load(&row[k]));
                let product = l.times(y, by);
                let lost = l.minus_times(product, y, by);
                let nearest = l.minus(l.times_plus(product, inverse, round), round);
                // If the product is below the nearest multiple, the floor is one less.
                let rest = l.minus(l.minus_times(product, nearest, unit), lost);
                sums[k] = l.plus(sums[k], nearest);
                over[k] = l.add(over[k], l.shift_right(l.words_of(rest), 63));
            }
        }
        for k in 0..SIDE {
            let sum = l.subtract(l.to_integers(sums[k]), over[k]);
            l.store(&mut lines[k], l.shift_right(l.add(sum, half), FRACTION_BITS));
        }
    }
    if whole < out.len() {
        let rest = rests(sources, whole);
        scalar::round_quotient(&mut out[whole..], &rest[..sources.len()], quotients);
    }
}

/// Returns 2^exponent. Range: exponent < 1024.
#[inline(always)]
fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits((1023 + u64::from(exponent)) << 52)
}

/// Largest number of sources of a conversion: see [`crate::Kernels`].
pub(super) const MOST_SOURCES: usize = 34;
