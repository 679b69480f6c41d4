//! AVX-512 F and DQ: eight lanes.

use core::arch::x86_64::*;

use super::lanes::Lanes;

/// A proof that this processor has AVX-512 F and DQ.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// Returns true if this processor has the instructions.
pub(crate) fn detected() -> bool {
    has_feature!("avx512f") && has_feature!("avx512dq")
}

impl Avx512 {
    /// # Safety
    /// The processor has the instructions: [`detected`].
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// Defines methods from instructions. SAFETY: `self` proves that the processor has them, and none of them touches
/// memory except the loads and stores, which take references to whole vectors.
macro_rules! instructions {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $out:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($argument: $kind),*) -> $out {
            // SAFETY: see above.
            unsafe { $body }
        }
    )*};
}

mod arx;

impl Lanes for Avx512 {
    type Line = [u64; 8];
    type Bytes = [u8; 64];
    type Words = __m512i;
    type Floats = __m512d;
    type Shuffle = [u32; 8];
    const COUNT: usize = 8;
    const WHOLE: bool = true;

    #[inline(always)]
    fn lines(values: &[u64]) -> (&[Self::Line], &[u64]) {
        values.as_chunks()
    }

    #[inline(always)]
    fn lines_mut(values: &mut [u64]) -> (&mut [Self::Line], &mut [u64]) {
        values.as_chunks_mut()
    }

    #[inline(always)]
    fn byte_lines(bytes: &[u8]) -> (&[Self::Bytes], &[u8]) {
        bytes.as_chunks()
    }

    #[inline(always)]
    fn places(self, places: &[u32]) -> Self::Shuffle {
        core::array::from_fn(|lane| places[lane])
    }

    #[inline(always)]
    fn moved(self, values: &[u64], places: Self::Shuffle) -> Self::Words {
        self.load(&places.map(|place| values[place as usize]))
    }

    instructions! {
        load(line: &Self::Line) -> __m512i = _mm512_loadu_si512(line.as_ptr().cast());
        load_bytes(bytes: &Self::Bytes) -> __m512i = _mm512_loadu_si512(bytes.as_ptr().cast());
        store(line: &mut Self::Line, words: __m512i) -> () = _mm512_storeu_si512(line.as_mut_ptr().cast(), words);
        all(word: u64) -> __m512i = _mm512_set1_epi64(word as i64);
        add(x: __m512i, y: __m512i) -> __m512i = _mm512_add_epi64(x, y);
        subtract(x: __m512i, y: __m512i) -> __m512i = _mm512_sub_epi64(x, y);
        and(x: __m512i, y: __m512i) -> __m512i = _mm512_and_si512(x, y);
        or(x: __m512i, y: __m512i) -> __m512i = _mm512_or_si512(x, y);
        shift_right(x: __m512i, count: u32) -> __m512i = _mm512_srl_epi64(x, _mm_cvtsi32_si128(count as i32));
        shift_left(x: __m512i, count: u32) -> __m512i = _mm512_sll_epi64(x, _mm_cvtsi32_si128(count as i32));
        multiply_halves(x: __m512i, y: __m512i) -> __m512i = _mm512_mul_epu32(x, y);
        multiply_low(x: __m512i, y: __m512i) -> __m512i = _mm512_mullo_epi64(x, y);
        where_negative(sign: __m512i, yes: __m512i, no: __m512i) -> __m512i =
            _mm512_mask_mov_epi64(no, _mm512_movepi64_mask(sign), yes);
        below(x: __m512i, limit: __m512i) -> __m512i = _mm512_min_epu64(x, _mm512_sub_epi64(x, limit));
        // A negative number is a large word, and adding q makes it smaller.
        wrapped(x: __m512i, q: __m512i) -> __m512i = _mm512_min_epu64(x, _mm512_add_epi64(x, q));
        // The instruction reads only the low four bits of an index.
        ordered(x: __m512i, halves: __m512i) -> __m512i = _mm512_permutexvar_epi32(halves, x);
        words_of(x: __m512d) -> __m512i = _mm512_castpd_si512(x);
        floats_of(x: __m512i) -> __m512d = _mm512_castsi512_pd(x);
        all_floats(x: f64) -> __m512d = _mm512_set1_pd(x);
        to_floats(x: __m512i) -> __m512d = _mm512_cvtepu64_pd(x);
        to_integers(x: __m512d) -> __m512i = _mm512_cvtpd_epi64(x);
        plus(x: __m512d, y: __m512d) -> __m512d = _mm512_add_pd(x, y);
        minus(x: __m512d, y: __m512d) -> __m512d = _mm512_sub_pd(x, y);
        times(x: __m512d, y: __m512d) -> __m512d = _mm512_mul_pd(x, y);
        times_plus(x: __m512d, y: __m512d, z: __m512d) -> __m512d = _mm512_fmadd_pd(x, y, z);
        minus_times(z: __m512d, x: __m512d, y: __m512d) -> __m512d = _mm512_fnmadd_pd(x, y, z);
        transpose(v: [__m512i; 8]) -> [__m512i; 8] = {
            let mut t = v;
            // Pairs of words, then pairs of 128 bits: first of four rows, then of eight.
            for i in 0..4 {
                t[2 * i] = _mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]);
                t[2 * i + 1] = _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]);
            }
            let mut u = t;
            for half in [0, 4] {
                for i in [half, half + 1] {
                    u[i] = _mm512_shuffle_i64x2::<0x88>(t[i], t[i + 2]);
                    u[i + 2] = _mm512_shuffle_i64x2::<0xdd>(t[i], t[i + 2]);
                }
            }
            let mut out = u;
            for i in 0..4 {
                out[i] = _mm512_shuffle_i64x2::<0x88>(u[i], u[i + 4]);
                out[i + 4] = _mm512_shuffle_i64x2::<0xdd>(u[i], u[i + 4]);
            }
            out
        };
    }
}
