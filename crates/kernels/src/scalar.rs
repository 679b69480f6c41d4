//! The scalar target: the definition that every other target is compared with.

use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;

/// Cooley–Tukey with lazy reduction (Harvey, arXiv:1205.2926, algorithm 4; Longa and Naehrig, ePrint 2016/504,
/// algorithm 1). Range: in < q, out < q; inside < 4q < 2^63.
pub(crate) fn ntt_forward(table: &NttTable, values: &mut [u64]) {
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
    for x in values {
        *x = m.correct(subtract_if_reached(*x, two_q));
    }
}

/// Gentleman–Sande, n^-1 included. Range: in < q, out < q; inside < 2q.
pub(crate) fn ntt_inverse(table: &NttTable, values: &mut [u64]) {
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
        *x = m.multiply_factor(*x, table.inverse_degree);
    }
}

/// Range: in < 2·limit ≤ 2^63, out < limit. Branch-free.
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

pub(crate) fn add_quotient(quotients: &mut [u64], y: &[u64], constant: u64, shift: u32) {
    for (v, y) in quotients.iter_mut().zip(y) {
        *v += ((u128::from(*y) * u128::from(constant)) >> shift) as u64;
    }
}

pub(crate) fn convert(
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    _source_bits: u32,
    weights: &[u64],
    quotients: &[u64],
    product: u64,
) {
    for (i, (x, v)) in out.iter_mut().zip(quotients).enumerate() {
        let sum: u128 = sources.iter().zip(weights).map(|(y, w)| u128::from(y[i]) * u128::from(*w)).sum();
        let wraps = m.reduce_wide(u128::from(*v) * u128::from(product));
        *x = m.subtract(m.reduce_wide(sum), wraps);
    }
}

pub(crate) fn permute(out: &mut [u64], values: &[u64], map: &[u32]) {
    for (x, source) in out.iter_mut().zip(map) {
        *x = values[*source as usize];
    }
}
