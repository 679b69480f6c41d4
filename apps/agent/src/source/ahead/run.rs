//! Rows that were read ahead, in little memory.

use std::collections::VecDeque;

use sotto_pack::Reason;
use zeroize::Zeroizing;

use super::Read;
use crate::source::Row;

/// Rows of a block. Blocks are made with all their room: a vector that grows leaves a copy behind.
const BLOCK: usize = 1024;

/// Rows of one file in the order of reading: 16 bytes each, and 9 for each channel.
#[derive(Default)]
pub(super) struct Run {
    file: usize,
    channels: usize,
    blocks: VecDeque<Block>,
    /// Number of rows of the first block that were taken.
    taken: usize,
    len: usize,
}

#[derive(Default)]
struct Block {
    /// The time of each row, and its line; 0 for none.
    rows: Vec<(i64, u64)>,
    /// The values of all rows, NaN for missing ones.
    values: Zeroizing<Vec<f64>>,
    missing: Vec<Option<Reason>>,
}

impl Run {
    /// Returns the bytes that a row takes.
    pub(super) fn bytes_a_row(channels: usize) -> usize {
        size_of::<(i64, u64)>() + channels * (size_of::<f64>() + size_of::<Option<Reason>>())
    }

    /// Makes a run of its first row.
    pub(super) fn of(first: &Read) -> Self {
        let mut run = Self { file: first.file, channels: first.row.values.len(), ..Self::default() };
        run.push(first);
        run
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a row, which has as many values as the first one.
    pub(super) fn push(&mut self, read: &Read) {
        if self.blocks.back().is_none_or(|block| block.rows.len() == BLOCK) {
            self.blocks.push_back(Block {
                rows: Vec::with_capacity(BLOCK),
                values: Zeroizing::new(Vec::with_capacity(BLOCK * self.channels)),
                missing: Vec::with_capacity(BLOCK * self.channels),
            });
        }
        let Some(block) = self.blocks.back_mut() else { return };
        let Read { row, line, .. } = read;
        block.rows.push((row.at, line.unwrap_or_default()));
        for channel in 0..self.channels {
            block.values.push(row.values.get(channel).copied().flatten().unwrap_or(f64::NAN));
            block.missing.push(row.missing.get(channel).copied().flatten());
        }
        self.len += 1;
    }

    /// Iterates over the lines of the rows.
    pub(super) fn lines(&self) -> impl Iterator<Item = Option<u64>> {
        let rows = self.blocks.iter().flat_map(|block| &block.rows).skip(self.taken);
        rows.map(|(_, line)| (*line > 0).then_some(*line))
    }

    /// Returns the number of the file.
    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// Takes the first row out.
    pub(super) fn pop(&mut self) -> Option<Read> {
        let block = self.blocks.front()?;
        let (at, line) = *block.rows.get(self.taken)?;
        let cells = self.taken * self.channels..(self.taken + 1) * self.channels;
        let values = block.values.get(cells.clone())?.iter();
        let values = values.map(|value| Some(*value).filter(|value| value.is_finite())).collect();
        let missing = block.missing.get(cells)?.to_vec();
        (self.taken, self.len) = (self.taken + 1, self.len - 1);
        if self.taken == block.rows.len() {
            self.blocks.pop_front();
            self.taken = 0;
        }
        let row = Row { at, values: Zeroizing::new(values), missing };
        Some(Read { row, line: (line > 0).then_some(line), file: self.file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were() {
        let read = |number: u64| {
            let mut row = Row::new(number as i64 - 9, vec![Some(number as f64), None, Some(f64::NAN)]);
            // A row that is not about a channel.
            row.missing[1] = Some(Reason::Text).filter(|_| number.is_multiple_of(2));
            Read { row, line: Some(number + 1).filter(|line| line % 3 > 0), file: 2 }
        };
        let count = 2 * BLOCK as u64 + 7;
        let mut run = Run::of(&read(0));
        (1..count).for_each(|number| run.push(&read(number)));
        assert!(run.lines().eq((0..count).map(|number| read(number).line)));
        for number in 0..count {
            assert_eq!(run.len() as u64, count - number);
            let (found, expected) = (run.pop().unwrap(), read(number));
            assert_eq!((found.row, found.line, found.file), (expected.row, expected.line, expected.file));
        }
        assert!(run.is_empty() && run.pop().is_none());
    }
}
