//! Small integers: draws, scales, conversion to residues and back. Distributions and ranges: docs/math/sampling.md.

use core::arch::x86_64::*;

use super::lanes::{all, load_bytes, load_signed, store, store_signed};
use crate::modulus::Modulus;
use crate::streams::Streams;

/// Draws floor(3·w/2^64) − 1: the floor is the number of thresholds among 2^64/3 and 2^65/3 that the word w reaches.
#[target_feature(enable = "avx512f")]
pub(super) fn ternary(bytes: &[u8], out: &mut [i64]) {
    let (third, two_thirds) = (all(0x5555_5555_5555_5556), all(0xaaaa_aaaa_aaaa_aaab));
    let (one, minus_one) = (all(1), all(u64::MAX));
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (sources, tail) = bytes.as_chunks::<64>();
    for (line, source) in lines.iter_mut().zip(sources) {
        let word = load_bytes(source);
        let low = _mm512_mask_add_epi64(minus_one, _mm512_cmpge_epu64_mask(word, third), minus_one, one);
        store_signed(line, _mm512_mask_add_epi64(low, _mm512_cmpge_epu64_mask(word, two_thirds), low, one));
    }
    (Streams::SCALAR.ternary)(tail, rest);
}

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn centred_binomial(bytes: &[u8], out: &mut [i64]) {
    let (low, high) = (all((1 << 21) - 1), all(((1 << 21) - 1) << 21));
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (sources, tail) = bytes.as_chunks::<64>();
    for (line, source) in lines.iter_mut().zip(sources) {
        let word = load_bytes(source);
        let ones = |mask| _mm512_popcnt_epi64(_mm512_and_si512(word, mask));
        store_signed(line, _mm512_sub_epi64(ones(low), ones(high)));
    }
    (Streams::SCALAR.centred_binomial)(tail, rest);
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn add_scaled(sum: &mut [i64], values: &[i64], factor: i64) {
    let by = all(factor as u64);
    let (lines, rest) = sum.as_chunks_mut::<8>();
    let (sources, tail) = values.as_chunks::<8>();
    for (line, source) in lines.iter_mut().zip(sources) {
        let product = _mm512_mullo_epi64(load_signed(source), by);
        store_signed(line, _mm512_add_epi64(load_signed(line), product));
    }
    (Streams::SCALAR.add_scaled)(rest, tail, factor);
}

/// Converts integers to residues: a negative number is a large word, and adding q makes it smaller.
#[target_feature(enable = "avx512f")]
pub(super) fn lift(m: &Modulus, out: &mut [u64], values: &[i64]) {
    let q = all(m.value());
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (sources, tail) = values.as_chunks::<8>();
    for (line, source) in lines.iter_mut().zip(sources) {
        let x = load_signed(source);
        store(line, _mm512_min_epu64(x, _mm512_add_epi64(x, q)));
    }
    (Streams::SCALAR.lift)(m, rest, tail);
}

/// Returns true if any magnitude is at least the limit. The magnitude of the smallest integer is the word 2^63.
#[target_feature(enable = "avx512f")]
pub(super) fn any_beyond(values: &[i64], limit: u64) -> bool {
    let limits = all(limit);
    let (lines, rest) = values.as_chunks::<8>();
    let mut beyond = 0;
    for line in lines {
        beyond |= _mm512_cmpge_epu64_mask(_mm512_abs_epi64(load_signed(line)), limits);
    }
    beyond != 0 || (Streams::SCALAR.any_beyond)(rest, limit)
}
