//! Eight registers at a time.

use core::arch::x86_64::*;

use crate::ifma::lanes::{Line, load, store};

pub(super) type Eight = [__m512i; 8];

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_all(lines: &[Line; 8]) -> Eight {
    let mut v = [_mm512_setzero_si512(); 8];
    for (v, line) in v.iter_mut().zip(lines) {
        *v = load(line);
    }
    v
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store_all(lines: &mut [Line; 8], v: Eight) {
    for (v, line) in v.iter().zip(lines) {
        store(line, *v);
    }
}

/// Transposes rows and columns.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(v: Eight) -> Eight {
    let low = |a, b| _mm512_unpacklo_epi64(a, b);
    let high = |a, b| _mm512_unpackhi_epi64(a, b);
    // Interleave pairs of rows.
    let t = [
        low(v[0], v[1]),
        high(v[0], v[1]),
        low(v[2], v[3]),
        high(v[2], v[3]),
        low(v[4], v[5]),
        high(v[4], v[5]),
        low(v[6], v[7]),
        high(v[6], v[7]),
    ];
    // Pairs of 128 bits, first of four rows and then of eight.
    let even = |a, b| _mm512_shuffle_i64x2::<0x88>(a, b);
    let odd = |a, b| _mm512_shuffle_i64x2::<0xdd>(a, b);
    let u = [
        even(t[0], t[2]),
        even(t[1], t[3]),
        odd(t[0], t[2]),
        odd(t[1], t[3]),
        even(t[4], t[6]),
        even(t[5], t[7]),
        odd(t[4], t[6]),
        odd(t[5], t[7]),
    ];
    [
        even(u[0], u[4]),
        even(u[1], u[5]),
        even(u[2], u[6]),
        even(u[3], u[7]),
        odd(u[0], u[4]),
        odd(u[1], u[5]),
        odd(u[2], u[6]),
        odd(u[3], u[7]),
    ]
}
