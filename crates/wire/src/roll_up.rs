//! Orders to add windows up: their sums stay, their bodies go.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::hash::Digest;
use crate::position_runs::{MOST_RUNS, parse_runs, write_runs};
use crate::reader::{Reader, write_name, write_varint};

/// Windows of a stream of which the cloud keeps the sum of each group, and no bodies.
///
/// Example: [`Order`](crate::Order)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollUp {
    /// The stream's name.
    pub stream: String,
    /// Number of windows that its log had.
    pub size: u64,
    /// The root of the log's Merkle tree.
    pub root: Digest,
    /// Groups of at least two windows: runs of positions in the log, each from the first one to the one behind the last,
    /// ascending and apart from each other. No window is in two groups; all together have at most [`MOST_RUNS`] runs.
    pub groups: Vec<Vec<(u64, u64)>>,
}

const WRONG_GROUPS: WireError = WireError::Value(
    "the groups of an order have two windows at least, no window twice, and at most 2048 runs together",
);

/// Returns the number of windows of runs.
fn windows<'r>(runs: impl IntoIterator<Item = &'r (u64, u64)>) -> u64 {
    runs.into_iter().fold(0, |sum, (from, to)| sum.saturating_add(to.saturating_sub(*from)))
}

impl RollUp {
    /// Returns the number of windows.
    #[must_use]
    pub fn windows(&self) -> u64 {
        windows(self.groups.iter().flatten())
    }

    /// Returns an error unless each group has two windows, and no window is in two.
    fn check(&self) -> Result<(), WireError> {
        let mut runs: Vec<(u64, u64)> = self.groups.iter().flatten().copied().collect();
        runs.sort_unstable();
        let is_apart = runs.is_sorted_by(|(_, end), (from, _)| end <= from);
        let is_right =
            is_apart && runs.len() <= MOST_RUNS && self.groups.iter().all(|group| windows(group) > 1);
        if is_right { Ok(()) } else { Err(WRONG_GROUPS) }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        self.check()?;
        write_name(out, &self.stream)?;
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.root);
        out.extend_from_slice(&(self.groups.len() as u16).to_le_bytes());
        for group in &self.groups {
            write_varint(out, group.len() as u64);
            write_runs(out, group, self.size)?;
        }
        Ok(())
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (stream, size, root) = (reader.name()?, reader.u64()?, reader.array()?);
        let count = usize::from(reader.u16()?);
        // A group takes three bytes at least.
        let mut groups = Vec::with_capacity(count.min(reader.left() / 3));
        for _ in 0..count {
            let runs = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
            groups.push(parse_runs(reader, runs, size)?);
        }
        let read = Self { stream, size, root, groups };
        read.check()?;
        Ok(read)
    }
}
