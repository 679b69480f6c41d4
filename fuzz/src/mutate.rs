//! Mutations of bytes, drawn from a seeded generator so that a failure can be repeated.

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// The kinds of mutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Flips one bit.
    Bit,
    /// Cuts off the end.
    Truncation,
    /// Replaces a range by a range of another input.
    Splice,
    /// Changes a field that could be a length, or the number of bytes: replaces 1, 2, 4 or 8 bytes, or repeats, removes
    /// or appends bytes.
    Length,
}

impl Mutation {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Bit, Self::Truncation, Self::Splice, Self::Length];
}

/// Values at the ends of integer ranges.
const ENDS: [u64; 12] =
    [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, i64::MAX as u64, 1 << 63, u64::MAX];

/// Draws mutations.
pub struct Mutator {
    rng: ChaCha20Rng,
}

impl Mutator {
    /// Makes a mutator; equal seeds give equal mutations.
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha20Rng::seed_from_u64(seed) }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.rng.next_u64() % end.max(1) as u64) as usize
    }

    /// Returns an input after one to four mutations of any kind; splices take from the other inputs.
    pub fn any(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let at = self.below(inputs.len());
        let mut bytes = inputs.get(at).cloned().unwrap_or_default();
        for _ in 0..=self.below(4) {
            let other = self.below(inputs.len());
            let kind = Mutation::ALL[self.below(Mutation::ALL.len())];
            self.change(kind, &mut bytes, inputs.get(other).map_or(&[], Vec::as_slice));
        }
        bytes
    }

    /// Applies one mutation. The result may equal the input, for example after a splice of equal bytes.
    pub fn change(&mut self, kind: Mutation, bytes: &mut Vec<u8>, other: &[u8]) {
        match kind {
            Mutation::Bit if bytes.is_empty() => bytes.push(0),
            Mutation::Bit => {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
            Mutation::Truncation => {
                let end = self.below(bytes.len());
                bytes.truncate(end);
            }
            Mutation::Splice => {
                let (from, to) = self.range(bytes.len());
                let (start, end) = self.range(other.len());
                bytes.splice(from..to, other[start..end].iter().copied());
            }
            Mutation::Length => self.length(bytes),
        }
    }

    /// Draws a range, mostly a short one.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let from = self.below(length + 1);
        let longest = if self.below(2) == 0 { 16 } else { length };
        let to = from + self.below((length - from).min(longest) + 1);
        (from, to)
    }

    fn length(&mut self, bytes: &mut Vec<u8>) {
        match self.below(4) {
            0 => {
                let width = 1 << self.below(4);
                if let Some(last) = bytes.len().checked_sub(width) {
                    let at = self.below(last + 1);
                    let value = self.number(&bytes[at..at + width]);
                    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                }
            }
            1 => {
                let (from, to) = self.range(bytes.len());
                let doubled = bytes[from..to].to_vec();
                bytes.splice(from..from, doubled);
            }
            2 => {
                let (from, to) = self.range(bytes.len());
                bytes.drain(from..to);
            }
            _ => {
                let more = 1 + self.below(40);
                let byte = self.below(256) as u8;
                bytes.extend(std::iter::repeat_n(byte, more));
            }
        }
    }

    /// Draws a value near the present one, at the end of a range, or anywhere.
    fn number(&mut self, field: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..field.len()].copy_from_slice(field);
        let found = u64::from_le_bytes(word);
        match self.below(4) {
            0 => found.wrapping_add(1),
            1 => found.wrapping_sub(1),
            2 => ENDS[self.below(ENDS.len())],
            _ => self.rng.next_u64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_changes() {
        let inputs = [b"one".to_vec(), b"another".to_vec(), vec![]];
        let drawn = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..200).map(|_| mutator.any(&inputs)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn every_sort_of_change_does_what_it_says() {
        let mut mutator = Mutator::new(3);
        let (bytes, other) = (vec![0; 40], vec![1; 40]);
        for _ in 0..100 {
            let mut changed = |kind| {
                let mut bytes = bytes.clone();
                mutator.change(kind, &mut bytes, &other);
                bytes
            };
            assert_eq!(changed(Mutation::Bit).iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
            assert!(changed(Mutation::Truncation).len() < 40);
            assert!(changed(Mutation::Splice).len() <= 80);
        }
    }
}
