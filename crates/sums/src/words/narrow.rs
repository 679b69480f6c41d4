//! Key streams in the memory of one block, for small cores: the crate `chacha20` keeps the state before the rounds, one
//! within them, and the block.

use super::{BLOCK_WORDS, CONSTANTS, nonce};
use crate::field::Residue;

/// The number of a block that no part has.
const NONE: u32 = u32::MAX;

/// The words of a key stream, a block at a time. Any word can be read; neighbours cost least.
pub(crate) struct Words<'k> {
    key: &'k [u8; 32],
    nonce: [u32; 3],
    /// The number of the block in `block`, or `NONE`.
    drawn: u32,
    block: [u32; BLOCK_WORDS],
}

impl<'k> Words<'k> {
    #[inline(always)]
    pub(crate) fn new(key: &'k [u8; 32], number: u64, part: u32, _count: usize) -> Self {
        Self { key, nonce: nonce(number, part), drawn: NONE, block: [0; BLOCK_WORDS] }
    }

    /// Returns a word of 32 bits.
    #[inline]
    pub(crate) fn word(&mut self, index: usize) -> u32 {
        self.seek(index / BLOCK_WORDS);
        self.block[index % BLOCK_WORDS]
    }

    /// Returns residue `index`: 61 bits of words 2·index and 2·index + 1, of one block.
    #[inline]
    pub(crate) fn residue(&mut self, index: usize) -> Residue {
        self.seek(2 * index / BLOCK_WORDS);
        let at = 2 * index % BLOCK_WORDS;
        Residue::from_word(u64::from(self.block[at]) | u64::from(self.block[at + 1]) << 32)
    }

    #[inline]
    fn seek(&mut self, block: usize) {
        if self.drawn != block as u32 {
            self.drawn = block as u32;
            self.draw();
        }
    }

    /// Computes a block (RFC 8439, section 2.3). The state before the rounds is made twice, which takes less memory than
    /// to keep it.
    #[inline(always)]
    fn draw(&mut self) {
        self.block = [0; BLOCK_WORDS];
        self.add_state();
        rounds(&mut self.block);
        self.add_state();
    }

    /// Adds the state before the rounds: constants, key, number of the block, nonce.
    #[inline(never)]
    fn add_state(&mut self) {
        for (at, constant) in CONSTANTS.into_iter().enumerate() {
            self.block[at] = self.block[at].wrapping_add(constant);
        }
        for (word, bytes) in self.block[4..12].iter_mut().zip(self.key.as_chunks().0) {
            *word = word.wrapping_add(u32::from_le_bytes(*bytes));
        }
        self.block[12] = self.block[12].wrapping_add(self.drawn);
        for (word, nonce) in self.block[13..].iter_mut().zip(&self.nonce) {
            *word = word.wrapping_add(*nonce);
        }
    }
}

/// As in `wide`.
impl Drop for Words<'_> {
    fn drop(&mut self) {
        self.block = [0; BLOCK_WORDS];
        core::hint::black_box(&mut self.block);
    }
}

/// Section 2.3. A function of its own, as those above: their frames do not add up.
#[inline(never)]
fn rounds(x: &mut [u32; BLOCK_WORDS]) {
    for _ in 0..10 {
        quarter(x, [0, 4, 8, 12]);
        quarter(x, [1, 5, 9, 13]);
        quarter(x, [2, 6, 10, 14]);
        quarter(x, [3, 7, 11, 15]);
        quarter(x, [0, 5, 10, 15]);
        quarter(x, [1, 6, 11, 12]);
        quarter(x, [2, 7, 8, 13]);
        quarter(x, [3, 4, 9, 14]);
    }
}

/// Section 2.1. `black_box` keeps a compiler from holding words of other quarters in variables, for which Cortex-M has no
/// registers: copies on the stack, and moves.
#[inline(always)]
fn quarter(x: &mut [u32; BLOCK_WORDS], [a, b, c, d]: [usize; 4]) {
    let x = if cfg!(target_arch = "arm") { core::hint::black_box(x) } else { x };
    let (mut p, mut q, mut r, mut s) = (x[a], x[b], x[c], x[d]);
    p = p.wrapping_add(q);
    s = (s ^ p).rotate_left(16);
    r = r.wrapping_add(s);
    q = (q ^ r).rotate_left(12);
    p = p.wrapping_add(q);
    s = (s ^ p).rotate_left(8);
    r = r.wrapping_add(s);
    q = (q ^ r).rotate_left(7);
    (x[a], x[b], x[c], x[d]) = (p, q, r, s);
}
