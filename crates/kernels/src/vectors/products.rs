//! Sums of many products: key switching, tensors, base conversion, the end of a division.

use super::arithmetic::{Arithmetic, Pair};
use super::float::ROUND;
use super::lanes::Lanes;
use crate::modulus::{Factor, Modulus};
use crate::scalar;
use crate::table::{FRACTION_BITS, Quotient};

/// Vectors that are computed side by side.
const SIDE: usize = 2;
/// Products that are added before a sum is settled.
const SETTLED: usize = 8;

/// out\[h\] = Σ digit·key\[h\], digits below 2^52 or residues, moved by `map` where there is one.
#[inline(always)]
pub(super) fn inner_products<A: Arithmetic>(
    a: A,
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
) {
    let [first, second] = out;
    if first.len() % (A::Lanes::COUNT * SIDE) != 0 {
        return scalar::inner_products(m, [first, second], digits, keys, map);
    }
    match map {
        None => sum_up::<A, false>(a, [first, second], digits, keys, &[]),
        Some(map) => sum_up::<A, true>(a, [first, second], digits, keys, map),
    }
}

#[inline(always)]
fn sum_up<A: Arithmetic, const MOVED: bool>(
    a: A,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: &[u32],
) {
    let l = a.lanes();
    let [(first, _), (second, _)] = out.map(A::Lanes::lines_mut);
    let mut at = 0;
    while at < first.len() {
        let mut sums = [[a.zero(); SIDE]; 2];
        let places = if MOVED { Some(places::<A>(l, map, at)) } else { None };
        // Of whole words each sum is settled at once, of floating-point ones now and then.
        let settled = if A::SETTLES_SUMS { SETTLED } else { 1 };
        for (i, (digits, keys)) in digits.chunks(settled).zip(keys.chunks(settled)).enumerate() {
            if i > 0 {
                for sum in sums.as_flattened_mut() {
                    *sum = a.settle(*sum);
                }
            }
            for (digit, key) in digits.iter().zip(keys) {
                let (body, mask) = (lines::<A>(key[0], at), lines::<A>(key[1], at));
                for k in 0..SIDE {
                    let words = match places {
                        Some(places) => l.moved(digit, places[k]),
                        None => l.load(&lines::<A>(digit, at)[k]),
                    };
                    let x = a.factor(a.take(words));
                    sums[0][k] = a.add(sums[0][k], a.product(x, a.take(l.load(&body[k]))));
                    sums[1][k] = a.add(sums[1][k], a.product(x, a.take(l.load(&mask[k]))));
                }
            }
        }
        for (half, out) in [&mut *first, &mut *second].into_iter().enumerate() {
            for (k, line) in out[at..at + SIDE].iter_mut().enumerate() {
                l.store(line, a.give(sums[half][k]));
            }
        }
        at += SIDE;
    }
}

#[inline(always)]
fn places<A: Arithmetic>(l: A::Lanes, map: &[u32], at: usize) -> [<A::Lanes as Lanes>::Places; SIDE] {
    let count = A::Lanes::COUNT;
    let (first, rest) = map[at * count..].split_at(count);
    [l.places(first), l.places(rest)]
}

#[inline(always)]
fn lines<A: Arithmetic>(words: &[u64], at: usize) -> &[<A::Lanes as Lanes>::Line; SIDE] {
    A::Lanes::lines(words).0[at..at + SIDE].first_chunk().expect("so many lines")
}

/// out = sum·first + rest·second, the rest below 2^52 or a residue, and `addend` added where there is one.
#[inline(always)]
pub(super) fn subtract_rest<A: Arithmetic>(
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
        let mut value = a.settle(a.add(a.times(x, first), a.times(y, second)));
        if let Some(addends) = addends {
            value = a.add(value, a.take(l.load(&addends[i])));
        }
        l.store(line, a.give(value));
    }
    scalar::subtract_rest(m, tail, sum, rest, by, addend);
}

/// a0·b0, a0·b1 + a1·b0, a1·b1.
#[inline(always)]
pub(super) fn tensor<A: Arithmetic>(a: A, m: &Modulus, out: [&mut [u64]; 3], x: [&[u64]; 2], y: [&[u64]; 2]) {
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

/// out = Σ source·weight + base. Range: sources below 2^50, of whole words any.
#[inline(always)]
pub(super) fn convert<A: Arithmetic>(
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
    let start = a.take(l.all(base));
    let whole = out.len() / A::Lanes::COUNT;
    for (at, line) in A::Lanes::lines_mut(out).0.iter_mut().enumerate() {
        let mut sum = start;
        for (i, (source, pair)) in sources.iter().zip(&pairs).enumerate() {
            let y = a.take(l.load(&A::Lanes::lines(source).0[at]));
            sum = a.add(sum, a.times(y, a.constant(pair)));
            if !A::SETTLES_SUMS || i % SETTLED == SETTLED - 1 {
                sum = a.settle(sum);
            }
        }
        l.store(line, a.give(sum));
    }
    let whole = whole * A::Lanes::COUNT;
    if whole < out.len() {
        let mut rest: [&[u64]; MOST_SOURCES] = [&[]; MOST_SOURCES];
        for (rest, source) in rest.iter_mut().zip(sources) {
            *rest = &source[whole..];
        }
        scalar::convert(m, &mut out[whole..], &rest[..sources.len()], source_bits, weights, base);
    }
}

/// out = round(Σ floor(y·constant / 2^shift) / 2^25), in floating point: docs/math/kernels.md#floating-point. Range: y < 2^52.
#[inline(always)]
pub(super) fn round_quotient<L: Lanes>(l: L, out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    let round = l.all_floats(ROUND);
    let half = l.all(1 << (FRACTION_BITS - 1));
    let whole = out.len() / L::COUNT * L::COUNT;
    for (at, line) in L::lines_mut(out).0.iter_mut().enumerate() {
        let (mut sum, mut over) = (l.all_floats(0.0), l.all(0));
        for (source, quotient) in sources.iter().zip(quotients) {
            let (by, unit) = (l.all_floats(quotient.constant as f64), power_of_two(quotient.shift));
            let y = l.to_floats(l.load(&L::lines(source).0[at]));
            let product = l.times(y, by);
            let lost = l.minus_times(product, y, by);
            let nearest = l.minus(l.times_plus(product, l.all_floats(1.0 / unit), round), round);
            // Where the product is below the nearest multiple, the floor is one less.
            let rest = l.minus(l.minus_times(product, nearest, l.all_floats(unit)), lost);
            sum = l.plus(sum, nearest);
            over = l.add(over, l.shift_right(l.words_of(rest), 63));
        }
        let sum = l.subtract(l.to_integers(sum), over);
        l.store(line, l.shift_right(l.add(sum, half), FRACTION_BITS));
    }
    if whole < out.len() {
        let mut rest: [&[u64]; MOST_SOURCES] = [&[]; MOST_SOURCES];
        for (rest, source) in rest.iter_mut().zip(sources) {
            *rest = &source[whole..];
        }
        scalar::round_quotient(&mut out[whole..], &rest[..sources.len()], quotients);
    }
}

/// 2^exponent. Range: exponent < 1024.
#[inline(always)]
fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits((1023 + u64::from(exponent)) << 52)
}

/// See [`crate::Kernels`].
pub(super) const MOST_SOURCES: usize = 34;
