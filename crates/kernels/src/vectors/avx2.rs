//! AVX2 and FMA: four lanes.

use core::arch::x86_64::*;

use super::lanes::Lanes;
use super::streams::lanes::StreamLanes;

/// A proof that this processor has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// Returns true if this processor has the instructions.
pub(crate) fn detected() -> bool {
    has_feature!("avx2") && has_feature!("fma")
}

impl Avx2 {
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

pub(crate) mod aes;
mod arx;

/// Four indices; if all are in one line, also the permutation of that line's 32-bit halves.
#[derive(Clone, Copy)]
pub(crate) struct Shuffle {
    places: [u32; 4],
    line: u32,
    inside: Option<__m256i>,
}

const TO_FLOATS: u64 = 0x4330 << 48; // the bits of 2^52
const TO_INTEGERS: f64 = 6_755_399_441_055_744.0; // 3·2^51

impl Lanes for Avx2 {
    type Line = [u64; 4];
    type Bytes = [u8; 32];
    type Words = __m256i;
    type Floats = __m256d;
    type Shuffle = Shuffle;
    const COUNT: usize = 4;
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
    fn places(self, places: &[u32]) -> Shuffle {
        let places = *places.first_chunk().expect("four places");
        Shuffle { line: places[0] / 4, inside: self.inside(&places), places }
    }

    #[inline(always)]
    fn moved(self, values: &[u64], places: Shuffle) -> __m256i {
        let whole = values.len() / Self::COUNT * Self::COUNT;
        debug_assert!(
            places.places.iter().all(|place| (*place as usize) < whole),
            "a place in the rest of a slice"
        );
        match places.inside {
            // An automorphism maps aligned groups of entries to aligned groups.
            Some(order) => self.ordered(self.load(&values.as_chunks().0[places.line as usize]), order),
            None => self.load(&places.places.map(|place| values[place as usize])),
        }
    }

    instructions! {
        load(line: &Self::Line) -> __m256i = _mm256_loadu_si256(line.as_ptr().cast());
        load_bytes(bytes: &Self::Bytes) -> __m256i = _mm256_loadu_si256(bytes.as_ptr().cast());
        store(line: &mut Self::Line, words: __m256i) -> () = _mm256_storeu_si256(line.as_mut_ptr().cast(), words);
        all(word: u64) -> __m256i = _mm256_set1_epi64x(word as i64);
        add(x: __m256i, y: __m256i) -> __m256i = _mm256_add_epi64(x, y);
        subtract(x: __m256i, y: __m256i) -> __m256i = _mm256_sub_epi64(x, y);
        and(x: __m256i, y: __m256i) -> __m256i = _mm256_and_si256(x, y);
        or(x: __m256i, y: __m256i) -> __m256i = _mm256_or_si256(x, y);
        shift_right(x: __m256i, count: u32) -> __m256i = _mm256_srl_epi64(x, _mm_cvtsi32_si128(count as i32));
        shift_left(x: __m256i, count: u32) -> __m256i = _mm256_sll_epi64(x, _mm_cvtsi32_si128(count as i32));
        multiply_halves(x: __m256i, y: __m256i) -> __m256i = _mm256_mul_epu32(x, y);
        multiply_low(x: __m256i, y: __m256i) -> __m256i = {
            let (x_high, y_high) = (_mm256_srli_epi64::<32>(x), _mm256_srli_epi64::<32>(y));
            let across = _mm256_add_epi64(_mm256_mul_epu32(x_high, y), _mm256_mul_epu32(x, y_high));
            _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64::<32>(across))
        };
        where_negative(sign: __m256i, yes: __m256i, no: __m256i) -> __m256i = {
            let (yes, no) = (_mm256_castsi256_pd(yes), _mm256_castsi256_pd(no));
            _mm256_castpd_si256(_mm256_blendv_pd(no, yes, _mm256_castsi256_pd(sign)))
        };
        // The instruction reads only the low three bits of an index.
        ordered(x: __m256i, halves: __m256i) -> __m256i = _mm256_permutevar8x32_epi32(x, halves);
        words_of(x: __m256d) -> __m256i = _mm256_castpd_si256(x);
        floats_of(x: __m256i) -> __m256d = _mm256_castsi256_pd(x);
        all_floats(x: f64) -> __m256d = _mm256_set1_pd(x);
        // With the exponent of 2^52, the word is the fraction.
        to_floats(x: __m256i) -> __m256d = {
            let shift = _mm256_set1_epi64x(TO_FLOATS as i64);
            _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(x, shift)), _mm256_castsi256_pd(shift))
        };
        // Between 2^52 and 2^53 the fraction has unit 1.
        to_integers(x: __m256d) -> __m256i = {
            let shift = _mm256_set1_pd(TO_INTEGERS);
            _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(x, shift)), _mm256_castpd_si256(shift))
        };
        plus(x: __m256d, y: __m256d) -> __m256d = _mm256_add_pd(x, y);
        minus(x: __m256d, y: __m256d) -> __m256d = _mm256_sub_pd(x, y);
        times(x: __m256d, y: __m256d) -> __m256d = _mm256_mul_pd(x, y);
        times_plus(x: __m256d, y: __m256d, z: __m256d) -> __m256d = _mm256_fmadd_pd(x, y, z);
        minus_times(z: __m256d, x: __m256d, y: __m256d) -> __m256d = _mm256_fnmadd_pd(x, y, z);
    }

    #[inline(always)]
    fn transpose(self, v: [__m256i; 8]) -> [__m256i; 8] {
        let [a0, a1, a2, a3] = self.transpose_four([v[0], v[1], v[2], v[3]]);
        let [b0, b1, b2, b3] = self.transpose_four([v[4], v[5], v[6], v[7]]);
        [a0, a1, a2, a3, b0, b1, b2, b3]
    }
}

impl Avx2 {
    instructions! {
        inside(places: &[u32; 4]) -> Option<__m256i> = {
            let places = _mm_loadu_si128(places.as_ptr().cast());
            let lines = _mm_srli_epi32::<2>(places);
            let same = _mm_cmpeq_epi32(lines, _mm_broadcastd_epi32(lines));
            let twice = _mm256_slli_epi64::<1>(_mm256_cvtepu32_epi64(places));
            let order = _mm256_or_si256(twice, _mm256_slli_epi64::<32>(twice));
            // No closure here: the compiler would compile it without these instructions.
            if _mm_movemask_epi8(same) == 0xffff { Some(_mm256_add_epi64(order, _mm256_set1_epi64x(1 << 32))) } else { None }
        };
        transpose_four(v: [__m256i; 4]) -> [__m256i; 4] = {
            let [t0, t1] = [_mm256_unpacklo_epi64(v[0], v[1]), _mm256_unpackhi_epi64(v[0], v[1])];
            let [t2, t3] = [_mm256_unpacklo_epi64(v[2], v[3]), _mm256_unpackhi_epi64(v[2], v[3])];
            [
                _mm256_permute2x128_si256::<0x20>(t0, t2),
                _mm256_permute2x128_si256::<0x20>(t1, t3),
                _mm256_permute2x128_si256::<0x31>(t0, t2),
                _mm256_permute2x128_si256::<0x31>(t1, t3),
            ]
        };
    }
}

impl StreamLanes for Avx2 {
    instructions! {
        spread(bytes: &[u8; 64], starts: &[u8], places: __m256i) -> __m256i = {
            let [low, high] = [block(bytes, starts[0]), block(bytes, starts[1])];
            let (low, high) = (_mm_loadu_si128(low.as_ptr().cast()), _mm_loadu_si128(high.as_ptr().cast()));
            _mm256_shuffle_epi8(_mm256_set_m128i(high, low), places)
        };
        shift_right_by(x: __m256i, counts: __m256i) -> __m256i = _mm256_srlv_epi64(x, counts);
        // Flipping the top bits turns the signed comparison into an unsigned one.
        reached(x: __m256i, limit: __m256i) -> __m256i = {
            let top = _mm256_set1_epi64x(i64::MIN);
            let less = _mm256_cmpgt_epi64(_mm256_xor_si256(limit, top), _mm256_xor_si256(x, top));
            _mm256_xor_si256(less, _mm256_set1_epi64x(-1))
        };
        // A table of sixteen counts in a register, for each half of a byte; then the bytes of a word are summed.
        ones(x: __m256i) -> __m256i = {
            let counts = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let half = _mm256_set1_epi8(15);
            let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(x, half));
            let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi64::<4>(x), half));
            _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256())
        };
        any(x: __m256i) -> bool = _mm256_testz_si256(x, x) == 0;
    }
}

/// Returns the sixteen bytes from a start on. Range: start ≤ 48.
#[inline(always)]
fn block(bytes: &[u8; 64], start: u8) -> &[u8; 16] {
    bytes[usize::from(start)..].first_chunk().expect("a start is at most 48")
}
