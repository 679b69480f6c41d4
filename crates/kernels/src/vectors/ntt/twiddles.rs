//! Twiddle factors in the order in which the passes read them.

use alloc::vec::Vec;

use aligned_vec::{AVec, ConstAlign};

use crate::modulus::{Factor, Modulus};
use crate::once::Once;
use crate::vectors::arithmetic::Pair;

/// The twiddle factors for two, four and eight lanes, computed at first use. The prime decides the kind of arithmetic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prepared(pub(crate) [Once<Twiddles>; 3]);

/// The factors of one prime and degree, for one number of lanes.
#[derive(Clone, Debug)]
pub(crate) struct Twiddles {
    pub(crate) forward: Direction,
    pub(crate) inverse: Direction,
}

/// The factors of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// For the layers above the blocks, in bit-reversed order; entry 0 is unused.
    pub(crate) outer: Vec<Pair>,
    /// One block after another. A block has eight pairs for its registers (seven are used), then its groups of
    /// registers. Each layer of a group has one vector of values and one of quotients for each butterfly.
    pub(crate) blocks: AVec<u64, ConstAlign<64>>,
}

/// Returns the number of words of a block in [`Direction::blocks`].
pub(crate) const fn block_words(lanes: usize) -> usize {
    16 + 8 / lanes * group_words(lanes)
}

/// Returns the number of those words for one group of registers.
pub(crate) const fn group_words(lanes: usize) -> usize {
    2 * lanes * (lanes - 1)
}

impl Twiddles {
    /// Takes the factors in bit-reversed order, and the function that prepares one for storage.
    pub(crate) fn new(
        modulus: &Modulus,
        [forward, inverse]: [&[Factor]; 2],
        lanes: usize,
        pair: fn(&Modulus, u64) -> Pair,
    ) -> Self {
        let direction = |factors: &[Factor]| {
            let pairs: Vec<Pair> = factors.iter().map(|factor| pair(modulus, factor.value)).collect();
            Direction::new(&pairs, lanes)
        };
        Self { forward: direction(forward), inverse: direction(inverse) }
    }
}

impl Direction {
    fn new(pairs: &[Pair], lanes: usize) -> Self {
        let blocks = pairs.len() / (8 * lanes);
        let mut words = AVec::with_capacity(64, blocks * block_words(lanes));
        for block in 0..blocks {
            let at = blocks + block;
            let registers = [at, 2 * at, 2 * at + 1, 4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3, 0];
            registers.iter().for_each(|at| words.extend_from_slice(&pairs[*at]));
            for group in 0..8 / lanes {
                // Each lane of a group is one of `lanes` parts of equal length, with its own tree of factors.
                let first = 8 * at + lanes * group;
                for node in 1..lanes {
                    // Node 2^l + i is number i in the layer of 2^l nodes.
                    let (nodes, node) = (1 << node.ilog2(), node - (1 << node.ilog2()));
                    let of_lane = |lane: usize| pairs[(first + lane) * nodes + node];
                    (0..lanes).for_each(|lane| words.push(of_lane(lane)[0]));
                    (0..lanes).for_each(|lane| words.push(of_lane(lane)[1]));
                }
            }
        }
        Self { outer: pairs[..blocks].to_vec(), blocks: words }
    }
}
