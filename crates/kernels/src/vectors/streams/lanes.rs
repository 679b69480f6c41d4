//! What streams need beyond [`Lanes`].

use crate::vectors::lanes::Lanes;

/// Lanes with byte permutations inside 16 bytes, comparisons and counts.
pub(in crate::vectors) trait StreamLanes: Lanes {
    /// Two lanes a start: the 16 bytes from there on, each lane's eight chosen by places below 16.
    fn spread(self, bytes: &[u8; 64], starts: &[u8], places: Self::Words) -> Self::Words;
    /// By another count in each lane, below 64.
    fn shift_right_by(self, x: Self::Words, counts: Self::Words) -> Self::Words;
    /// All ones where x ≥ limit, of any words; else zero.
    fn reached(self, x: Self::Words, limit: Self::Words) -> Self::Words;
    /// How many bits are set.
    fn ones(self, x: Self::Words) -> Self::Words;
    /// Whether any lane is not zero.
    fn any(self, x: Self::Words) -> bool;
}

/// Blocks of AES-128, as many in a register as it has times 16 bytes.
pub(in crate::vectors) trait Aes<const BYTES: usize>: Copy {
    type Block: Copy;
    /// The same block everywhere.
    fn load(self, bytes: &[u8; 16]) -> Self::Block;
    /// Zero, but the number of each block in its last 32-bit word.
    fn numbers(self) -> Self::Block;
    fn store(self, bytes: &mut [u8; BYTES], block: Self::Block);
    /// 32-bit words in the machine's order.
    fn add(self, x: Self::Block, y: Self::Block) -> Self::Block;
    /// The bytes of each 32-bit word in the other order.
    fn turned(self, x: Self::Block) -> Self::Block;
    /// FIPS 197, with expanded keys.
    fn encrypt(self, keys: &[Self::Block; 11], states: &mut [Self::Block; FLIGHT]);
}

/// Registers in flight: the latency of a round times its throughput.
pub(in crate::vectors) const FLIGHT: usize = 8;
