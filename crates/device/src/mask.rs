//! Masks, which device and owner derive from public names.

use chacha20::cipher::{KeyIvInit, StreamCipher};
use chacha20::{ChaCha8, ChaCha20};

/// Bytes drawn in one call: a multiple of every word length up to 8.
const CHUNK: usize = 840;

/// The key that all masks of a stream are drawn under. Public: derived from the names of key and stream.
///
/// Example: [`Mask`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskKey(pub [u8; 32]);

/// The name of a mask: a stream's key, the salt of a device's start, and the window's sequence number. Never
/// use a mask twice: two ciphertexts under one secret and one mask reveal their difference.
///
/// ```
/// use sotto_device::{Mask, MaskKey, Residues};
///
/// // Device and owner derive the same mask from public names.
/// let key = MaskKey([7; 32]);
/// let mask: Mask = key.mask(&[9; 12], 3);
/// assert_eq!(mask, key.mask(&[9; 12], 3));
/// let residues: Residues = mask.residues(0, 97);
/// assert!(residues.take(4096).all(|residue| residue < 97));
/// // The next window has another one.
/// assert_ne!(mask, key.mask(&[9; 12], 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    key: [u8; 32],
    sequence: u64,
}

impl MaskKey {
    /// Returns the mask of a window. The salt's key is the first 32 bytes of ChaCha20 under the stream's key,
    /// with the salt as its nonce.
    pub fn mask(&self, salt: &[u8; 12], sequence: u64) -> Mask {
        let mut key = [0; 32];
        ChaCha20::new(&self.0.into(), &(*salt).into()).apply_keystream(&mut key);
        Mask { key, sequence }
    }
}

impl Mask {
    /// Returns the residues modulo q of limb number `limb`, in the order of the coefficients. Variable time:
    /// masks are public.
    ///
    /// Words of ceil(b/8) bytes are drawn from ChaCha8 under the salt's key and the nonce sequence (8 bytes)
    /// ‖ limb (4), little-endian. The low b bits of a word count, where b is the number of bits of q; words
    /// not below q are dropped.
    pub fn residues(&self, limb: u32, q: u64) -> Residues {
        let bits = u64::BITS - q.leading_zeros();
        let word = bits.div_ceil(8) as usize;
        Residues {
            stream: self.stream(limb),
            q,
            low: u64::MAX >> (u64::BITS - bits),
            word,
            bytes: [0; CHUNK],
            at: CHUNK,
        }
    }

    /// Returns the stream of bytes of a limb.
    pub fn stream(&self, limb: u32) -> ChaCha8 {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&self.sequence.to_le_bytes());
        nonce[8..].copy_from_slice(&limb.to_le_bytes());
        ChaCha8::new(&self.key.into(), &nonce.into())
    }
}

/// The residues of a mask, without end.
///
/// Example: [`Mask`]
pub struct Residues {
    stream: ChaCha8,
    q: u64,
    low: u64,
    word: usize,
    bytes: [u8; CHUNK],
    at: usize,
}

impl Iterator for Residues {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            if self.at + self.word > CHUNK {
                self.bytes.fill(0);
                self.stream.apply_keystream(&mut self.bytes);
                self.at = 0;
            }
            let mut word = 0;
            for (i, byte) in self.bytes[self.at..self.at + self.word].iter().enumerate() {
                word |= u64::from(*byte) << (8 * i);
            }
            self.at += self.word;
            let residue = word & self.low;
            if residue < self.q {
                return Some(residue);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_whole_words() {
        assert!((1..=8).all(|word| CHUNK.is_multiple_of(word)));
    }

    #[test]
    fn names_that_differ_give_masks_that_differ() {
        let (key, other) = (MaskKey([1; 32]), MaskKey([2; 32]));
        let first = |mask: Mask, limb| mask.residues(limb, (1 << 40) - 87).next();
        let mask = key.mask(&[3; 12], 7);
        assert_eq!(first(mask, 0), first(key.mask(&[3; 12], 7), 0));
        for wrong in [first(mask, 1), first(key.mask(&[3; 12], 8), 0), first(key.mask(&[4; 12], 7), 0)] {
            assert_ne!(first(mask, 0), wrong);
        }
        assert_ne!(first(mask, 0), first(other.mask(&[3; 12], 7), 0));
    }
}
