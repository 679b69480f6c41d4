//! The place of a window in a group: its path in a Merkle tree of the group's windows (RFC 9162, section 2.1, with
//! BLAKE3).

use alloc::vec::Vec;

use crate::error::WireError;
use crate::family::{self, Family};
use crate::hash::Digest;
use crate::merkle::{leaf_of, node};
use crate::reader::Reader;
use crate::stream::StreamHeader;

/// Largest number of windows in a [`WindowGroup`](crate::WindowGroup).
pub const MOST_GROUPED: usize = 64;

/// The place of a window in a group. Together with the window it determines the root that the group's signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    /// The window's index, below `count`.
    index: u8,
    /// Number of windows in the group.
    pub(crate) count: u8,
    /// Sibling digests from the leaf up to the root, the lowest first.
    path: Vec<Digest>,
}

/// Returns true if the bytes start with a group's tag.
#[must_use]
pub fn is_group(message: &[u8]) -> bool {
    family::ALL.iter().any(|family| message.first() == Some(&family.group))
}

impl Membership {
    /// Returns the places of all windows of a group with these leaves, at most [`MOST_GROUPED`].
    pub(crate) fn all(leaves: &[Digest]) -> impl Iterator<Item = Self> {
        let count = leaves.len() as u8;
        (0..count).zip(paths(leaves).1).map(move |(index, path)| Self { index, count, path })
    }

    /// Reads the place of a member of a group of this family. Returns None, and reads nothing, if the bytes start with
    /// another tag.
    pub(crate) fn parse(family: &Family, reader: &mut Reader<'_>) -> Result<Option<Self>, WireError> {
        if reader.rest().first() != Some(&family.member) {
            return Ok(None);
        }
        reader.take(1)?;
        let (index, count) = (reader.u8()?, reader.u8()?);
        if !(2..=MOST_GROUPED).contains(&usize::from(count)) || index >= count {
            return Err(WireError::Value(
                "a group has 2 to 64 windows, a member's index is below their number",
            ));
        }
        let steps = steps(usize::from(index), usize::from(count));
        let path = (0..steps).map(|_| reader.array()).collect::<Result<_, _>>()?;
        Ok(Some(Self { index, count, path }))
    }

    /// Returns the window's index and the number of windows.
    pub(crate) fn at(&self) -> (u8, u8) {
        (self.index, self.count)
    }

    pub(crate) fn bytes(&self, family: &Family) -> Vec<u8> {
        [&[family.member, self.index, self.count][..], self.path.as_flattened()].concat()
    }

    /// Returns index, number of windows and path.
    pub(crate) fn parts(&self) -> (u8, u8, &[Digest]) {
        (self.index, self.count, &self.path)
    }

    /// Returns the root of the group whose member at this place has this leaf.
    pub(crate) fn root(&self, leaf: Digest) -> Digest {
        root_from(leaf, usize::from(self.index), usize::from(self.count), &self.path)
    }
}

/// Advances the reader to the window, or to the first window of a group, and returns true. Returns false for other bytes.
pub(crate) fn skip_to_window(reader: &mut Reader<'_>) -> Result<bool, WireError> {
    let first = reader.rest().first().copied();
    for family in family::ALL {
        if first == Some(family.window) {
            return Ok(true);
        }
        if first == Some(family.group) {
            return reader.take(2).map(|_| true);
        }
        if Membership::parse(family, reader)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the message that a device signs. It covers the stream's header by its hash and all windows by the root of
/// their tree.
pub(crate) fn signed_message(stream: &StreamHeader, count: u8, root: &Digest) -> Vec<u8> {
    [stream.family().together, &stream.id().0, &[count], root].concat()
}

/// Returns the leaf of a window: the digest of its head, as a window alone writes it, its tags, and its body's digest.
pub(crate) fn leaf(head: &[u8], tags: &[u8], body_digest: &Digest) -> Digest {
    leaf_of(&[head, tags, body_digest])
}

/// Returns the number of leaves in the left half of a tree: the largest power of two below `count`, which is at least
/// 2.
fn left_half(count: usize) -> usize {
    count.next_power_of_two() / 2
}

/// Returns the root of a tree with at least one leaf.
pub(crate) fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => [0; 32],
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(left_half(leaves.len()));
            node(&root(left), &root(right))
        }
    }
}

/// Returns the root of a tree with at least one leaf, and for each leaf the digests on its path to the root, the lowest
/// first. Computes each inner node once.
pub(crate) fn paths(leaves: &[Digest]) -> (Digest, Vec<Vec<Digest>>) {
    if let [] | [_] = leaves {
        return (root(leaves), vec![Vec::new(); leaves.len()]);
    }
    let (left, right) = leaves.split_at(left_half(leaves.len()));
    let ((left, mut below), (right, below_right)) = (paths(left), paths(right));
    let middle = below.len();
    below.extend(below_right);
    for (at, path) in below.iter_mut().enumerate() {
        path.push(if at < middle { right } else { left });
    }
    (node(&left, &right), below)
}

/// Returns the number of digests on the path of a leaf.
fn steps(index: usize, count: usize) -> usize {
    if count < 2 {
        return 0;
    }
    let half = left_half(count);
    1 + if index < half { steps(index, half) } else { steps(index - half, count - half) }
}

/// Returns the root of a tree of `count` leaves, from a leaf and its path. The path's length must be [`steps`].
fn root_from(leaf: Digest, index: usize, count: usize, path: &[Digest]) -> Digest {
    let Some((beside, below)) = path.split_last() else { return leaf };
    let half = left_half(count);
    if index < half {
        node(&root_from(leaf, index, half, below), beside)
    } else {
        node(beside, &root_from(leaf, index - half, count - half, below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_leads_to_the_root() {
        let mut least = 8;
        for count in 1..=MOST_GROUPED {
            let leaves: Vec<Digest> = (0..count).map(|at| [at as u8; 32]).collect();
            let (whole, paths) = paths(&leaves);
            assert_eq!(whole, root(&leaves));
            for (index, path) in paths.into_iter().enumerate() {
                assert_eq!(path.len(), steps(index, count), "{index} of {count}");
                assert!(path.len() <= 6);
                assert_eq!(
                    root_from(leaves[index], index, count, &path),
                    root(&leaves),
                    "{index} of {count}"
                );
                // Another leaf or another place gives another root.
                assert_ne!(root_from([0xff; 32], index, count, &path), root(&leaves));
                least = least.min(path.len());
            }
        }
        assert_eq!(least, 0);
    }

    /// The tree of seven leaves drawn in RFC 9162, section 2.1.5.
    #[test]
    fn a_tree_is_that_of_the_standard() {
        let d: Vec<Digest> = (0..7).map(|at| [at; 32]).collect();
        let (g, h, i, j) = (node(&d[0], &d[1]), node(&d[2], &d[3]), node(&d[4], &d[5]), d[6]);
        let (k, l) = (node(&g, &h), node(&i, &j));
        assert_eq!(root(&d), node(&k, &l));
        let (_, paths) = paths(&d);
        assert_eq!(paths[0], [d[1], h, l]);
        assert_eq!(paths[3], [d[2], g, l]);
        assert_eq!(paths[4], [d[5], j, k]);
        assert_eq!(paths[6], [i, k]);
    }

    #[test]
    fn digests_of_leaves_and_nodes_differ() {
        let (left, right) = ([1; 32], [2; 32]);
        assert_ne!(leaf(&left, &[], &right), node(&left, &right));
        assert_eq!(
            leaf(b"head", b"tags", &left),
            *blake3::hash(&[&[0][..], b"head", b"tags", &left].concat()).as_bytes()
        );
        assert_eq!(node(&left, &right), *blake3::hash(&[&[1][..], &left, &right].concat()).as_bytes());
    }
}
