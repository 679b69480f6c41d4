//! Keys of a stream and of a start, and the words of their key streams.

use chacha20::cipher::{Block, KeyIvInit as _, StreamCipherCore as _};
use chacha20::{ChaChaCore, R20, variants::Ietf};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::field::Residue;

/// Bytes of a device's secret, and of a stream's id.
pub const SECRET_BYTES: usize = 32;
/// Bytes of the salt that a device draws when it starts.
pub const SALT_BYTES: usize = 12;

type Cipher = ChaChaCore<R20, Ietf>;

pub(crate) const PADS: &str = "sotto 2026 sums pads v1";
pub(crate) const TAG_PADS: &str = "sotto 2026 sums tag pads v1";
pub(crate) const TAG_KEY: &str = "sotto 2026 sums tag key v1";
pub(crate) const COUNT_KEY: &str = "sotto 2026 sums count key v1";
const KEY_ID: &str = "sotto 2026 sums key id v1";
/// Bytes of the id of a stream's keys.
pub const KEY_ID_BYTES: usize = 16;

/// Words of a block of key stream.
pub(crate) const BLOCK_WORDS: usize = 16;
/// Blocks drawn at once: vector units draw four in the time of one; a small core has no memory for them.
#[cfg(target_pointer_width = "64")]
const BLOCKS: usize = 4;
#[cfg(not(target_pointer_width = "64"))]
const BLOCKS: usize = 1;

/// A ChaCha20 key, wiped when dropped.
pub(crate) struct Key([u8; 32]);

impl Key {
    fn derive(context: &str, parts: [&[u8]; 3]) -> Self {
        let mut material = [0; 2 * SECRET_BYTES + SALT_BYTES];
        let mut used = 0;
        for part in parts {
            material[used..used + part.len()].copy_from_slice(part);
            used += part.len();
        }
        // Without a `Hasher`, which takes 2 KB of stack.
        let key = Self(blake3::derive_key(context, &material[..used]));
        material.zeroize();
        key
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Starts the key stream of a pad number and a part, from which `count` words are read.
    pub(crate) fn words(&self, number: u64, part: u32, count: usize) -> Words {
        let nonce = nonce(number, part);
        Words {
            cipher: Cipher::new((&self.0).into(), (&nonce).into()),
            blocks: Default::default(),
            drawn: 0..0,
            end: count.div_ceil(BLOCK_WORDS),
        }
    }

    /// Returns the first residue of a key stream.
    #[inline(never)]
    pub(crate) fn residue(&self, number: u64, part: u32) -> Residue {
        self.words(number, part, 2).residue(0)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Key {}

/// Returns the nonce: pad number (8) ‖ part (4), little-endian.
pub(crate) fn nonce(number: u64, part: u32) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    nonce[8..].copy_from_slice(&part.to_le_bytes());
    nonce
}

/// The words of a key stream, a few blocks at a time. Any word can be read; neighbours cost least.
pub(crate) struct Words {
    cipher: Cipher,
    blocks: [Block<Cipher>; BLOCKS],
    /// The numbers of the blocks in `blocks`.
    drawn: core::ops::Range<usize>,
    /// The number of the block behind the last that is read.
    end: usize,
}

impl Words {
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
impl Drop for Words {
    fn drop(&mut self) {
        self.blocks = Default::default();
        core::hint::black_box(&mut self.blocks);
    }
}

/// The secret keys of a stream's tags: k for places, k′ for counts. Wiped when dropped.
///
/// Example: [`TagKey`](crate::TagKey)
pub struct StreamKeys {
    pub(crate) tag: Key,
    pub(crate) count: Key,
}

impl StreamKeys {
    /// Derives the keys from the device's secret and the stream's id.
    pub fn derive(secret: &[u8; SECRET_BYTES], stream: &[u8; SECRET_BYTES]) -> Self {
        let derive = |context| Key::derive(context, [secret, stream, &[]]);
        Self { tag: derive(TAG_KEY), count: derive(COUNT_KEY) }
    }

    /// Returns the id by which a stream's header names these keys: a hash of them, which is public.
    ///
    /// ```
    /// use sotto_sums::StreamKeys;
    ///
    /// let id = StreamKeys::derive(&[1; 32], &[2; 32]).id();
    /// assert_eq!(id, StreamKeys::derive(&[1; 32], &[2; 32]).id());
    /// assert_ne!(id, StreamKeys::derive(&[1; 32], &[3; 32]).id());
    /// ```
    pub fn id(&self) -> [u8; KEY_ID_BYTES] {
        let long = Key::derive(KEY_ID, [&self.tag.0, &self.count.0, &[]]);
        let mut id = [0; KEY_ID_BYTES];
        id.copy_from_slice(&long.0[..KEY_ID_BYTES]);
        id
    }
}

/// The secret keys of the pads of one start of a stream: K for places, F for tags. Wiped when dropped.
///
/// Example: [`Opening`](crate::Opening)
pub struct StartKeys {
    pub(crate) pads: Key,
    pub(crate) tag_pads: Key,
}

impl StartKeys {
    /// Derives the keys from the device's secret, the stream's id and the salt that the device drew at this start.
    pub fn derive(secret: &[u8; SECRET_BYTES], stream: &[u8; SECRET_BYTES], salt: &[u8; SALT_BYTES]) -> Self {
        let derive = |context| Key::derive(context, [secret, stream, salt]);
        Self { pads: derive(PADS), tag_pads: derive(TAG_PADS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_reads_the_same_words() {
        let key = Key([7; 32]);
        let mut forwards = key.words(3, 1, 200);
        let words: [u32; 200] = core::array::from_fn(|index| forwards.word(index));
        for count in [1, 16, 17, 200] {
            let mut words_again = key.words(3, 1, count);
            for index in (0..200).rev().chain([5, 190, 64, 63, 0, 128]) {
                assert_eq!(words_again.word(index), words[index], "word {index}");
            }
        }
        assert_ne!(key.words(3, 2, 1).word(0), words[0]);
        assert_ne!(key.words(4, 1, 1).word(0), words[0]);
    }

    #[test]
    fn words_are_those_of_rfc_8439() {
        // Section 2.4.2: key 0 … 31, counter 1.
        let key = Key(core::array::from_fn(|index| index as u8));
        // The nonce 00 00 00 00 00 00 00 4a 00 00 00 00.
        let mut words = key.words(0x4a00_0000_0000_0000, 0, 32);
        assert_eq!(words.word(BLOCK_WORDS), 0xf351_4f22);
    }
}
