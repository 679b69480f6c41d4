//! ChaCha20 (RFC 8439) in 16 lanes, each with a key, a nonce and a block counter of its own.

use super::{BlockLanes, LANES};

/// `(states, out)`, see [`Streams::chacha20`](crate::Streams::chacha20).
///
/// ```
/// use sotto_kernels::{BlockLanes, ChaChaKernel, Target};
///
/// // The constants; key, counter and nonce of zeros.
/// let mut states: BlockLanes = [[0; 16]; 16];
/// for (word, constant) in states.iter_mut().zip([0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]) {
///     *word = [constant; 16];
/// }
/// let chacha20: ChaChaKernel = Target::best().streams.chacha20;
/// let mut out = states;
/// chacha20(&states, &mut out);
/// // RFC 8439, appendix A.1, test vector 1.
/// assert_eq!((out[0], out[1]), ([0xade0_b876; 16], [0x903d_f1a0; 16]));
/// ```
pub type ChaChaKernel = fn(&BlockLanes, &mut BlockLanes);

/// Runs a double round (RFC 8439, section 2.3): calls `$quarter` with the columns' and the diagonals' words. Written out, as
/// indices of a loop would keep the words out of registers.
macro_rules! double_round {
    ($quarter:expr) => {{
        $quarter([0, 4, 8, 12]);
        $quarter([1, 5, 9, 13]);
        $quarter([2, 6, 10, 14]);
        $quarter([3, 7, 11, 15]);
        $quarter([0, 5, 10, 15]);
        $quarter([1, 6, 11, 12]);
        $quarter([2, 7, 8, 13]);
        $quarter([3, 4, 9, 14]);
    }};
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use double_round;

/// Double rounds of a block.
pub(crate) const ROUNDS: usize = 10;

/// Plain arrays, which compilers turn into vector instructions of the oldest processor that they compile for.
pub(super) fn chacha20(states: &BlockLanes, out: &mut BlockLanes) {
    *out = *states;
    for _ in 0..ROUNDS {
        double_round!(|at| quarter(out, at));
    }
    for (word, start) in out.as_flattened_mut().iter_mut().zip(states.as_flattened()) {
        *word = word.wrapping_add(*start);
    }
}

/// Section 2.1.
#[inline(always)]
fn quarter(x: &mut BlockLanes, at: [usize; 4]) {
    // The indices differ, and are below the words of a block.
    let Ok([a, b, c, d]) = x.get_disjoint_mut(at) else { return };
    for lane in 0..LANES {
        let (mut p, mut q, mut r, mut s) = (a[lane], b[lane], c[lane], d[lane]);
        p = p.wrapping_add(q);
        s = (s ^ p).rotate_left(16);
        r = r.wrapping_add(s);
        q = (q ^ r).rotate_left(12);
        p = p.wrapping_add(q);
        s = (s ^ p).rotate_left(8);
        r = r.wrapping_add(s);
        q = (q ^ r).rotate_left(7);
        (a[lane], b[lane], c[lane], d[lane]) = (p, q, r, s);
    }
}

#[cfg(test)]
mod tests {
    use crate::{BlockLanes, Streams};

    /// RFC 8439, section 2.3.2, in one lane after the other; the others have keys of their own.
    #[test]
    fn each_lane_is_the_cipher() {
        let start = [
            0x6170_7865,
            0x3320_646e,
            0x7962_2d32,
            0x6b20_6574,
            0x0302_0100,
            0x0706_0504,
            0x0b0a_0908,
            0x0f0e_0d0c,
            0x1312_1110,
            0x1716_1514,
            0x1b1a_1918,
            0x1f1e_1d1c,
            0x0000_0001,
            0x0900_0000,
            0x4a00_0000,
            0x0000_0000_u32,
        ];
        let expected = [
            0xe4e7_f110,
            0x1559_3bd1,
            0x1fdd_0f50,
            0xc471_20a3,
            0xc7f4_d1c7,
            0x0368_c033,
            0x9aaa_2204,
            0x4e6c_d4c3,
            0x4664_82d2,
            0x09aa_9f07,
            0x05d7_c214,
            0xa202_8bd9,
            0xd19c_12b5,
            0xb94e_16de,
            0xe883_d0cb,
            0x4e3c_50a2_u32,
        ];
        for target in Streams::available() {
            for lane in 0..16 {
                let mut word = 1_u32;
                let mut states: BlockLanes = core::array::from_fn(|_| {
                    core::array::from_fn(|_| {
                        word = word.wrapping_mul(0x915f_77f5).wrapping_add(1);
                        word ^ word >> 15
                    })
                });
                let (mut out, mut scalar) = (states, states);
                states.iter_mut().zip(start).for_each(|(word, start)| word[lane] = start);
                (target.chacha20)(&states, &mut out);
                assert_eq!(out.map(|word| word[lane]), expected, "{}, lane {lane}", target.name);
                (Streams::SCALAR.chacha20)(&states, &mut scalar);
                assert_eq!(out, scalar, "{}", target.name);
            }
        }
    }
}
