//! SEAL's seeds: a stream of bytes without end from 64 bytes, and uniform polynomials drawn from it.

use core::ops::Range;

use shake::digest::{ExtendableOutput, Update, XofReader};
use sotto_ring::Modulus;

use crate::error::SealError;

/// Length of the seed of SEAL's generator.
pub const SEED_BYTES: usize = 64;
/// Bytes of a block; each block is computed from the seed and its number.
const BLOCK: usize = 4096;
const WORDS: usize = BLOCK / 8;

/// The function that computes the stream.
///
/// Example: [`Stream`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Generator {
    /// BLAKE2Xb of the block's number, keyed with the seed.
    Blake2xb = 1,
    /// SHAKE256 of the seed and the block's number.
    Shake256 = 2,
}

impl Generator {
    pub(crate) fn from_number(number: u8) -> Result<Self, SealError> {
        [Self::Blake2xb, Self::Shake256]
            .into_iter()
            .find(|g| *g as u8 == number)
            .ok_or(SealError::Value("the generator of the seed is not known: neither blake2xb nor shake256"))
    }

    fn block(self, seed: &[u8; SEED_BYTES], number: u64) -> [u8; BLOCK] {
        match self {
            Self::Blake2xb => blake2xb(seed, number),
            Self::Shake256 => {
                let mut out = [0; BLOCK];
                let mut hasher = shake::Shake256::default();
                hasher.update(seed);
                hasher.update(&number.to_le_bytes());
                hasher.finalize_xof().read(&mut out);
                out
            }
        }
    }
}

/// Computes BLAKE2X (Aumasson, Neves, Wilcox-O'Hearn and Winnerlein, 2016) over BLAKE2b with 4096 bytes of
/// output. The upper half of the node offset holds the output's length.
fn blake2xb(seed: &[u8; SEED_BYTES], number: u64) -> [u8; BLOCK] {
    const LENGTH: u64 = (BLOCK as u64) << 32;
    let root = blake2b_simd::Params::new()
        .hash_length(64)
        .key(seed)
        .fanout(1)
        .max_depth(1)
        .node_offset(LENGTH)
        .hash(&number.to_le_bytes());
    let mut out = [0; BLOCK];
    for (offset, piece) in (0..).zip(out.chunks_exact_mut(64)) {
        let node = blake2b_simd::Params::new()
            .hash_length(64)
            .fanout(0)
            .max_depth(0)
            .max_leaf_length(64)
            .node_offset(offset | LENGTH)
            .node_depth(0)
            .inner_hash_length(64)
            .hash(root.as_bytes());
        piece.copy_from_slice(node.as_bytes());
    }
    out
}

/// A stream of 64-bit words. Public: files hold seeds in the clear.
///
/// ```
/// use sotto_seal::{Generator, SEED_BYTES, Stream};
///
/// let seed = [7; SEED_BYTES]; // from a file: the seed replaces a mask of many kilobytes
/// let mut stream = Stream::new(Generator::Shake256, seed);
/// let mut again = Stream::new(Generator::Shake256, seed);
/// assert_eq!([stream.word(), stream.word()], [again.word(), again.word()]);
/// let mut other = Stream::new(Generator::Blake2xb, seed);
/// assert_ne!(stream.word(), other.word());
/// ```
pub struct Stream {
    generator: Generator,
    seed: [u8; SEED_BYTES],
    block: Box<[u8; BLOCK]>,
    next_block: u64,
    /// Index of the next word in the block.
    word: usize,
}

impl Stream {
    /// Starts a stream at its beginning.
    pub fn new(generator: Generator, seed: [u8; SEED_BYTES]) -> Self {
        Self { generator, seed, block: Box::new([0; BLOCK]), next_block: 0, word: WORDS }
    }

    /// Returns the next word.
    pub fn word(&mut self) -> u64 {
        if self.word == WORDS {
            *self.block = self.generator.block(&self.seed, self.next_block);
            (self.next_block, self.word) = (self.next_block + 1, 0);
        }
        let (words, _) = self.block.as_chunks::<8>();
        self.word += 1;
        u64::from_le_bytes(words[self.word - 1])
    }
}

/// Draws the uniform polynomial of a stream: `degree` residues for each prime in turn. First draws all words
/// in order, then draws those again that would favour small residues.
pub fn uniform_words(stream: &mut Stream, moduli: &[Modulus], degree: usize) -> Vec<u64> {
    let mut words: Vec<u64> = (0..degree * moduli.len()).map(|_| stream.word()).collect();
    for (modulus, limb) in moduli.iter().zip(words.chunks_exact_mut(degree)) {
        // SEAL's limit, one below the largest multiple of q: the accepted words are uniform modulo q but for
        // the one word that is missing.
        let limit = u64::MAX - modulus.reduce(u64::MAX) - 1;
        for word in limb {
            while *word >= limit {
                *word = stream.word();
            }
            *word = modulus.reduce(*word);
        }
    }
    words
}

/// Returns the indices of one limb's words.
pub(crate) fn limb_words(index: usize, degree: usize) -> Range<usize> {
    index * degree..(index + 1) * degree
}
