//! The scalar target: the definition against which tests compare every other target.

use crate::conversion::{FRACTION_BITS, Lift, Quotient};
use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;

/// Runs the forward transform. Range: in < q, out < q.
pub(crate) fn ntt_forward(table: &NttTable, values: &mut [u64]) {
    let m = *table.modulus();
    ntt_forward_open(table, values);
    for x in values {
        *x = m.correct(subtract_if_reached(*x, 2 * m.value()));
    }
}

/// Runs the forward transform without the last reduction: Cooley–Tukey with lazy reduction (Harvey, arXiv:1205.2926,
/// algorithm 4; Longa and Naehrig, ePrint 2016/504, algorithm 1). Range: in < q, out and inside < 4q < 2^63.
pub(crate) fn ntt_forward_open(table: &NttTable, values: &mut [u64]) {
    let m = *table.modulus();
    let two_q = 2 * m.value();
    let mut half = values.len();
    let mut blocks = 1;
    while blocks < values.len() {
        half /= 2;
        for (block, twiddle) in values.chunks_exact_mut(2 * half).zip(&table.forward[blocks..2 * blocks]) {
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let sum = subtract_if_reached(*x, two_q);
                let product = m.multiply_factor_lazy(*y, *twiddle);
                *x = sum + product;
                *y = sum + two_q - product;
            }
        }
        blocks *= 2;
    }
}

pub(crate) fn ntt_inverse(table: &NttTable, values: &mut [u64]) {
    inverse(table, values, table.inverse_degree);
}

pub(crate) fn ntt_inverse_from(table: &NttTable, out: &mut [u64], values: &[u64], scale: Factor) {
    out.copy_from_slice(values);
    inverse(table, out, scale);
}

/// Runs the inverse transform times a constant (Gentleman–Sande). Range: in < q, out < q; inside < 2q.
pub(crate) fn inverse(table: &NttTable, values: &mut [u64], scale: Factor) {
    let m = *table.modulus();
    let two_q = 2 * m.value();
    let mut half = 1;
    let mut blocks = values.len() / 2;
    while blocks > 0 {
        for (block, twiddle) in values.chunks_exact_mut(2 * half).zip(&table.inverse[blocks..2 * blocks]) {
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let (a, b) = (*x, *y);
                *x = subtract_if_reached(a + b, two_q);
                *y = m.multiply_factor_lazy(a + two_q - b, *twiddle);
            }
        }
        half *= 2;
        blocks /= 2;
    }
    for x in values {
        *x = m.multiply_factor(*x, scale);
    }
}

/// Returns x − limit if that is not negative, else x. Range: in < 2·limit ≤ 2^63, out < limit. Branch-free.
#[inline(always)]
fn subtract_if_reached(x: u64, limit: u64) -> u64 {
    let r = x.wrapping_sub(limit);
    r.wrapping_add(limit & (r >> 63).wrapping_neg())
}

pub(crate) fn add(m: &Modulus, a: &mut [u64], b: &[u64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = m.add(*x, *y);
    }
}

pub(crate) fn subtract(m: &Modulus, a: &mut [u64], b: &[u64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = m.subtract(*x, *y);
    }
}

pub(crate) fn negate(m: &Modulus, a: &mut [u64]) {
    for x in a {
        *x = m.negate(*x);
    }
}

pub(crate) fn multiply(m: &Modulus, a: &mut [u64], b: &[u64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = m.multiply(*x, *y);
    }
}

pub(crate) fn add_product(m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) {
    for ((s, x), y) in sum.iter_mut().zip(a).zip(b) {
        *s = m.add(*s, m.multiply(*x, *y));
    }
}

pub(crate) fn scale(m: &Modulus, a: &mut [u64], factor: Factor) {
    for x in a {
        *x = m.multiply_factor(*x, factor);
    }
}

pub(crate) fn subtract_scale(m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = m.multiply_factor(m.subtract(*x, *y), factor);
    }
}

pub(crate) fn from_signed(m: &Modulus, out: &mut [u64], values: &[i64]) {
    for (x, y) in out.iter_mut().zip(values) {
        *x = m.from_signed(*y);
    }
}

pub(crate) fn round_quotient(out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    for (i, v) in out.iter_mut().enumerate() {
        let part =
            |(y, q): (&&[u64], &Quotient)| ((u128::from(y[i]) * u128::from(q.constant)) >> q.shift) as u64;
        let sum: u64 = sources.iter().zip(quotients).map(part).sum();
        *v = (sum + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
    }
}

/// Converts between bases. Range: at most 34 sources below 2^61, weights and base < q < 2^61, so the sum is below
/// 2^128.
pub(crate) fn convert(
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    _source_bits: u32,
    weights: &[u64],
    base: u64,
) {
    for (i, x) in out.iter_mut().enumerate() {
        let sum: u128 = sources.iter().zip(weights).map(|(y, w)| u128::from(y[i]) * u128::from(*w)).sum();
        *x = m.add(m.reduce_wide(sum), base);
    }
}

pub(crate) fn lift(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let modulus = m.reduce(lift.modulus);
    for (x, y) in out.iter_mut().zip(values) {
        // 1 from the threshold on: both are below 2^61. `black_box` keeps the compiler from turning the mask into a
        // branch.
        let reached = 1 - (y.wrapping_sub(lift.threshold) >> 63);
        let mask = core::hint::black_box(reached.wrapping_neg());
        *x = m.subtract(m.reduce(*y), modulus & mask);
    }
}

pub(crate) fn inner_products(
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
) {
    inner_products_of(m, out, digits, keys, map, u64::MAX);
}

/// Like [`inner_products`], but reads only the bits of `low` of the digits.
pub(crate) fn inner_products_of(
    m: &Modulus,
    out: [&mut [u64]; 2],
    digits: &[&[u64]],
    keys: &[[&[u64]; 2]],
    map: Option<&[u32]>,
    low: u64,
) {
    let [first, second] = out;
    for (i, (x, y)) in first.iter_mut().zip(second).enumerate() {
        let place = map.map_or(i, |map| map[i] as usize);
        (*x, *y) = (0, 0);
        for (digit, key) in digits.iter().zip(keys) {
            let digit = m.reduce(digit[place] & low);
            *x = m.add(*x, m.multiply(digit, key[0][i]));
            *y = m.add(*y, m.multiply(digit, key[1][i]));
        }
    }
}

pub(crate) fn subtract_rest(
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    subtract_rest_of(m, out, sum, rest, by, addend, u64::MAX);
}

/// Like [`subtract_rest`], but reads only the bits of `low` of the rest.
pub(crate) fn subtract_rest_of(
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
    low: u64,
) {
    for (i, x) in out.iter_mut().enumerate() {
        let quotient = m.add(m.multiply_factor(sum[i], by[0]), m.multiply_factor(rest[i] & low, by[1]));
        *x = m.add(quotient, addend.map_or(0, |z| z[i]));
    }
}

pub(crate) fn tensor(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) {
    let [low, middle, high] = out;
    for i in 0..low.len() {
        low[i] = m.multiply(a[0][i], b[0][i]);
        middle[i] = m.add(m.multiply(a[0][i], b[1][i]), m.multiply(a[1][i], b[0][i]));
        high[i] = m.multiply(a[1][i], b[1][i]);
    }
}

pub(crate) fn sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    for ((x, a), b) in out.iter_mut().zip(a).zip(b) {
        *x = m.add(*a, *b);
    }
}

pub(crate) fn product(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    for ((x, a), b) in out.iter_mut().zip(a).zip(b) {
        *x = m.multiply(*a, *b);
    }
}

pub(crate) fn product_sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]) {
    for (((x, a), b), c) in out.iter_mut().zip(a).zip(b).zip(addend) {
        *x = m.add(m.multiply(*a, *b), *c);
    }
}

pub(crate) fn centre(m: &Modulus, out: &mut [i64], values: &[u64]) {
    for (x, value) in out.iter_mut().zip(values) {
        *x = m.centre(*value);
    }
}

pub(crate) fn horner(out: &mut [i64], radix: i64, digits: &[i64]) {
    for (x, digit) in out.iter_mut().zip(digits) {
        *x = x.wrapping_mul(radix).wrapping_add(*digit);
    }
}

pub(crate) fn permute(out: &mut [u64], values: &[u64], map: &[u32]) {
    for (x, source) in out.iter_mut().zip(map) {
        *x = values[*source as usize];
    }
}
