//! The operations that streams need beyond [`Lanes`].

use crate::vectors::lanes::Lanes;

/// Lanes with byte permutations inside 16 bytes, comparisons and counts.
pub(in crate::vectors) trait StreamLanes: Lanes {
    /// Loads for each start two lanes: of the 16 bytes from there on, each lane's eight, selected by indices below 16.
    fn spread(self, bytes: &[u8; 64], starts: &[u8], places: Self::Words) -> Self::Words;
    /// Shifts right by a different count in each lane. Range: counts < 64.
    fn shift_right_by(self, x: Self::Words, counts: Self::Words) -> Self::Words;
    /// Returns all ones where x ≥ limit (unsigned), else zero.
    fn reached(self, x: Self::Words, limit: Self::Words) -> Self::Words;
    /// Returns the number of set bits of each lane.
    fn ones(self, x: Self::Words) -> Self::Words;
    /// Returns true if any lane is not zero.
    fn any(self, x: Self::Words) -> bool;
}

/// Blocks of AES-128, BYTES/16 of them in a register.
pub(in crate::vectors) trait Aes<const BYTES: usize>: Copy {
    type Block: Copy;
    /// Loads the same block into every position.
    fn load(self, bytes: &[u8; 16]) -> Self::Block;
    /// Returns zeros with the number of each block in its last 32-bit word.
    fn numbers(self) -> Self::Block;
    fn store(self, bytes: &mut [u8; BYTES], block: Self::Block);
    /// Adds 32-bit words in native byte order.
    fn add(self, x: Self::Block, y: Self::Block) -> Self::Block;
    /// Reverses the bytes of each 32-bit word.
    fn turned(self, x: Self::Block) -> Self::Block;
    /// Encrypts by FIPS 197, with expanded keys.
    fn encrypt(self, keys: &[Self::Block; 11], states: &mut [Self::Block; FLIGHT]);
}

/// Registers in flight: the latency of a round times its throughput.
pub(in crate::vectors) const FLIGHT: usize = 8;
