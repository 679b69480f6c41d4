//! AES by instructions: one block a register, or two.

use core::arch::x86_64::*;

use crate::vectors::streams::lanes::{Aes, FLIGHT};

/// Runs the rounds of AES-128 with the given instructions.
macro_rules! rounds {
    ($keys:ident, $states:ident, $add:ident, $round:ident, $last:ident) => {{
        for state in $states.iter_mut() {
            *state = $add(*state, $keys[0]);
        }
        for key in &$keys[1..10] {
            for state in $states.iter_mut() {
                *state = $round(*state, *key);
            }
        }
        for state in $states.iter_mut() {
            *state = $last(*state, $keys[10]);
        }
    }};
}

/// A proof that this processor has AES instructions.
#[derive(Clone, Copy)]
pub(crate) struct AesNi(());

/// Returns true if this processor has AES instructions and AVX2.
pub(crate) fn detected() -> bool {
    super::detected() && has_feature!("aes")
}

impl AesNi {
    /// # Safety
    /// The processor has the instructions: [`detected`].
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

impl Aes<16> for AesNi {
    type Block = __m128i;

    instructions! {
        load(bytes: &[u8; 16]) -> __m128i = _mm_loadu_si128(bytes.as_ptr().cast());
        numbers() -> __m128i = _mm_setzero_si128();
        store(bytes: &mut [u8; 16], block: __m128i) -> () = _mm_storeu_si128(bytes.as_mut_ptr().cast(), block);
        add(x: __m128i, y: __m128i) -> __m128i = _mm_add_epi32(x, y);
        turned(x: __m128i) -> __m128i =
            _mm_shuffle_epi8(x, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
        encrypt(keys: &[__m128i; 11], states: &mut [__m128i; FLIGHT]) -> () =
            rounds!(keys, states, _mm_xor_si128, _mm_aesenc_si128, _mm_aesenclast_si128);
    }
}

/// A proof that this processor has AES on registers of two blocks.
#[derive(Clone, Copy)]
pub(crate) struct Vaes(());

/// Returns true if this processor has VAES and the instructions of [`AesNi`].
pub(crate) fn wide_detected() -> bool {
    detected() && has_feature!("vaes")
}

impl Vaes {
    /// # Safety
    /// The processor has the instructions: [`wide_detected`].
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

impl Aes<32> for Vaes {
    type Block = __m256i;

    instructions! {
        load(bytes: &[u8; 16]) -> __m256i = _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast()));
        numbers() -> __m256i = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, 1);
        store(bytes: &mut [u8; 32], block: __m256i) -> () = _mm256_storeu_si256(bytes.as_mut_ptr().cast(), block);
        add(x: __m256i, y: __m256i) -> __m256i = _mm256_add_epi32(x, y);
        turned(x: __m256i) -> __m256i = {
            let order = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
            _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order))
        };
        encrypt(keys: &[__m256i; 11], states: &mut [__m256i; FLIGHT]) -> () =
            rounds!(keys, states, _mm256_xor_si256, _mm256_aesenc_epi128, _mm256_aesenclast_epi128);
    }
}
