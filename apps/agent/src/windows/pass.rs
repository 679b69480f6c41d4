//! One pass over a file: which windows it fills, and which are left for the next one.

use std::collections::BTreeMap;

use super::open::OpenWindow;

/// Maximum number of windows open at once, for rows that ascend in time.
pub(super) const MOST_ASCENDING: usize = 64;

/// A pass over a source that can be read again.
///
/// A pass keeps the 64 newest windows open while rows ascend. Once rows run back, it keeps as many as the budget holds:
/// beyond it, the newest window is dropped with its readings, and the next pass begins there.
#[derive(Debug)]
pub(super) struct Pass {
    /// Earlier passes have read everything before this time.
    pub(super) from: i64,
    /// Everything from this time on is for the next pass.
    pub(super) to: i64,
    /// True before the second pass.
    pub(super) is_first: bool,
    /// True once rows have run back further than the open windows reach.
    ran_back: bool,
    /// The time of the windows that were closed while rows ascended, from the first to the last.
    early: Option<(i64, i64)>,
}

/// The window that has to go.
pub(super) enum Excess {
    /// None.
    None,
    /// The oldest one, which is closed.
    Oldest,
    /// The newest one, which is dropped with its readings.
    Newest,
}

impl Pass {
    pub(super) fn first() -> Self {
        Self { from: i64::MIN, to: i64::MAX, is_first: true, ran_back: false, early: None }
    }

    /// Returns the window to close or drop after one with this start was opened.
    pub(super) fn excess(
        &mut self,
        opened: i64,
        open: &BTreeMap<i64, Box<OpenWindow>>,
        budget: usize,
    ) -> Excess {
        let most = budget.min(MOST_ASCENDING);
        if open.len() <= most {
            return Excess::None;
        }
        // In a file in order, windows open one behind the other, and none in the older half of the open ones.
        let is_old = || open.range(opened..).nth(most / 2).is_some();
        let are_behind = || open.values().filter(|window| window.is_behind).count() > most / 2;
        self.ran_back = self.ran_back || is_old() || are_behind();
        match self.ran_back {
            true if open.len() <= budget => Excess::None,
            true => Excess::Newest,
            false => Excess::Oldest,
        }
    }

    /// Notes a window that was closed while rows ascend.
    pub(super) fn closed_early(&mut self, start: i64, end: i64) {
        let (from, to) = self.early.unwrap_or((start, end));
        self.early = Some((from.min(start), to.max(end)));
    }

    /// Returns true if the first pass has closed a window of this time while rows ascended.
    pub(super) fn was_closed_early(&self, at: i64) -> bool {
        !self.is_first && self.early.is_some_and(|(from, to)| (from..to).contains(&at))
    }

    /// Begins the next pass. Returns false if there is nothing left to read: then no row is of this pass.
    pub(super) fn next(&mut self) -> bool {
        self.is_first = false;
        self.from = std::mem::replace(&mut self.to, i64::MAX);
        self.from < i64::MAX
    }
}
