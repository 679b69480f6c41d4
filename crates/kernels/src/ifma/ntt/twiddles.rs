//! Twiddle factors in the order in which the passes read them, block after block: value and floor(value·2^52/q), or
//! that quotient alone.

use alloc::vec::Vec;

use crate::ifma::lanes::{BITS, Constant, Line, Pair, detected};
use crate::modulus::{Factor, Modulus};

/// Values of one block, on which the last six layers of the forward transform and the first six of the inverse
/// transform run.
pub(super) const BLOCK: usize = 64;

/// The factors of one block of 64 values, on its own cache lines. Per-lane factors are most of a table, and the table
/// exceeds the caches at large degrees, so only their quotients are stored; the values are computed from these.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Block {
    /// Per lane, floor(value·2^52/q): one vector for the layer of distance 4, two for distance 2 and four for distance
    /// 1.
    pub(super) lanes: [Line; 7],
    /// Per register: one for the layer of distance 32, two for distance 16 and four for distance 8.
    pub(super) registers: [Pair; 7],
}

/// The factors of one direction.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    /// For the layers above the blocks, in bit-reversed order; entry 0 is unused.
    pub(super) outer: Vec<Pair>,
    pub(super) blocks: Vec<Block>,
}

/// The factors of one prime and degree.
#[derive(Clone, Debug)]
pub(crate) struct LaneTwiddles {
    pub(super) forward: Direction,
    pub(super) inverse: Direction,
}

impl LaneTwiddles {
    /// Takes the twiddle factors in bit-reversed order. Returns None if this target does not run, the prime is out of
    /// its range, or there are fewer than two blocks.
    pub(crate) fn new(modulus: &Modulus, forward: &[Factor], inverse: &[Factor]) -> Option<Self> {
        let fits = detected() && BITS.contains(&modulus.bits()) && forward.len() >= 2 * BLOCK;
        fits.then(|| Self { forward: Direction::new(forward), inverse: Direction::new(inverse) })
    }
}

impl Direction {
    fn new(factors: &[Factor]) -> Self {
        let blocks = factors.len() / BLOCK;
        let pairs: Vec<Pair> = factors.iter().map(|f| Pair::from(*f)).collect();
        Self { blocks: (0..blocks).map(|b| Block::new(&pairs, b)).collect(), outer: pairs[..blocks].to_vec() }
    }
}

impl Block {
    fn new(pairs: &[Pair], block: usize) -> Self {
        let degree = pairs.len();
        let lines =
            |first: usize, step: usize| core::array::from_fn(|lane| pairs[first + step * lane].quotient);
        let lanes = |k: usize| match k {
            0 => lines(degree / 8 + 8 * block, 1),
            1 | 2 => lines(degree / 4 + 16 * block + k - 1, 2),
            _ => lines(degree / 2 + 32 * block + k - 3, 4),
        };
        let registers = |k: usize| {
            let at = degree / BLOCK + block;
            match k {
                0 => pairs[at],
                1 | 2 => pairs[2 * at + k - 1],
                _ => pairs[4 * at + k - 3],
            }
        };
        Self { lanes: core::array::from_fn(lanes), registers: core::array::from_fn(registers) }
    }
}

/// Returns the factors of log2(WAYS) layers, where entry `at` belongs to the first. Group g in the layer of 2^l groups
/// is number 2^l − 1 + g.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn of_pass<const WAYS: usize>(outer: &[Pair], at: usize) -> [Constant; 8] {
    let mut twiddles = [Constant::all(outer[at]); 8];
    let mut groups = 1;
    while groups < WAYS {
        for group in 0..groups {
            twiddles[groups - 1 + group] = Constant::all(outer[groups * at + group]);
        }
        groups *= 2;
    }
    twiddles
}
