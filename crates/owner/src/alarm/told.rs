//! The changes of an alarm that were told, and the further ones that mend them.

use serde::{Deserialize, Serialize};

use super::seen::Seen;

/// A change of an alarm.
///
/// Example: [`AlarmState`](super::AlarmState)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The condition held in enough consecutive windows, or for long enough.
    Raised,
    /// Enough consecutive windows were quiet, or a reading came.
    Cleared,
}

/// A change to tell.
///
/// Example: [`AlarmState`](super::AlarmState)
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The window that decided.
    pub seen: Seen,
    /// What happened.
    pub change: Change,
    /// The change that was told and is none any more, by the start of its window.
    pub mends: Option<(i64, Change)>,
    /// Its number among all changes that were told, once one of them was mended: the same window may raise, be mended, and
    /// raise again.
    pub number: Option<u32>,
}

/// The changes that were told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ledger {
    /// Changes by the start of their window.
    told: Vec<(i64, Change)>,
    /// The last change that was told; None before the first one, and in states of earlier versions.
    #[serde(default)]
    last: Option<Change>,
    /// Number of changes that were told.
    #[serde(default)]
    count: u32,
    /// True if a change that was told is none any more.
    #[serde(default)]
    is_mended: bool,
}

impl Ledger {
    /// Takes all changes that there are now, in order of time. Returns those that were not told before. A change that was told
    /// and is none any more is mended by another one: that which it comes to now, or its opposite. `before` and `is` are the
    /// states before and now; `seen_at` finds a window by its start, or the one that stands for it.
    pub(super) fn tell(
        &mut self,
        before: Change,
        now: Vec<(Seen, Change)>,
        is: Change,
        seen_at: impl Fn(Option<i64>) -> Option<Seen>,
    ) -> Vec<Told> {
        let last = self.last.unwrap_or(before);
        let is_now = |told: &(i64, Change)| now.iter().any(|(seen, change)| (seen.from, *change) == *told);
        let mut withdrawn: Vec<(i64, Change)> =
            self.told.iter().filter(|told| !is_now(told)).copied().collect();
        self.told.retain(|told| is_now(told));
        self.is_mended |= !withdrawn.is_empty();
        let mut changes: Vec<Told> = Vec::new();
        for (seen, change) in now {
            if self.told.contains(&(seen.from, change)) {
                continue;
            }
            self.told.push((seen.from, change));
            let mends = withdrawn.iter().position(|(_, of)| *of == change).map(|at| withdrawn.remove(at));
            changes.push(Told { seen, change, mends, number: None });
        }
        // A sink that was told an earlier state gets the present one, even if the last change in time was told before.
        let last = changes.last().map_or(last, |told| told.change);
        if last != is {
            let mends = withdrawn.pop().filter(|(_, change)| *change == last);
            let from = mends.or_else(|| self.told.iter().filter(|(_, change)| *change == is).max().copied());
            self.is_mended = true;
            let seen = seen_at(from.map(|(from, _)| from));
            changes.extend(seen.map(|seen| Told { seen, change: is, mends, number: None }));
        }
        for told in &mut changes {
            self.count += 1;
            told.number = self.is_mended.then_some(self.count);
        }
        self.last = Some(changes.last().map_or(last, |told| told.change));
        changes
    }

    /// Forgets changes: they are neither told again nor mended.
    pub(super) fn forget(&mut self, is_old: impl Fn(i64, Change) -> bool) {
        self.told.retain(|(from, change)| !is_old(*from, *change));
    }
}
