//! Which open windows have pieces.

use std::collections::BTreeMap;

use super::timeline::Timeline;
use super::values::Part;

/// The windows of which this run has sent pieces: by their start, where the first piece begins, and their end.
///
/// The pieces of a run that was killed stand, as windows of their own.
#[derive(Debug, Default)]
pub(super) struct OpenPieces(BTreeMap<i64, (i64, i64)>);

impl OpenPieces {
    /// Returns true if a part is the last one before the end of the piece that is made, and notes it.
    pub(super) fn begin(&mut self, timeline: &Timeline, part: Part) -> bool {
        if part.until != timeline.most {
            return false;
        }
        let window = timeline.window(part.start);
        self.0.entry(window.start).or_insert((part.start, window.until));
        true
    }

    /// Returns true if a kept window that starts at this time is a piece.
    pub(super) fn has(&self, start: i64) -> bool {
        let window = self.0.range(..=start).next_back().map(|(_, times)| *times);
        window.is_some_and(|(from, until)| (from..until).contains(&start))
    }

    /// Returns the starts of the windows that end by a time.
    pub(super) fn over(&self, at: i64) -> Vec<i64> {
        self.0.iter().filter(|(_, (_, until))| *until <= at).map(|(start, _)| *start).collect()
    }

    /// Returns the end of the last window.
    pub(super) fn end(&self) -> Option<i64> {
        self.0.last_key_value().map(|(_, (_, until))| *until)
    }

    /// Takes the window that starts at this time out. Returns the start of its first piece.
    pub(super) fn take(&mut self, start: i64) -> Option<i64> {
        self.0.remove(&start).map(|(from, _)| from)
    }
}
