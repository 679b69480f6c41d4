//! ChaCha20 in eight lanes: a register for each word of the state.

use core::arch::x86_64::*;

use super::Avx2;
use crate::streams::{ChaChaLanes, ROUNDS, double_round};

/// Lanes of a register.
const LANES: usize = 8;

/// Rotates each lane by a number of bits that is no multiple of 8.
macro_rules! rotated {
    ($x:expr, $left:literal, $right:literal) => {{
        let x = $x;
        _mm256_or_si256(_mm256_slli_epi32::<$left>(x), _mm256_srli_epi32::<$right>(x))
    }};
}

impl Avx2 {
    instructions! {
        load_lanes(lanes: &[u32; LANES]) -> __m256i = _mm256_loadu_si256(lanes.as_ptr().cast());
        store_lanes(lanes: &mut [u32; LANES], x: __m256i) -> () = _mm256_storeu_si256(lanes.as_mut_ptr().cast(), x);
        add_lanes(x: __m256i, y: __m256i) -> __m256i = _mm256_add_epi32(x, y);
        // RFC 8439, section 2.1. Whole bytes are rotated by a shuffle.
        quarter(a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> [__m256i; 4] = {
            let by_16 = _mm256_set1_epi64x(0x0504_0706_0100_0302);
            let by_16 = _mm256_or_si256(by_16, _mm256_setr_epi64x(0, 0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808));
            let by_8 = _mm256_set1_epi64x(0x0605_0407_0201_0003);
            let by_8 = _mm256_or_si256(by_8, _mm256_setr_epi64x(0, 0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808));
            let a = _mm256_add_epi32(a, b);
            let d = _mm256_shuffle_epi8(_mm256_xor_si256(d, a), by_16);
            let c = _mm256_add_epi32(c, d);
            let b = rotated!(_mm256_xor_si256(b, c), 12, 20);
            let a = _mm256_add_epi32(a, b);
            let d = _mm256_shuffle_epi8(_mm256_xor_si256(d, a), by_8);
            let c = _mm256_add_epi32(c, d);
            [a, rotated!(_mm256_xor_si256(b, c), 7, 25), c, d]
        };
    }
}

/// Computes the blocks of 16 lanes, eight at a time.
#[inline(always)]
pub(in crate::vectors) fn chacha20(v: Avx2, states: &ChaChaLanes, out: &mut ChaChaLanes) {
    for half in 0..2 {
        let start = |word: usize| v.load_lanes(&states[word].as_chunks().0[half]);
        let mut x: [__m256i; 16] = core::array::from_fn(start);
        for _ in 0..ROUNDS {
            double_round!(|[a, b, c, d]: [usize; 4]| {
                [x[a], x[b], x[c], x[d]] = v.quarter(x[a], x[b], x[c], x[d]);
            });
        }
        for (word, x) in x.into_iter().enumerate() {
            v.store_lanes(&mut out[word].as_chunks_mut().0[half], v.add_lanes(x, start(word)));
        }
    }
}
