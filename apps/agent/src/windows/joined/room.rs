//! Room for readings that wait for their window.

use std::collections::BTreeSet;

use super::pass::Pass;
use super::{JoinedWindows, pending};

/// Readings for windows that were taken already in this pass: beyond this many windows, rows are out of order.
const MOST_AGAIN: usize = 64;

impl JoinedWindows {
    /// Takes windows out of memory: the oldest are made; if rows are out of order, the newest are left for the next pass.
    pub(super) fn make_room(&mut self) {
        let (most, part) = (self.rules.reports, self.rules.reports / 8);
        let is_shuffled = || self.pass.again.len() > MOST_AGAIN.min(part) || self.pending.are_scattered();
        if !self.rules.paced && (self.pass.is_shuffled || is_shuffled()) {
            self.pass.is_shuffled = true;
            if let Some((start, left_out)) = self.pending.drop_newest(most - part) {
                self.pass.to = start;
                pending::merge(&mut self.maker.left_out, &left_out);
            }
            return;
        }
        let windows = self.pending.take_oldest(most / 2);
        let end = windows.last_key_value().map_or(i64::MIN, |(_, window)| window.end);
        let oldest = self.pending.oldest();
        if !self.rules.paced {
            let cells = self.pass.cells;
            self.pass.taken.extend(windows.iter().map(|(start, window)| (*start, (window.end, cells))));
        }
        self.begin(windows, oldest.unwrap_or(i64::MIN), Some(oldest.unwrap_or(end)));
    }

    /// Lets further readings wait for their window.
    pub(in crate::windows) fn give(&mut self, reports: usize) {
        self.rules.reports = self.rules.reports.saturating_add(reports);
    }

    /// Ends a pass over the source. Returns true if the source has to be read again.
    pub(in crate::windows) fn end_pass(&mut self) -> bool {
        if self.pass.to == i64::MAX {
            self.finish(true);
            return false;
        }
        let (from, windows) = (self.pass.to, self.pending.take_before(i64::MAX));
        self.begin(windows, from, Some(from));
        let (taken, again) = (self.pass.taken.split_off(&from), BTreeSet::new());
        self.pass = Pass { from, to: i64::MAX, is_first: false, cells: 0, taken, again, ..self.pass };
        true
    }
}
