//! Plain Rust with 64-bit limbs: the reference for the vector targets, and the code for machines without vectors.

use core::hint::black_box;

use super::{Montgomery, MontgomeryKernel};

pub(crate) const KERNEL: MontgomeryKernel = MontgomeryKernel { limb_bits: 64, size, multiply, select };

const WORDS: usize = super::LONGEST_MODULUS as usize / 64;

fn size(bits: u32) -> (usize, usize) {
    let words = bits.div_ceil(64) as usize;
    (words, words)
}

/// Returns low + a·b + carry as two words; it always fits.
#[inline(always)]
fn step(low: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(low) + u128::from(a) * u128::from(b) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}

/// Multiplies word by word: adds a·b_i, clears the lowest word with a multiple of n, moves down by a word. Range: in
/// and out < n.
fn multiply(m: &Montgomery, out: &mut [u64], a: &[u64], b: &[u64]) {
    let words = m.steps;
    let mut sum = [0u64; WORDS];
    let (sum, n, a) = (&mut sum[..words], &m.n.0[..words], &a[..words]);
    let mut top = 0;
    for b in &b[..words] {
        let (first, mut carry) = step(sum[0], a[0], *b, 0);
        let y = first.wrapping_mul(m.inverse);
        let (_, mut fold) = step(first, y, n[0], 0);
        for j in 1..words {
            let low;
            (low, carry) = step(sum[j], a[j], *b, carry);
            (sum[j - 1], fold) = step(low, y, n[j], fold);
        }
        let last = u128::from(top) + u128::from(carry) + u128::from(fold);
        sum[words - 1] = last as u64;
        top = (last >> 64) as u64;
    }
    // The sum is below 2n: subtract n once unless the result is negative.
    let mut borrow = false;
    for ((out, sum), n) in out.iter_mut().zip(&*sum).zip(n) {
        (*out, borrow) = sum.borrowing_sub(*n, borrow);
    }
    let keep = black_box((u64::from(borrow) & !top & 1).wrapping_neg());
    for (out, sum) in out.iter_mut().zip(&mut *sum) {
        *out ^= (*out ^ *sum) & keep;
        *sum = 0;
    }
    // No code reads these zeros; `black_box` keeps the compiler from omitting the writes.
    black_box(&*sum);
}

fn select(out: &mut [u64], table: &[u64], index: usize) {
    out.fill(0);
    for (i, entry) in table.chunks_exact(out.len()).enumerate() {
        let other = (i ^ index) as u64;
        // All ones if they are equal.
        let mask = black_box(((other | other.wrapping_neg()) >> 63).wrapping_sub(1));
        for (out, word) in out.iter_mut().zip(entry) {
            *out |= word & mask;
        }
    }
}
