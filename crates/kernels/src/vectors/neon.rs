//! NEON: two lanes.

use core::arch::aarch64::*;

use super::lanes::Lanes;
use super::streams::lanes::{Aes, FLIGHT, StreamLanes};
use crate::streams::RoundKeys;

/// A proof that this processor has NEON.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

/// Returns true if this processor has the instructions and is little-endian, so that words in memory match its
/// registers.
pub(crate) fn detected() -> bool {
    cfg!(target_endian = "little") && has_feature!("neon")
}

impl Neon {
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
            #[allow(unused_unsafe, reason = "the standard library calls some of them safe")]
            unsafe { $body }
        }
    )*};
}

mod arx;

impl Lanes for Neon {
    type Line = [u64; 2];
    type Bytes = [u8; 16];
    type Words = uint64x2_t;
    type Floats = float64x2_t;
    type Shuffle = [u32; 2];
    const COUNT: usize = 2;
    // A product of two words takes a dozen vector instructions for two lanes; `mul` and `umulh` take one each.
    const WHOLE: bool = false;
    // See the counts of `cargo ci arm-instructions`.
    const ADDS: bool = false;

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
        load(line: &Self::Line) -> uint64x2_t = vld1q_u64(line.as_ptr());
        load_bytes(bytes: &Self::Bytes) -> uint64x2_t = vreinterpretq_u64_u8(vld1q_u8(bytes.as_ptr()));
        store(line: &mut Self::Line, words: uint64x2_t) -> () = vst1q_u64(line.as_mut_ptr(), words);
        all(word: u64) -> uint64x2_t = vdupq_n_u64(word);
        add(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t = vaddq_u64(x, y);
        subtract(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t = vsubq_u64(x, y);
        and(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t = vandq_u64(x, y);
        or(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t = vorrq_u64(x, y);
        shift_right(x: uint64x2_t, count: u32) -> uint64x2_t = vshlq_u64(x, vdupq_n_s64(-i64::from(count)));
        shift_left(x: uint64x2_t, count: u32) -> uint64x2_t = vshlq_u64(x, vdupq_n_s64(i64::from(count)));
        multiply_halves(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t = vmull_u32(vmovn_u64(x), vmovn_u64(y));
        multiply_low(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t = {
            let (x_high, y_high) = (vshrn_n_u64::<32>(x), vshrn_n_u64::<32>(y));
            let (x_low, y_low) = (vmovn_u64(x), vmovn_u64(y));
            let across = vmlal_u32(vmull_u32(x_high, y_low), x_low, y_high);
            vmlal_u32(vshlq_n_u64::<32>(across), x_low, y_low)
        };
        where_negative(sign: uint64x2_t, yes: uint64x2_t, no: uint64x2_t) -> uint64x2_t =
            vbslq_u64(vcltzq_s64(vreinterpretq_s64_u64(sign)), yes, no);
        // A word's halves are 0 and 1, or 2 and 3.
        ordered(x: uint64x2_t, halves: uint64x2_t) -> uint64x2_t =
            vbslq_u64(vtstq_u64(halves, vdupq_n_u64(2)), vdupq_laneq_u64::<1>(x), vdupq_laneq_u64::<0>(x));
        words_of(x: float64x2_t) -> uint64x2_t = vreinterpretq_u64_f64(x);
        floats_of(x: uint64x2_t) -> float64x2_t = vreinterpretq_f64_u64(x);
        all_floats(x: f64) -> float64x2_t = vdupq_n_f64(x);
        to_floats(x: uint64x2_t) -> float64x2_t = vcvtq_f64_u64(x);
        to_integers(x: float64x2_t) -> uint64x2_t = vreinterpretq_u64_s64(vcvtnq_s64_f64(x));
        plus(x: float64x2_t, y: float64x2_t) -> float64x2_t = vaddq_f64(x, y);
        minus(x: float64x2_t, y: float64x2_t) -> float64x2_t = vsubq_f64(x, y);
        times(x: float64x2_t, y: float64x2_t) -> float64x2_t = vmulq_f64(x, y);
        times_plus(x: float64x2_t, y: float64x2_t, z: float64x2_t) -> float64x2_t = vfmaq_f64(z, x, y);
        minus_times(z: float64x2_t, x: float64x2_t, y: float64x2_t) -> float64x2_t = vfmsq_f64(z, x, y);
        transpose(v: [uint64x2_t; 8]) -> [uint64x2_t; 8] = {
            let mut out = v;
            for i in [0, 2, 4, 6] {
                out[i] = vzip1q_u64(v[i], v[i + 1]);
                out[i + 1] = vzip2q_u64(v[i], v[i + 1]);
            }
            out
        };
    }
}

impl StreamLanes for Neon {
    instructions! {
        spread(bytes: &[u8; 64], starts: &[u8], places: uint64x2_t) -> uint64x2_t = {
            let block: &[u8; 16] = bytes[usize::from(starts[0])..].first_chunk().expect("a start is at most 48");
            vreinterpretq_u64_u8(vqtbl1q_u8(vld1q_u8(block.as_ptr()), vreinterpretq_u8_u64(places)))
        };
        shift_right_by(x: uint64x2_t, counts: uint64x2_t) -> uint64x2_t =
            vshlq_u64(x, vnegq_s64(vreinterpretq_s64_u64(counts)));
        reached(x: uint64x2_t, limit: uint64x2_t) -> uint64x2_t = vcgeq_u64(x, limit);
        ones(x: uint64x2_t) -> uint64x2_t =
            vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(x)))));
        any(x: uint64x2_t) -> bool = (vgetq_lane_u64::<0>(x) | vgetq_lane_u64::<1>(x)) != 0;
    }
}

/// A proof that this processor has AES instructions.
#[derive(Clone, Copy)]
pub(crate) struct NeonAes(());

/// Returns true if this processor has AES instructions and NEON.
pub(crate) fn aes_detected() -> bool {
    detected() && has_feature!("aes")
}

impl NeonAes {
    /// # Safety
    /// The processor has the instructions: [`aes_detected`].
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

impl Aes<16> for NeonAes {
    type Block = uint8x16_t;

    instructions! {
        numbers() -> uint8x16_t = vdupq_n_u8(0);
        load(bytes: &[u8; 16]) -> uint8x16_t = vld1q_u8(bytes.as_ptr());
        store(bytes: &mut [u8; 16], block: uint8x16_t) -> () = vst1q_u8(bytes.as_mut_ptr(), block);
        add(x: uint8x16_t, y: uint8x16_t) -> uint8x16_t =
            vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(y)));
        turned(x: uint8x16_t) -> uint8x16_t = vrev32q_u8(x);
        encrypt(keys: &[uint8x16_t; 11], states: &mut [uint8x16_t; FLIGHT]) -> () = encrypt(keys, states);
    }
}

/// A separate function: the AES intrinsics are inlined only into functions with the feature.
#[target_feature(enable = "neon,aes")]
fn encrypt(keys: &[uint8x16_t; 11], states: &mut [uint8x16_t; FLIGHT]) {
    // The instruction adds the round key before it substitutes.
    let mut flight = *states;
    for key in &keys[..9] {
        for state in &mut flight {
            *state = vaesmcq_u8(vaeseq_u8(*state, *key));
        }
    }
    for state in &mut flight {
        *state = veorq_u8(vaeseq_u8(*state, keys[9]), keys[10]);
    }
    *states = flight;
}

/// Writes the round keys of AES-128 (FIPS 197, 5.2).
#[target_feature(enable = "neon,aes")]
pub(super) fn expand_key(key: &[u8; 16], rounds: &mut RoundKeys) {
    rounds[0] = *key;
    let mut constant = 1u8;
    for round in 1..11 {
        let [a, b, c, d] = rounds[round - 1].as_chunks::<4>().0 else { continue };
        let last = u32::from_le_bytes(*d);
        // The same word in every column: each row that the instruction shifts then holds one repeated byte.
        let columns = vreinterpretq_u8_u32(vdupq_n_u32(last));
        let substituted = vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vaeseq_u8(columns, vdupq_n_u8(0))));
        let mut word = substituted.rotate_right(8) ^ u32::from(constant);
        let words = [a, b, c, d].map(|bytes| u32::from_le_bytes(*bytes));
        for (out, before) in rounds[round].as_chunks_mut::<4>().0.iter_mut().zip(words) {
            word ^= before;
            *out = word.to_le_bytes();
        }
        constant = (constant << 1) ^ (0x1b & (constant >> 7).wrapping_neg());
    }
}
