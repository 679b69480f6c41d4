//! ChaCha20 (RFC 8439) of several nonces at once, a lane each.
//!
//! The crate `chacha20` computes neighbouring blocks of one nonce at once. The windows of a sum have a nonce each, and most
//! have one block.

use zeroize::Zeroize;

use crate::words::{BLOCK_WORDS, CONSTANTS, nonce};

/// Lanes of a group: enough that compilers keep the loops over them, and turn them into vector instructions.
pub(crate) const LANES: usize = 16;
/// A word of the cipher's state, lane by lane.
type Word = [u32; LANES];

/// The blocks of one number for a group of nonces under one key. Wiped when dropped.
pub(crate) struct Group {
    /// The states before the rounds.
    start: [Word; BLOCK_WORDS],
    words: [Word; BLOCK_WORDS],
}

impl Group {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let mut start = [[0; LANES]; BLOCK_WORDS];
        for (word, constant) in start.iter_mut().zip(CONSTANTS) {
            *word = [constant; LANES];
        }
        for (word, bytes) in start[4..12].iter_mut().zip(key.as_chunks().0) {
            *word = [u32::from_le_bytes(*bytes); LANES];
        }
        Self { start, words: [[0; LANES]; BLOCK_WORDS] }
    }

    /// Sets the nonce of a lane.
    pub(crate) fn set(&mut self, lane: usize, number: u64, part: u32) {
        for (words, word) in self.start[13..].iter_mut().zip(nonce(number, part)) {
            words[lane] = word;
        }
    }

    /// Computes block `block` of all lanes: word by word, lane by lane (RFC 8439, section 2.3).
    pub(crate) fn draw(&mut self, block: u32) -> &[Word; BLOCK_WORDS] {
        self.start[12] = [block; LANES];
        self.words = self.start;
        let x = &mut self.words;
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
        for (word, start) in x.iter_mut().zip(&self.start) {
            word.iter_mut().zip(start).for_each(|(word, start)| *word = word.wrapping_add(*start));
        }
        &self.words
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.start.as_flattened_mut().zeroize();
        self.words.as_flattened_mut().zeroize();
    }
}

/// Section 2.1.
#[inline(always)]
fn quarter(x: &mut [Word; BLOCK_WORDS], at: [usize; 4]) {
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
    use super::*;
    use crate::key::StartKeys;

    #[test]
    fn lanes_are_the_cipher() {
        let keys = StartKeys::derive(&[1; 32], &[2; 32], &[3; 12]);
        let mut group = Group::new(keys.pads.bytes());
        for lane in 0..LANES {
            group.set(lane, u64::MAX - (lane as u64) * 0x1_0000_0001, 5 + lane as u32);
        }
        for block in [0, 1, 70_000] {
            let words = group.draw(block);
            for lane in 0..LANES {
                let number = u64::MAX - (lane as u64) * 0x1_0000_0001;
                let first = block as usize * BLOCK_WORDS;
                let mut expected = keys.pads.words(number, 5 + lane as u32, first + BLOCK_WORDS);
                for (at, word) in words.iter().enumerate() {
                    assert_eq!(word[lane], expected.word(first + at), "word {at} of lane {lane}");
                }
            }
        }
    }
}
