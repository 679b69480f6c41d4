//! Eight lanes of 32 bits.

use core::arch::x86_64::*;

use super::Avx2;
use crate::vectors::arx::Arx;

impl Arx<8> for Avx2 {
    type Word = __m256i;

    instructions! {
        load(lanes: &[u32; 8]) -> __m256i = _mm256_loadu_si256(lanes.as_ptr().cast());
        store(lanes: &mut [u32; 8], x: __m256i) -> () = _mm256_storeu_si256(lanes.as_mut_ptr().cast(), x);
        all(word: u32) -> __m256i = _mm256_set1_epi32(word as i32);
        add(x: __m256i, y: __m256i) -> __m256i = _mm256_add_epi32(x, y);
        differ(x: __m256i, y: __m256i) -> __m256i = _mm256_xor_si256(x, y);
    }

    /// Whole bytes are rotated by a shuffle.
    #[inline(always)]
    fn rotate<const RIGHT: i32, const LEFT: i32>(self, x: __m256i) -> __m256i {
        match RIGHT {
            8 => self.shuffle(x, 0x0407_0605_0003_0201, 0x0c0f_0e0d_080b_0a09),
            16 => self.shuffle(x, 0x0504_0706_0100_0302, 0x0d0c_0f0e_0908_0b0a),
            24 => self.shuffle(x, 0x0605_0407_0201_0003, 0x0e0d_0c0f_0a09_080b),
            _ => self.shift::<RIGHT, LEFT>(x),
        }
    }
}

impl Avx2 {
    instructions! {
        // Indices into each 16 bytes.
        shuffle(x: __m256i, low: i64, high: i64) -> __m256i =
            _mm256_shuffle_epi8(x, _mm256_setr_epi64x(low, high, low, high));
    }

    #[inline(always)]
    fn shift<const RIGHT: i32, const LEFT: i32>(self, x: __m256i) -> __m256i {
        // SAFETY: as in `instructions`.
        unsafe { _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(x), _mm256_slli_epi32::<LEFT>(x)) }
    }
}
