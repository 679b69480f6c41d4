//! ChaCha20 (RFC 8439) of several keys and nonces at once, a lane each.
//!
//! The crate `chacha20` computes neighbouring blocks of one nonce at once. The windows of a sum have a nonce each, and most
//! have one block; the windows of several devices have a key each, too.

use sotto_kernels::{BlockLanes, ChaChaKernel, Target, ValueLanes};
use zeroize::Zeroize;

use crate::key::Key;
use crate::words::{BLOCK_WORDS, CONSTANTS, nonce};

/// Lanes of a group.
pub(crate) const LANES: usize = 16;
/// A word of key stream in all lanes.
pub(crate) type Word = [u32; LANES];

/// Key streams of several keys and nonces, a block of each at a time. Wiped when dropped.
pub(crate) struct Group {
    /// The states before the rounds.
    start: BlockLanes,
    words: BlockLanes,
    chacha20: ChaChaKernel,
}

impl Group {
    /// Makes a group whose keys and nonces are zeros.
    pub(crate) fn new() -> Self {
        let mut start = [[0; LANES]; BLOCK_WORDS];
        for (word, constant) in start.iter_mut().zip(CONSTANTS) {
            *word = [constant; LANES];
        }
        Self { start, words: [[0; LANES]; BLOCK_WORDS], chacha20: Target::best().streams.chacha20 }
    }

    /// Makes a group with one key in all lanes.
    pub(crate) fn of(key: &Key) -> Self {
        let mut group = Self::new();
        for (word, bytes) in group.start[4..12].iter_mut().zip(key.bytes().as_chunks().0) {
            *word = [u32::from_le_bytes(*bytes); LANES];
        }
        group
    }

    /// Sets the keys of all lanes.
    #[inline]
    pub(crate) fn set_keys(&mut self, keys: &ValueLanes) {
        self.start[4..12].copy_from_slice(keys);
    }

    /// Sets the nonce of a lane.
    #[inline]
    pub(crate) fn set(&mut self, lane: usize, number: u64, part: u32) {
        for (words, word) in self.start[13..].iter_mut().zip(nonce(number, part)) {
            words[lane] = word;
        }
    }

    /// Computes block `block` of all lanes: word by word, lane by lane.
    pub(crate) fn draw(&mut self, block: u32) -> &BlockLanes {
        self.start[12] = [block; LANES];
        (self.chacha20)(&self.start, &mut self.words);
        &self.words
    }

    /// Returns a word of all lanes. Words are read in order: the first of a block draws it, and no block is drawn twice.
    #[inline]
    pub(crate) fn word(&mut self, index: usize) -> &Word {
        if index.is_multiple_of(BLOCK_WORDS) {
            self.draw((index / BLOCK_WORDS) as u32);
        }
        &self.words[index % BLOCK_WORDS]
    }

    /// Returns both words of residue `index` of all lanes. Residues are read in order, like words.
    #[inline]
    pub(crate) fn residue(&mut self, index: usize) -> Pair<'_> {
        self.word(2 * index);
        let at = 2 * index % BLOCK_WORDS;
        Pair { low: &self.words[at], high: &self.words[at + 1] }
    }
}

/// Two words of all lanes.
pub(crate) struct Pair<'g> {
    low: &'g Word,
    high: &'g Word,
}

impl Pair<'_> {
    /// Returns the 64 bits of a lane.
    #[inline]
    pub(crate) fn lane(&self, lane: usize) -> u64 {
        u64::from(self.high[lane]) << 32 | u64::from(self.low[lane])
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.start.as_flattened_mut().zeroize();
        self.words.as_flattened_mut().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Residue;
    use crate::key::StartKeys;

    #[test]
    fn lanes_are_the_cipher() {
        let keys: [Key; LANES] =
            core::array::from_fn(|lane| StartKeys::derive(&[lane as u8; 32], &[2; 32], &[3; 12]).pads);
        let nonce = |lane: usize| (u64::MAX - (lane as u64) * 0x1_0000_0001, 5 + lane as u32);
        for group in [None, Some(&keys[3])] {
            let mut lanes = group.map_or_else(Group::new, Group::of);
            if group.is_none() {
                let word =
                    |lane: usize, word: usize| u32::from_le_bytes(keys[lane].bytes().as_chunks().0[word]);
                lanes.set_keys(&core::array::from_fn(|at| core::array::from_fn(|lane| word(lane, at))));
            }
            (0..LANES).for_each(|lane| lanes.set(lane, nonce(lane).0, nonce(lane).1));
            for block in [0, 1, 70_000] {
                let words = lanes.draw(block);
                for (lane, key) in keys.iter().enumerate() {
                    let first = block as usize * BLOCK_WORDS;
                    let (number, part) = nonce(lane);
                    let mut expected = group.unwrap_or(key).words(number, part, first + BLOCK_WORDS);
                    for (at, word) in words.iter().enumerate() {
                        assert_eq!(word[lane], expected.word(first + at), "word {at} of lane {lane}");
                    }
                }
            }
            for index in 0..20 {
                let residues = lanes.residue(index);
                for (lane, key) in keys.iter().enumerate() {
                    let (number, part) = nonce(lane);
                    let expected = group.unwrap_or(key).words(number, part, 40).residue(index);
                    assert_eq!(Residue::from_word(residues.lane(lane)).value(), expected.value());
                }
            }
        }
    }
}
