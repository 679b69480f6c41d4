//! Readings of a window, in the order in which they came.

use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::windows::lost::RowPlace;

/// Readings of a block. Blocks of one size leave no holes in memory, and none is copied as the readings grow in number.
const BLOCK: usize = 64;
/// Readings for which the first block has room at first: many windows have few.
const FIRST: usize = 4;

/// A reading of a row: 24 bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Its time on the clock's ticks.
    pub(super) at: i64,
    /// Its number in fixed point.
    pub(super) number: i64,
    pub(super) channel: u16,
    file: u16,
    line: u32,
}

impl Report {
    pub(super) fn new(channel: usize, (at, number): (i64, i64), row: RowPlace) -> Self {
        Self { at, number, channel: channel as u16, file: row.file, line: row.line }
    }

    /// Returns the place of its row.
    pub(super) fn row(&self) -> RowPlace {
        RowPlace { file: self.file, line: self.line }
    }

    /// Returns the key of the order in which readings are merged.
    pub(super) fn order(&self) -> (u16, i64, i64, u16, u32) {
        (self.channel, self.at, self.number, self.file, self.line)
    }
}

impl DefaultIsZeroes for Report {}

/// Readings in the order in which they came. Wiped when dropped.
#[derive(Default)]
pub(super) struct Reports {
    /// All blocks but the last are full.
    blocks: Vec<Zeroizing<Vec<Report>>>,
}

impl Reports {
    pub(super) fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * BLOCK + last.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(super) fn push(&mut self, report: Report) {
        match self.blocks.last_mut() {
            Some(last) if last.len() < last.capacity().min(BLOCK) => last.push(report),
            Some(last) if last.len() < BLOCK => {
                // A vector that grows by itself leaves a copy behind.
                let mut larger = Zeroizing::new(Vec::with_capacity((2 * last.len()).min(BLOCK)));
                larger.extend_from_slice(last);
                larger.push(report);
                *last = larger;
            }
            last => {
                let mut block =
                    Zeroizing::new(Vec::with_capacity(if last.is_none() { FIRST } else { BLOCK }));
                block.push(report);
                self.blocks.push(block);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Report> {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    /// Returns them in the order in which they are merged.
    pub(super) fn in_order(self) -> Zeroizing<Vec<Report>> {
        // With all their room: a vector that grows leaves a copy behind.
        let mut all = Zeroizing::new(Vec::with_capacity(self.len()));
        all.extend(self.iter());
        all.sort_unstable_by_key(Report::order);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_every_reading() {
        let report = |at| Report::new(0, (at, 1), RowPlace::default());
        for count in [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let mut reports = Reports::default();
            (0..count as i64).rev().for_each(|at| reports.push(report(at)));
            assert_eq!((reports.len(), reports.is_empty()), (count, count == 0));
            assert_eq!(
                reports.iter().map(|report| report.at).max(),
                count.checked_sub(1).map(|at| at as i64)
            );
            let all = reports.in_order();
            assert!(all.iter().map(|report| report.at).eq(0..count as i64));
        }
    }
}
