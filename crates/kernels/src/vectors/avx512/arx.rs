//! Sixteen lanes of 32 bits.

use core::arch::x86_64::*;

use super::Avx512;
use crate::vectors::arx::Arx;

impl Arx<16> for Avx512 {
    type Word = __m512i;

    instructions! {
        load(lanes: &[u32; 16]) -> __m512i = _mm512_loadu_si512(lanes.as_ptr().cast());
        store(lanes: &mut [u32; 16], x: __m512i) -> () = _mm512_storeu_si512(lanes.as_mut_ptr().cast(), x);
        all(word: u32) -> __m512i = _mm512_set1_epi32(word as i32);
        add(x: __m512i, y: __m512i) -> __m512i = _mm512_add_epi32(x, y);
        differ(x: __m512i, y: __m512i) -> __m512i = _mm512_xor_si512(x, y);
    }

    #[inline(always)]
    fn rotate<const RIGHT: i32, const LEFT: i32>(self, x: __m512i) -> __m512i {
        // SAFETY: as in `instructions`.
        unsafe { _mm512_ror_epi32::<RIGHT>(x) }
    }
}
