//! The scalar target: the definition against which tests compare every other target.

use crate::modulus::Modulus;

/// Not inlined: all callers share one copy.
#[inline(never)]
pub(super) fn residues(m: &Modulus, bytes: &[u8], stride: u32, out: &mut [u64]) -> bool {
    let (wide, mask) = (u128::from(u64::MAX >> (64 - stride)), u64::MAX >> (64 - m.bits()));
    let (mut buffer, mut held) = (0u128, 0);
    let mut words = bytes.chunks(8);
    let mut outside = false;
    for value in out.iter_mut() {
        if held < stride {
            let mut word = [0; 8];
            if let Some(chunk) = words.next() {
                word[..chunk.len()].copy_from_slice(chunk);
            }
            buffer |= u128::from(u64::from_le_bytes(word)) << held;
            held += 64;
        }
        *value = (buffer & wide) as u64 & mask;
        outside |= *value >= m.value();
        buffer >>= stride;
        held -= stride;
    }
    outside
}

pub(super) fn accept(m: &Modulus, values: &mut [u64]) -> usize {
    accept_from(m, values, 0, 0)
}

/// Like [`accept`], for the values from `at` on; `kept` values before them are already accepted.
#[inline]
pub(crate) fn accept_from(m: &Modulus, values: &mut [u64], at: usize, mut kept: usize) -> usize {
    for i in at..values.len() {
        let x = values[i];
        values[kept] = x;
        kept += usize::from(x < m.value());
    }
    kept
}

pub(super) fn replace(m: &Modulus, values: &mut [u64], fresh: &[u64]) -> (usize, usize) {
    let q = m.value();
    let (mut done, mut used) = (0, 0);
    // This many values need no check of the fresh ones left, and so no branch that the processor cannot predict.
    while used < fresh.len() && done < values.len() {
        let few = (values.len() - done).min(fresh.len() - used);
        for x in &mut values[done..done + few] {
            let outside = *x >= q;
            // `black_box` keeps the compiler from turning the mask into a branch.
            let mask = core::hint::black_box(u64::from(outside).wrapping_neg());
            *x ^= (*x ^ fresh[used]) & mask;
            used += usize::from(outside);
        }
        done += few;
    }
    done += values[done..].iter().take_while(|x| **x < q).count();
    (done, used)
}

pub(super) fn pack(values: &[u64], bits: u32, out: &mut [u8]) {
    let (mut buffer, mut held, mut at) = (0u128, 0, 0);
    for value in values {
        buffer |= u128::from(*value) << held;
        held += bits;
        if held >= 64 {
            out[at..at + 8].copy_from_slice(&(buffer as u64).to_le_bytes());
            buffer >>= 64;
            held -= 64;
            at += 8;
        }
    }
    let tail = (buffer as u64).to_le_bytes();
    out[at..].copy_from_slice(&tail[..held.div_ceil(8) as usize]);
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}

pub(super) fn ternary(bytes: &[u8], out: &mut [i64]) {
    for (x, word) in out.iter_mut().zip(words(bytes)) {
        *x = ((u128::from(word) * 3) >> 64) as i64 - 1;
    }
}

pub(super) fn centred_binomial(bytes: &[u8], out: &mut [i64]) {
    const MASK: u64 = (1 << 21) - 1;
    for (x, bits) in out.iter_mut().zip(words(bytes)) {
        *x = i64::from((bits & MASK).count_ones()) - i64::from(((bits >> 21) & MASK).count_ones());
    }
}

pub(super) fn add_scaled(sum: &mut [i64], values: &[i64], factor: i64) {
    for (s, x) in sum.iter_mut().zip(values) {
        *s = s.wrapping_add(x.wrapping_mul(factor));
    }
}

pub(super) fn lift(m: &Modulus, out: &mut [u64], values: &[i64]) {
    for (x, value) in out.iter_mut().zip(values) {
        *x = (*value as u64).wrapping_add(m.value() & (value >> 63) as u64);
    }
}

pub(super) fn any_beyond(values: &[i64], limit: u64) -> bool {
    values.iter().fold(false, |any, x| any | (x.unsigned_abs() >= limit))
}

pub(super) fn subtract_product(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
    for ((b, a), s) in body.iter_mut().zip(mask).zip(secret) {
        *b = m.subtract(*b, m.multiply(*a, *s));
    }
}
