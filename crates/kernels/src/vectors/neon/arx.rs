//! Four lanes of 32 bits.

use core::arch::aarch64::*;

use super::Neon;
use crate::vectors::arx::Arx;

impl Arx<4> for Neon {
    type Word = uint32x4_t;

    instructions! {
        load(lanes: &[u32; 4]) -> uint32x4_t = vld1q_u32(lanes.as_ptr());
        store(lanes: &mut [u32; 4], x: uint32x4_t) -> () = vst1q_u32(lanes.as_mut_ptr(), x);
        all(word: u32) -> uint32x4_t = vdupq_n_u32(word);
        add(x: uint32x4_t, y: uint32x4_t) -> uint32x4_t = vaddq_u32(x, y);
        differ(x: uint32x4_t, y: uint32x4_t) -> uint32x4_t = veorq_u32(x, y);
    }

    #[inline(always)]
    fn rotate<const RIGHT: i32, const LEFT: i32>(self, x: uint32x4_t) -> uint32x4_t {
        match RIGHT {
            // One instruction: halves of a word change places.
            16 => self.turned(x),
            _ => self.shift::<RIGHT, LEFT>(x),
        }
    }
}

impl Neon {
    instructions! {
        turned(x: uint32x4_t) -> uint32x4_t = vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(x)));
    }

    /// Shifts left, and inserts what is shifted right.
    #[inline(always)]
    fn shift<const RIGHT: i32, const LEFT: i32>(self, x: uint32x4_t) -> uint32x4_t {
        // SAFETY: as in `instructions`.
        #[allow(unused_unsafe, reason = "the standard library calls some of them safe")]
        unsafe {
            vsriq_n_u32::<RIGHT>(vshlq_n_u32::<LEFT>(x), x)
        }
    }
}
