//! Loads and stores, with `ifma::lanes` the only unsafe lines beside the entries: each on a reference to a whole vector.

use core::arch::x86_64::*;

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

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store_signed(line: &mut [i64; 8], vector: __m512i) {
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_signed(line: &[i64; 8]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(line: &[u64; 8]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(line: &mut [u64; 8], vector: __m512i) {
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn all(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

/// Sixteen bytes.
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
