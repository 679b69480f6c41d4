//! Merkle trees of RFC 9162, section 2.1, with BLAKE3: `leaf = H(0 ‖ entry)`, `node = H(1 ‖ left ‖ right)`. The left
//! half of a tree holds the largest power of two below the number of leaves. The root of an empty tree is `H("")`.

use alloc::vec::Vec;

use crate::hash::{Digest, digest, digest_of};

const LEAF: u8 = 0;
const NODE: u8 = 1;

/// Returns the digest of a leaf whose entry is the concatenation of these pieces.
pub(crate) fn leaf_of(pieces: &[&[u8]]) -> Digest {
    digest_of([&[LEAF][..]].into_iter().chain(pieces.iter().copied()))
}

/// Returns the digest of an inner node.
pub(crate) fn node(left: &Digest, right: &Digest) -> Digest {
    digest_of([&[NODE][..], left, right])
}

/// The right edge of a growing Merkle tree. It suffices to append leaves and to compute the root; O(log n) digests for
/// n leaves.
///
/// ```
/// use sotto_wire::{Digest, Frontier};
///
/// let windows: [Digest; 3] = [[1; 32], [2; 32], [3; 32]]; // leaves of signed headers
/// let mut log = Frontier::default();
/// windows.iter().for_each(|leaf| log.push(*leaf));
/// assert_eq!(log.size(), 3);
/// assert_eq!(log.root(), Frontier::of(windows).root());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// Roots of the full subtrees, the largest first: one for each set bit of `size`.
    peaks: Vec<Digest>,
}

impl Frontier {
    /// Builds the tree of these leaves.
    #[must_use]
    pub fn of(leaves: impl IntoIterator<Item = Digest>) -> Self {
        let mut tree = Self::default();
        leaves.into_iter().for_each(|leaf| tree.push(leaf));
        tree
    }

    /// Builds the tree of full subtrees of 2^`height` leaves, by their roots.
    ///
    /// ```
    /// use sotto_wire::{Digest, Frontier};
    ///
    /// let leaves: [Digest; 4] = [[1; 32], [2; 32], [3; 32], [4; 32]];
    /// let halves = leaves.chunks(2).map(|half| Frontier::of(half.iter().copied()).root());
    /// assert_eq!(Frontier::of_subtrees(1, halves), Frontier::of(leaves));
    /// ```
    #[must_use]
    pub fn of_subtrees(height: u32, roots: impl IntoIterator<Item = Digest>) -> Self {
        let Self { size, peaks } = Self::of(roots);
        Self { size: size << height, peaks }
    }

    /// Appends a leaf.
    pub fn push(&mut self, leaf: Digest) {
        let mut top = leaf;
        for _ in 0..self.size.trailing_ones() {
            // Never None: there is one peak for each set bit.
            if let Some(left) = self.peaks.pop() {
                top = node(&left, &top);
            }
        }
        self.peaks.push(top);
        self.size += 1;
    }

    /// Returns the roots of the full subtrees, the largest first: one for each set bit of the size.
    #[must_use]
    pub fn peaks(&self) -> &[Digest] {
        &self.peaks
    }

    /// Returns the tree with this size and these peaks. Returns None unless there is one for each set bit of the size.
    #[must_use]
    pub fn from_peaks(size: u64, peaks: Vec<Digest>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Self { size, peaks })
    }

    /// Returns the number of leaves.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hash of the whole tree; for no leaf, that of no bytes.
    #[must_use]
    pub fn root(&self) -> Digest {
        let mut peaks = self.peaks.iter().rev();
        let Some(last) = peaks.next() else { return digest(&[]) };
        peaks.fold(*last, |right, left| node(left, &right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the root by the definition in RFC 9162, section 2.1.1.
    fn by_definition(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => digest(&[]),
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                node(&by_definition(left), &by_definition(right))
            }
        }
    }

    #[test]
    fn the_frontier_has_the_root_of_the_definition() {
        let leaves: Vec<Digest> = (0..130).map(|at| leaf_of(&[&[at as u8], b"entry"])).collect();
        let mut tree = Frontier::default();
        for size in 0..=leaves.len() {
            assert_eq!(tree.root(), by_definition(&leaves[..size]), "{size} leaves");
            assert_eq!((tree.size(), tree.peaks.len() as u32), (size as u64, size.count_ones()));
            if let Some(leaf) = leaves.get(size) {
                tree.push(*leaf);
            }
        }
    }

    #[test]
    fn a_tree_of_subtrees_is_that_of_its_leaves() {
        let leaves: Vec<Digest> = (0..70_u8).map(|at| leaf_of(&[&[at]])).collect();
        for height in 0..4 {
            for count in 0..=leaves.len() >> height {
                let part = &leaves[..count << height];
                let roots = part.chunks(1 << height).map(|part| Frontier::of(part.iter().copied()).root());
                let mut tree = Frontier::of_subtrees(height, roots);
                assert_eq!(tree, Frontier::of(part.iter().copied()), "{count} of 2^{height}");
                leaves[count << height..].iter().for_each(|leaf| tree.push(*leaf));
                assert_eq!(tree.root(), by_definition(&leaves), "{count} of 2^{height}");
            }
        }
    }

    #[test]
    fn leaves_nodes_and_the_empty_tree_differ() {
        let (left, right) = ([1; 32], [2; 32]);
        assert_ne!(leaf_of(&[&left, &right]), node(&left, &right));
        assert_ne!(Frontier::default().root(), Frontier::of([leaf_of(&[])]).root());
    }
}
