//! The compression function of BLAKE3 in 16 lanes, and keys derived by it.
//!
//! Section numbers are those of the paper: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, "BLAKE3: one function, fast
//! everywhere", 2021.

use super::{BlockLanes, LANES, Streams};
use crate::wiped::wipe;

/// Eight words in 16 lanes, `value[word][lane]`: chaining values, or keys.
///
/// Example: [`Blake3Kernel`]
pub type ValueLanes = [[u32; LANES]; 8];

/// `(values, block, bytes, flags)`, see [`Streams::blake3`](crate::Streams::blake3).
///
/// ```
/// use sotto_kernels::{Blake3Kernel, Target, ValueLanes};
///
/// let start = [
///     0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
/// ];
/// let mut values: ValueLanes = start.map(|word| [word; 16]);
/// let blake3: Blake3Kernel = Target::best().streams.blake3;
/// // An empty block, which is the first and the last of a chunk, and the root: flags 1, 2 and 8.
/// blake3(&mut values, &[[0; 16]; 16], 0, 1 | 2 | 8);
/// // BLAKE3 of the empty string.
/// assert_eq!(values[0], [u32::from_le_bytes([0xaf, 0x13, 0x49, 0xb9]); 16]);
/// ```
pub type Blake3Kernel = fn(&mut ValueLanes, &BlockLanes, u32, u32);

/// The first words of the second half of a state (section 2.2, table 1).
pub(crate) const CONSTANTS: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];
/// Message words of the next round, by their places in this one (section 2.2, table 2).
const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
/// Message words of each round, by their places in the block.
pub(crate) const ORDERS: [[usize; 16]; 7] = orders();

const fn orders() -> [[usize; 16]; 7] {
    let mut orders = [[0; 16]; 7];
    let mut round = 0;
    while round < 7 {
        let mut at = 0;
        while at < 16 {
            orders[round][at] = if round == 0 { at } else { orders[round - 1][PERMUTATION[at]] };
            at += 1;
        }
        round += 1;
    }
    orders
}

/// Runs a round: calls `$quarter` with the columns' and the diagonals' words, and two message words for each. Written out,
/// as indices of a loop would keep the words out of registers.
macro_rules! round {
    ($order:expr, $quarter:expr) => {{
        let order: [usize; 16] = $order;
        $quarter([0, 4, 8, 12], order[0], order[1]);
        $quarter([1, 5, 9, 13], order[2], order[3]);
        $quarter([2, 6, 10, 14], order[4], order[5]);
        $quarter([3, 7, 11, 15], order[6], order[7]);
        $quarter([0, 5, 10, 15], order[8], order[9]);
        $quarter([1, 6, 11, 12], order[10], order[11]);
        $quarter([2, 7, 8, 13], order[12], order[13]);
        $quarter([3, 4, 9, 14], order[14], order[15]);
    }};
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use round;

/// Plain arrays, which compilers turn into vector instructions of the oldest processor that they compile for.
pub(super) fn blake3(values: &mut ValueLanes, block: &BlockLanes, bytes: u32, flags: u32) {
    let mut v: BlockLanes = [[0; LANES]; 16];
    let start = CONSTANTS.into_iter().chain([0, 0, bytes, flags]).map(|word| [word; LANES]);
    for (word, start) in v.iter_mut().zip(values.iter().copied().chain(start)) {
        *word = start;
    }
    for order in ORDERS {
        round!(order, |at, x: usize, y: usize| quarter(&mut v, at, &block[x], &block[y]));
    }
    let (low, high) = v.as_flattened().split_at(8 * LANES);
    for (value, (low, high)) in values.as_flattened_mut().iter_mut().zip(low.iter().zip(high)) {
        *value = low ^ high;
    }
    wipe(v.as_flattened_mut());
}

/// The function G of section 2.2.
#[inline(always)]
fn quarter(v: &mut BlockLanes, at: [usize; 4], x: &[u32; LANES], y: &[u32; LANES]) {
    // The indices differ, and are below the words of a block.
    let Ok([a, b, c, d]) = v.get_disjoint_mut(at) else { return };
    for lane in 0..LANES {
        let (mut p, mut q, mut r, mut s) = (a[lane], b[lane], c[lane], d[lane]);
        p = p.wrapping_add(q).wrapping_add(x[lane]);
        s = (s ^ p).rotate_right(16);
        r = r.wrapping_add(s);
        q = (q ^ r).rotate_right(12);
        p = p.wrapping_add(q).wrapping_add(y[lane]);
        s = (s ^ p).rotate_right(8);
        r = r.wrapping_add(s);
        q = (q ^ r).rotate_right(7);
        (a[lane], b[lane], c[lane], d[lane]) = (p, q, r, s);
    }
}

/// Flags of a block (section 2.2, table 3).
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const ROOT: u32 = 8;
const DERIVE_KEY_MATERIAL: u32 = 64;

impl Streams {
    /// Derives a key of 32 bytes in each of 16 lanes: BLAKE3 in its mode for deriving keys (section 2.3).
    ///
    /// `context` is the hash of the context string, by which the mode begins. `material` has 1 to 16 blocks, one chunk, as
    /// little-endian words; `bytes` of the last block are material, the rest of it is zeros. Range: bytes ≤ 64, and not 0 if
    /// there are several blocks. The keys are little-endian words; the caller wipes them.
    ///
    /// ```
    /// use sotto_kernels::Target;
    ///
    /// // The material is 76 bytes: two blocks, of which the second has 12.
    /// let material = [[[0x0101_0101; 16]; 16], [[0; 16]; 16]];
    /// let context = blake3::hazmat::hash_derive_key_context("example 2026 keys v1");
    /// let mut keys = [[0; 16]; 8];
    /// Target::best().streams.derive_keys(&context, &material, 12, &mut keys);
    ///
    /// let mut bytes = [1; 76];
    /// bytes[64..].fill(0);
    /// let expected = blake3::derive_key("example 2026 keys v1", &bytes);
    /// assert_eq!(keys[0], [u32::from_le_bytes(*expected.first_chunk().unwrap()); 16]);
    /// ```
    pub fn derive_keys(
        &self,
        context: &[u8; 32],
        material: &[BlockLanes],
        bytes: u32,
        keys: &mut ValueLanes,
    ) {
        debug_assert!((1..=16).contains(&material.len()), "a chunk has 1 to 16 blocks");
        debug_assert!(bytes <= 64 && (bytes > 0 || material.len() == 1), "bytes of the last block");
        for (word, start) in keys.iter_mut().zip(context.as_chunks().0) {
            *word = [u32::from_le_bytes(*start); LANES];
        }
        let mut start = CHUNK_START;
        if let Some((end, blocks)) = material.split_last() {
            for block in blocks {
                (self.blake3)(keys, block, 64, DERIVE_KEY_MATERIAL | start);
                start = 0;
            }
            (self.blake3)(keys, end, bytes, DERIVE_KEY_MATERIAL | start | CHUNK_END | ROOT);
        }
    }
}
