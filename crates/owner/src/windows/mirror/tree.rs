//! The Merkle tree of a log, of which the leaves are not kept: the roots of its blocks are.

use sotto_wire::{Digest, Frontier};

use crate::error::OwnerError;

/// Height of a block.
const HEIGHT: u32 = 6;
/// Leaves of a block.
pub(crate) const BLOCK: u64 = 1 << HEIGHT;

/// The tree of a log: roots of whole blocks, and the leaves behind them. It grows by 32 bytes a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogTree {
    blocks: Vec<Digest>,
    /// Leaves behind the last whole block, fewer than a block.
    tail: Vec<Digest>,
    tree: Frontier,
}

impl LogTree {
    /// Makes the tree of blocks, and fewer leaves than a block has.
    pub(super) fn of(blocks: Vec<Digest>, tail: Vec<Digest>) -> Option<Self> {
        if tail.len() as u64 >= BLOCK {
            return None;
        }
        let mut tree = Frontier::of_subtrees(HEIGHT, blocks.iter().copied());
        tail.iter().for_each(|leaf| tree.push(*leaf));
        Some(Self { blocks, tail, tree })
    }

    /// Appends a leaf.
    pub(super) fn push(&mut self, leaf: Digest) {
        self.tree.push(leaf);
        self.tail.push(leaf);
        if self.tail.len() as u64 == BLOCK {
            self.blocks.push(Frontier::of(self.tail.drain(..)).root());
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.tree.size()
    }

    pub(crate) fn root(&self) -> Digest {
        self.tree.root()
    }

    pub(super) fn blocks(&self) -> &[Digest] {
        &self.blocks
    }

    pub(crate) fn tail(&self) -> &[Digest] {
        &self.tail
    }

    /// Returns the leaves of a block that are kept: those behind the last whole block.
    pub(crate) fn kept(&self, block: u64) -> Option<&[Digest]> {
        (block == self.blocks.len() as u64).then_some(&self.tail)
    }

    /// Returns true if leaves are those of a whole block.
    pub(crate) fn is_block(&self, block: u64, leaves: &[Digest]) -> bool {
        let root = usize::try_from(block).ok().and_then(|block| self.blocks.get(block));
        root.is_some_and(|root| {
            leaves.len() as u64 == BLOCK && Frontier::of(leaves.iter().copied()).root() == *root
        })
    }

    /// Returns the root of the first leaves; None if there are fewer. `leaves` gives those of a whole block, unless all are of
    /// whole blocks.
    pub(super) fn root_of(
        &self,
        size: u64,
        leaves: impl FnOnce(u64) -> Result<Vec<Digest>, OwnerError>,
    ) -> Result<Option<Digest>, OwnerError> {
        Ok(self.first(size, leaves)?.map(|tree| tree.root()))
    }

    /// Returns the tree of the first leaves.
    pub(super) fn first(
        &self,
        size: u64,
        leaves: impl FnOnce(u64) -> Result<Vec<Digest>, OwnerError>,
    ) -> Result<Option<Self>, OwnerError> {
        if size > self.size() {
            return Ok(None);
        }
        let (block, rest) = (size / BLOCK, (size % BLOCK) as usize);
        let tail = match (rest, self.kept(block)) {
            (0, _) => Vec::new(),
            (rest, Some(kept)) => kept[..rest].to_vec(),
            (rest, None) => leaves(block)?.into_iter().take(rest).collect(),
        };
        // There are as many whole blocks, as the size is not above the tree's.
        Ok(Self::of(self.blocks[..block as usize].to_vec(), tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(count: u64) -> Vec<Digest> {
        (0..count).map(|at| *blake3::hash(&at.to_le_bytes()).as_bytes()).collect()
    }

    #[test]
    fn roots_are_those_of_all_leaves() {
        let all = leaves(3 * BLOCK + 17);
        let mut tree = LogTree::default();
        for (size, leaf) in (0..).zip(&all) {
            assert_eq!(
                (tree.size(), tree.root()),
                (size, Frontier::of(all[..size as usize].iter().copied()).root())
            );
            let again = LogTree::of(tree.blocks.clone(), tree.tail.clone());
            assert_eq!(again.as_ref(), Some(&tree));
            tree.push(*leaf);
        }
        let block = |block: u64| {
            let leaves = all[(block * BLOCK) as usize..][..BLOCK as usize].to_vec();
            assert!(tree.is_block(block, &leaves) && !tree.is_block(block + 1, &leaves));
            Ok(leaves)
        };
        for size in 0..=all.len() as u64 {
            let root = Frontier::of(all[..size as usize].iter().copied()).root();
            assert_eq!(tree.root_of(size, block).unwrap(), Some(root), "{size}");
        }
        assert_eq!(tree.root_of(tree.size() + 1, block).unwrap(), None);
        assert_eq!(LogTree::of(Vec::new(), leaves(BLOCK)), None);
    }
}
