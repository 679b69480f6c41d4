//! The state of an alarm about one device: which windows raise it, and which end it.

use serde::{Deserialize, Serialize};

use super::seen::{Certainty, Seen, Verdict};
use super::told::{Change, Ledger, Told};

/// Number of recent windows that are kept. A window that arrives later than all of them is not looked at.
pub(crate) const KEPT: usize = 64;

/// When an alarm begins and when it ends.
///
/// Example: [`AlarmState`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Number of consecutive windows in which the condition holds until the alarm is raised; at least 1.
    pub windows: u32,
    /// The time that these windows cover at least, in milliseconds.
    pub lasts_ms: i64,
    /// Number of consecutive quiet windows until it ends; at least 1.
    pub clear_after: u32,
    /// True if windows without readings have a verdict, too.
    pub takes_empty: bool,
}

impl Default for Rule {
    /// A window raises the alarm, and a quiet one ends it.
    fn default() -> Self {
        Self { windows: 1, lasts_ms: 0, clear_after: 1, takes_empty: false }
    }
}

/// The state after some windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Start of the window that raised the alarm; None while it is quiet.
    raised: Option<i64>,
    /// Number of consecutive windows that count towards the next change.
    run: u32,
    /// Start of the first of them.
    #[serde(default)]
    run_from: Option<i64>,
    /// End of the last window.
    until: Option<i64>,
}

impl State {
    /// Takes the next window in order of time.
    fn step(&mut self, rule: Rule, seen: &Seen) -> Option<Change> {
        let follows = self.until.is_none_or(|until| seen.from <= until);
        let is_empty = seen.readings == 0 && !rule.takes_empty;
        if !follows || is_empty {
            self.run = 0;
        }
        self.until = Some(self.until.map_or(seen.to, |until| until.max(seen.to)));
        if is_empty {
            return None;
        }
        let (counts, needed, lasts_ms, change) = match self.raised {
            None => (seen.over, rule.windows, rule.lasts_ms, Change::Raised),
            Some(_) => (seen.near.opposite(), rule.clear_after, 0, Change::Cleared),
        };
        match counts {
            Verdict::Undecided => return None,
            Verdict::Fails => self.run = 0,
            Verdict::Holds => {
                self.run_from = self.run_from.filter(|_| self.run > 0).or(Some(seen.from));
                self.run = self.run.saturating_add(1);
            }
        }
        let covered = self.run_from.map_or(0, |from| seen.to.saturating_sub(from));
        if self.run < needed.max(1) || covered < lasts_ms {
            return None;
        }
        self.run = 0;
        self.raised = if self.raised.is_none() { Some(seen.from) } else { None };
        Some(change)
    }
}

/// The state of an alarm about one device.
///
/// Windows may arrive in any order and more than once: the recent ones are kept, and the state follows from them in
/// order of time. A window that covers a time of another one is not counted. The rules:
///
/// - *Undecided* windows neither raise nor end an alarm, and do not break a run of windows.
/// - A missing window, and one without readings, breaks both runs: it neither raises nor ends an alarm.
/// - A window that comes again, as late readings came for its time or it was corrected, takes the place of the one before. So
///   does one that covers the whole time of others, unless it is undecided and they are not.
/// - Pieces of a longer window give way to shorter windows.
/// - A change that was told and is none any more is mended by another one: that which it comes to now, or its opposite.
///
/// ```
/// use sotto_owner::alarm::{Change, AlarmState, Rule, Seen, Verdict};
///
/// let hour = |at: i64, over, near| Seen {
///     from: 3_600_000 * at, to: 3_600_000 * (at + 1), readings: 60, over, near, value: None, bound: None,
///     partial: false,
/// };
/// let (hot, warm) = ((Verdict::Holds, Verdict::Holds), (Verdict::Fails, Verdict::Holds));
/// let (cool, open) = ((Verdict::Fails, Verdict::Fails), (Verdict::Undecided, Verdict::Undecided));
/// let mut machine = AlarmState::default();
/// let rule = Rule { windows: 2, ..Rule::default() };
/// let day = [hot, open, hot, warm, cool];
/// let windows = (0..).zip(day).map(|(at, (over, near))| hour(at, over, near));
/// let changes = machine.take(rule, windows);
/// let told: Vec<(i64, Change)> = changes.iter().map(|told| (told.seen.from / 3_600_000, told.change)).collect();
/// assert_eq!(told, [(2, Change::Raised), (4, Change::Cleared)]);
/// assert_eq!(machine.raised_since(rule), None);
///
/// // Late readings: the third hour was warm only, so that nothing was raised.
/// let mended = machine.take(rule, [hour(2, Verdict::Fails, Verdict::Holds)]);
/// assert_eq!(mended, []);
/// # let mut machine = AlarmState::default();
/// # machine.take(rule, [hour(0, hot.0, hot.1), hour(1, hot.0, hot.1)]);
/// // Had the alarm not ended by itself, it would have been ended.
/// let mended = machine.take(rule, [hour(1, Verdict::Fails, Verdict::Holds)]);
/// assert_eq!((mended[0].change, mended[0].mends), (Change::Cleared, Some((3_600_000, Change::Raised))));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlarmState {
    /// The state before the kept windows.
    base: State,
    /// The recent windows in order of time, without overlaps.
    kept: Vec<Seen>,
    #[serde(flatten)]
    told: Ledger,
}

impl AlarmState {
    /// Takes windows in any order. Returns the changes that were not told before, in order of time.
    pub fn take(&mut self, rule: Rule, windows: impl IntoIterator<Item = Seen>) -> Vec<Told> {
        let before = self.is(rule);
        let mut windows: Vec<Seen> = windows.into_iter().collect();
        windows.sort_by_key(|seen| (seen.from, seen.to));
        for seen in windows {
            self.make_room(&seen);
            let at = self.kept.partition_point(|kept| kept.from < seen.from);
            let before = at.checked_sub(1).map_or(self.base.until, |before| Some(self.kept[before].to));
            let after = self.kept.get(at).map(|after| after.from);
            let free = before.is_none_or(|to| to <= seen.from) && after.is_none_or(|from| seen.to <= from);
            match self.kept.get_mut(at) {
                Some(kept) if (kept.from, kept.to) == (seen.from, seen.to) => *kept = seen,
                _ if free && seen.from < seen.to => self.kept.insert(at, seen),
                _ => {}
            }
        }
        let mut state = self.base;
        let mut now: Vec<(Seen, Change)> = Vec::new();
        for seen in &self.kept {
            now.extend(state.step(rule, seen).map(|change| (seen.clone(), change)));
        }
        let is = if state.raised.is_some() { Change::Raised } else { Change::Cleared };
        // Another window may have taken the place of the one that was told.
        let of = |from: i64| self.kept.iter().find(|seen| seen.from == from);
        let seen_at = |from: Option<i64>| from.and_then(of).or(self.kept.last()).cloned();
        let changes = self.told.tell(before, now, is, seen_at);
        let old = self.kept.len().saturating_sub(KEPT);
        for seen in self.kept.drain(..old) {
            self.base.step(rule, &seen);
        }
        let first = self.kept.first().map_or(i64::MAX, |seen| seen.from);
        self.told.forget(|from, _| from < first);
        changes
    }

    /// Takes out the windows whose place another one takes: those of which it covers the whole time, if it says as much or its
    /// pieces have their readings; and longer ones that are not decided.
    fn make_room(&mut self, seen: &Seen) {
        let same = |kept: &Seen| (kept.from, kept.to) == (seen.from, seen.to);
        let meets = |kept: &&Seen| kept.from < seen.to && seen.from < kept.to && !same(kept);
        let readings = self.kept.iter().filter(meets).map(|kept| kept.readings).sum::<u64>();
        let gives_way = |kept: &Seen| {
            let is_covered = seen.from <= kept.from && kept.to <= seen.to;
            let is_longer = kept.to - kept.from > seen.to - seen.from;
            let (before, now) = (kept.certainty(), seen.certainty());
            let has_all = now == Certainty::Partial && seen.readings >= readings;
            match before {
                Certainty::Decided => is_covered && (now == before || has_all),
                _ => before <= now && (is_covered || is_longer),
            }
        };
        if self.base.until.is_none_or(|until| until <= seen.from)
            && self.kept.iter().filter(meets).all(gives_way)
        {
            self.kept.retain(|kept| !meets(&kept));
        }
    }

    /// Returns the start of the window that raised the alarm; None while it is quiet.
    #[must_use]
    pub fn raised_since(&self, rule: Rule) -> Option<i64> {
        self.state(rule).raised
    }

    /// Returns the number of consecutive windows that count towards the next change.
    #[must_use]
    pub fn run(&self, rule: Rule) -> u32 {
        self.state(rule).run
    }

    /// Returns the start of the first of them, if the rule is about the time that they cover.
    pub(crate) fn run_since(&self, rule: Rule) -> Option<i64> {
        let state = self.state(rule);
        state.run_from.filter(|_| rule.lasts_ms > 0 && state.run > 0)
    }

    /// Returns the last window.
    #[must_use]
    pub fn last(&self) -> Option<&Seen> {
        self.kept.last()
    }

    /// Returns the time before which windows are not looked at any more.
    pub(crate) fn looks_from(&self) -> Option<i64> {
        self.base.until
    }

    /// Returns the last change of the windows so far.
    fn is(&self, rule: Rule) -> Change {
        if self.raised_since(rule).is_some() { Change::Raised } else { Change::Cleared }
    }

    fn state(&self, rule: Rule) -> State {
        let mut state = self.base;
        for seen in &self.kept {
            state.step(rule, seen);
        }
        state
    }
}

#[cfg(test)]
mod tests;
