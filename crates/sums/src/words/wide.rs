//! Key streams where vector units draw four blocks in the time of one.

use core::marker::PhantomData;

use chacha20::cipher::{Block, KeyIvInit as _, StreamCipherCore as _};
use chacha20::{ChaChaCore, R20, variants::Ietf};

use super::{BLOCK_WORDS, nonce};
use crate::field::Residue;

type Cipher = ChaChaCore<R20, Ietf>;

/// Blocks drawn at once.
const BLOCKS: usize = 4;

/// The words of a key stream, a few blocks at a time. Any word can be read; neighbours cost least.
pub(crate) struct Words<'k> {
    cipher: Cipher,
    blocks: [Block<Cipher>; BLOCKS],
    /// The numbers of the blocks in `blocks`.
    drawn: core::ops::Range<usize>,
    /// The number of the block behind the last that is read.
    end: usize,
    /// Small cores borrow the key.
    key: PhantomData<&'k [u8; 32]>,
}

impl<'k> Words<'k> {
    pub(crate) fn new(key: &'k [u8; 32], number: u64, part: u32, count: usize) -> Self {
        let mut bytes = [0; 12];
        bytes
            .as_chunks_mut()
            .0
            .iter_mut()
            .zip(nonce(number, part))
            .for_each(|(to, word)| *to = word.to_le_bytes());
        Self {
            cipher: Cipher::new(key.into(), (&bytes).into()),
            blocks: Default::default(),
            drawn: 0..0,
            end: count.div_ceil(BLOCK_WORDS),
            key: PhantomData,
        }
    }

    /// Returns a word of 32 bits.
    pub(crate) fn word(&mut self, index: usize) -> u32 {
        let (words, at) = (self.block(index / BLOCK_WORDS), index % BLOCK_WORDS);
        u32::from_le_bytes(words.as_chunks().0[at])
    }

    /// Returns residue `index`: 61 bits of words 2·index and 2·index + 1, of one block.
    pub(crate) fn residue(&mut self, index: usize) -> Residue {
        let (words, at) = (self.block(2 * index / BLOCK_WORDS), index % (BLOCK_WORDS / 2));
        Residue::from_word(u64::from_le_bytes(words.as_chunks().0[at]))
    }

    #[inline]
    fn block(&mut self, block: usize) -> &Block<Cipher> {
        if !self.drawn.contains(&block) {
            self.draw(block);
        }
        &self.blocks[block - self.drawn.start]
    }

    fn draw(&mut self, block: usize) {
        let count = self.end.saturating_sub(block).clamp(1, BLOCKS);
        self.cipher.set_block_pos(block as u32);
        if let [one] = &mut self.blocks[..count] {
            self.cipher.write_keystream_block(one);
        } else {
            self.cipher.write_keystream_blocks(&mut self.blocks[..count]);
        }
        self.drawn = block..block + count;
    }
}

/// The cipher wipes itself. `black_box` keeps the compiler from removing the writes here; `Zeroize` writes byte by byte,
/// which takes as long as a block.
impl Drop for Words<'_> {
    fn drop(&mut self) {
        self.blocks = Default::default();
        core::hint::black_box(&mut self.blocks);
    }
}
