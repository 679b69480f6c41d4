//! Loads and stores of bytes; `ifma::lanes` has those of words. These and the entries are the only unsafe lines, each
//! on a reference to a whole vector.

use core::arch::x86_64::*;

pub(super) use crate::ifma::lanes::{all, load, load_signed, store, store_signed};

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: a reference to 64 readable bytes; the load takes any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store_bytes(bytes: &mut [u8; 64], vector: __m512i) {
    // SAFETY: a reference to 64 writable bytes; the store takes any alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// Loads sixteen bytes.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn load_block(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: a reference to 16 readable bytes; the load takes any alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn store_block(bytes: &mut [u8; 16], block: __m128i) {
    // SAFETY: a reference to 16 writable bytes; the store takes any alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), block) }
}
