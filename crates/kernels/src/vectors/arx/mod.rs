//! ChaCha20 and BLAKE3 in lanes of 32 bits: a register for each word of the state.
//!
//! Both are additions, rotations and exclusive ors (ARX), without a branch, a table or a product.

mod blake3;
mod chacha;

pub(in crate::vectors) use blake3::blake3;
pub(in crate::vectors) use chacha::chacha20;

/// Registers of `COUNT` lanes of 32 bits: 4, 8 or 16.
pub(in crate::vectors) trait Arx<const COUNT: usize>: Copy {
    /// A word in each lane.
    type Word: Copy;
    fn load(self, lanes: &[u32; COUNT]) -> Self::Word;
    fn store(self, lanes: &mut [u32; COUNT], x: Self::Word);
    fn all(self, word: u32) -> Self::Word;
    /// Adds modulo 2^32.
    fn add(self, x: Self::Word, y: Self::Word) -> Self::Word;
    /// Returns the exclusive or.
    fn differ(self, x: Self::Word, y: Self::Word) -> Self::Word;
    /// Rotates right by RIGHT bits, which is left by LEFT. Range: both above 0, and their sum is 32.
    fn rotate<const RIGHT: i32, const LEFT: i32>(self, x: Self::Word) -> Self::Word;
}
