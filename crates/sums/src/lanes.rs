//! ChaCha20 (RFC 8439) of several nonces at once: lane by lane, in loops that compilers turn into vector instructions.
//!
//! The crate `chacha20` computes neighbouring blocks of one nonce at once. The windows of a sum have a nonce each, and most
//! have one block.

use zeroize::Zeroize;

use crate::key::{BLOCK_WORDS, nonce};

/// Lanes of a group.
pub(crate) const LANES: usize = 8;
/// Lanes that are computed together, as many as the registers of every 64-bit processor hold.
const WIDE: usize = 4;
type Lanes = [u32; WIDE];

const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// The blocks of one number for a group of nonces under one key: word j of lane l is `words()[j][l]`. Wiped when dropped.
pub(crate) struct Group {
    state: [[u32; BLOCK_WORDS]; LANES],
    words: [[u32; LANES]; BLOCK_WORDS],
}

impl Group {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let mut state = [0; BLOCK_WORDS];
        state[..4].copy_from_slice(&CONSTANTS);
        for (word, bytes) in state[4..12].iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { state: [state; LANES], words: [[0; LANES]; BLOCK_WORDS] }
    }

    /// Sets the nonce of a lane.
    pub(crate) fn set(&mut self, lane: usize, number: u64, part: u32) {
        for (word, bytes) in self.state[lane][13..].iter_mut().zip(nonce(number, part).as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }

    /// Computes block `block` of all lanes.
    pub(crate) fn draw(&mut self, block: u32) -> &[[u32; LANES]; BLOCK_WORDS] {
        for first in (0..LANES).step_by(WIDE) {
            let mut start = [[0; WIDE]; BLOCK_WORDS];
            for (word, lanes) in start.iter_mut().enumerate() {
                *lanes = core::array::from_fn(|lane| self.state[first + lane][word]);
            }
            start[12] = [block; WIDE];
            let mut x = start;
            rounds(&mut x);
            for word in 0..BLOCK_WORDS {
                for lane in 0..WIDE {
                    self.words[word][first + lane] = x[word][lane].wrapping_add(start[word][lane]);
                }
            }
            start.as_flattened_mut().zeroize();
            x.as_flattened_mut().zeroize();
        }
        &self.words
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.state.as_flattened_mut().zeroize();
        self.words.as_flattened_mut().zeroize();
    }
}

fn rounds(x: &mut [Lanes; BLOCK_WORDS]) {
    for _ in 0..10 {
        quarter(x, 0, 4, 8, 12);
        quarter(x, 1, 5, 9, 13);
        quarter(x, 2, 6, 10, 14);
        quarter(x, 3, 7, 11, 15);
        quarter(x, 0, 5, 10, 15);
        quarter(x, 1, 6, 11, 12);
        quarter(x, 2, 7, 8, 13);
        quarter(x, 3, 4, 9, 14);
    }
}

/// RFC 8439, section 2.1.
#[inline(always)]
fn quarter(x: &mut [Lanes; BLOCK_WORDS], a: usize, b: usize, c: usize, d: usize) {
    x[a] = add(x[a], x[b]);
    x[d] = turn::<16>(x[d], x[a]);
    x[c] = add(x[c], x[d]);
    x[b] = turn::<12>(x[b], x[c]);
    x[a] = add(x[a], x[b]);
    x[d] = turn::<8>(x[d], x[a]);
    x[c] = add(x[c], x[d]);
    x[b] = turn::<7>(x[b], x[c]);
}

#[inline(always)]
fn add(x: Lanes, y: Lanes) -> Lanes {
    core::array::from_fn(|lane| x[lane].wrapping_add(y[lane]))
}

#[inline(always)]
fn turn<const LEFT: u32>(x: Lanes, y: Lanes) -> Lanes {
    core::array::from_fn(|lane| (x[lane] ^ y[lane]).rotate_left(LEFT))
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
