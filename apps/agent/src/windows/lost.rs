//! Readings that are lost: finite values with a valid time that end in no window.

use std::collections::BTreeSet;

use serde::Serialize;
use sotto_pack::Reason;

/// Number of lost readings that are listed.
const LISTED: usize = 5;

/// The place of a row in the files that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RowPlace {
    /// The number of the file, from 0.
    pub file: u16,
    /// The line, from 1; 0 if the source is no file.
    pub line: u32,
}

/// A lost reading.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostReading {
    /// Its row.
    pub row: RowPlace,
    /// Its channel.
    pub channel: String,
    /// The reason.
    pub reason: Reason,
}

/// The first lost readings, in the order of their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstLost(BTreeSet<LostReading>);

impl FirstLost {
    /// Notes a lost reading. The same one again changes nothing.
    pub(crate) fn note(&mut self, row: RowPlace, channel: &str, reason: Reason) {
        if self.0.len() == LISTED && self.0.last().is_some_and(|last| last.row < row) {
            return;
        }
        self.0.insert(LostReading { row, channel: channel.to_owned(), reason });
        if self.0.len() > LISTED {
            self.0.pop_last();
        }
    }

    /// Iterates over the readings.
    pub fn iter(&self) -> impl Iterator<Item = &LostReading> {
        self.0.iter()
    }
}

/// Returns true for a reason for which a reading is lost.
#[must_use]
pub fn is_lost(reason: Reason) -> bool {
    matches!(reason, Reason::OutOfRange | Reason::OffGrid | Reason::Future | Reason::TooLate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_are_listed() {
        let mut first = FirstLost::default();
        for line in [9, 3, 8, 1, 7, 3, 5, 6, 1] {
            first.note(RowPlace { file: 0, line }, "x", Reason::OutOfRange);
        }
        assert_eq!(first.iter().map(|lost| lost.row.line).collect::<Vec<_>>(), [1, 3, 5, 6, 7]);
    }
}
