//! Montgomery multiplication with 52-bit limbs, eight a vector. Ranges: docs/math/kernels.md#montgomery.
//!
//! Each step handles two limbs of b. The multiple of n that clears the two lowest limbs depends on these limbs alone,
//! so ordinary registers compute it while the vectors still accumulate a·b.

use core::arch::x86_64::*;

use super::lanes::{Line, all, load, store};
use crate::montgomery::{Montgomery, MontgomeryKernel};

pub(crate) const KERNEL: MontgomeryKernel = MontgomeryKernel { limb_bits: 52, size, multiply, select };

const LOW: u64 = (1 << 52) - 1;

/// Returns the limbs of R and the words of a residue. R ≥ 4n with an even number of limbs; the number of vectors is
/// that of an instance below.
fn size(bits: u32) -> (usize, usize) {
    let steps = (bits + 2).div_ceil(52).next_multiple_of(2) as usize;
    let lines = steps.div_ceil(8);
    let lines = [5, 8, 10, 15, 20].into_iter().find(|instance| lines <= *instance).unwrap_or(20);
    (steps, lines * 8)
}

fn multiply(m: &Montgomery, out: &mut [u64], a: &[u64], b: &[u64]) {
    // SAFETY: `kernels` returns this target only after `detected`.
    unsafe {
        match out.len() / 8 {
            5 => product::<5>(m, out, a, b),
            8 => product::<8>(m, out, a, b),
            10 => product::<10>(m, out, a, b),
            15 => product::<15>(m, out, a, b),
            _ => product::<20>(m, out, a, b),
        }
    }
}

fn select(out: &mut [u64], table: &[u64], index: usize) {
    // SAFETY: as above.
    unsafe {
        match out.len() / 8 {
            5 => pick::<5>(out, table, index),
            8 => pick::<8>(out, table, index),
            10 => pick::<10>(out, table, index),
            15 => pick::<15>(out, table, index),
            _ => pick::<20>(out, table, index),
        }
    }
}

/// Returns a residue's vectors. Its length always matches the instance.
#[inline(always)]
fn lines<const V: usize>(words: &[u64]) -> &[Line; V] {
    words.as_chunks::<8>().0.first_chunk().unwrap_or(&[[0; 8]; V])
}

#[inline(always)]
fn halves(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64 & LOW, (product >> 52) as u64)
}

/// Moves all lanes one place down. The lowest is a multiple of 2^52; its carry is added to the next.
#[inline]
#[target_feature(enable = "avx512f")]
fn drop_lane<const V: usize>(sums: &mut [__m512i; V]) {
    let carry = _mm512_maskz_srli_epi64::<52>(1, sums[0]);
    for j in 0..V {
        let above = if j + 1 < V { sums[j + 1] } else { _mm512_setzero_si512() };
        sums[j] = _mm512_alignr_epi64::<1>(above, sums[j]);
    }
    sums[0] = _mm512_add_epi64(sums[0], carry);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn product<const V: usize>(m: &Montgomery, out: &mut [u64], a: &[u64], b: &[u64]) {
    let (n_lines, a_lines) = (lines::<V>(m.limbs()), lines::<V>(a));
    let (n0, n1, a0, a1) = (n_lines[0][0], n_lines[0][1], a_lines[0][0], a_lines[0][1]);
    let mut sums = [_mm512_setzero_si512(); V];
    for pair in b[..m.steps].as_chunks::<2>().0 {
        let [b0, b1] = *pair;
        let low = _mm512_castsi512_si128(sums[0]);
        let (s0, s1) = (_mm_cvtsi128_si64(low) as u64, _mm_extract_epi64::<1>(low) as u64);
        let (low, high) = halves(a0, b0);
        let t0 = s0 + low;
        let ahead = s1 + high + (a1.wrapping_mul(b0) & LOW) + (a0.wrapping_mul(b1) & LOW);
        let y0 = t0.wrapping_mul(m.inverse) & LOW;
        let (low, high) = halves(n0, y0);
        let t1 = ahead + ((t0 + low) >> 52) + high + (n1.wrapping_mul(y0) & LOW);
        let y1 = t1.wrapping_mul(m.inverse) & LOW;

        let (b0, b1, y0, y1) = (all(b0), all(b1), all(y0), all(y1));
        for j in 0..V {
            let sum = _mm512_madd52lo_epu64(sums[j], load(&a_lines[j]), b0);
            sums[j] = _mm512_madd52lo_epu64(sum, load(&n_lines[j]), y0);
        }
        drop_lane(&mut sums);
        for j in 0..V {
            let (a, n) = (load(&a_lines[j]), load(&n_lines[j]));
            // Separate from the sum, to shorten the chain that waits for y.
            let ab = _mm512_madd52hi_epu64(_mm512_setzero_si512(), a, b0);
            let ab = _mm512_madd52lo_epu64(ab, a, b1);
            let sum = _mm512_madd52hi_epu64(_mm512_add_epi64(sums[j], ab), n, y0);
            sums[j] = _mm512_madd52lo_epu64(sum, n, y1);
        }
        drop_lane(&mut sums);
        for j in 0..V {
            let sum = _mm512_madd52hi_epu64(sums[j], load(&a_lines[j]), b1);
            sums[j] = _mm512_madd52hi_epu64(sum, load(&n_lines[j]), y1);
        }
    }
    carry(&mut sums);
    for (line, sum) in out.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
        store(line, sum);
    }
}

/// Normalises lanes below 2^62 to lanes below 2^52. The carries of one round are below 2^10. After it a lane exceeds
/// its range by at most one, and that carry ripples through all lanes at once as the carry of an addition of bit masks.
#[inline]
#[target_feature(enable = "avx512f")]
fn carry<const V: usize>(sums: &mut [__m512i; V]) {
    let low = all(LOW);
    let mut below = _mm512_setzero_si512();
    let mut ripple = 0u32;
    for sum in sums {
        let carries = _mm512_srli_epi64::<52>(*sum);
        let moved = _mm512_alignr_epi64::<7>(carries, below);
        below = carries;
        let rest = _mm512_add_epi64(_mm512_and_si512(*sum, low), moved);
        let over = u32::from(_mm512_cmpgt_epu64_mask(rest, low));
        let full = u32::from(_mm512_cmpeq_epu64_mask(rest, low));
        let through = full + (over << 1 | ripple);
        ripple = through >> 8;
        let takes = (through ^ full) as u8;
        let rest = _mm512_mask_add_epi64(rest, takes, rest, all(1));
        *sum = _mm512_and_si512(rest, low);
    }
}

#[target_feature(enable = "avx512f")]
fn pick<const V: usize>(out: &mut [u64], table: &[u64], index: usize) {
    let wanted = all(index as u64);
    let mut sums = [_mm512_setzero_si512(); V];
    let mut at = _mm512_setzero_si512();
    for entry in table.chunks_exact(V * 8) {
        let this = _mm512_cmpeq_epu64_mask(at, wanted);
        for (sum, line) in sums.iter_mut().zip(lines::<V>(entry)) {
            *sum = _mm512_mask_mov_epi64(*sum, this, load(line));
        }
        at = _mm512_add_epi64(at, all(1));
    }
    for (line, sum) in out.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
        store(line, sum);
    }
}
