//! The state of an alarm about one device: which windows raise it, and which end it.

use serde::{Deserialize, Serialize};

use crate::language::Comparison;
use crate::question::Probe;

/// Number of recent windows that are kept. A window that arrives later than all of them is not looked at.
pub(crate) const KEPT: usize = 64;

/// A condition in a window: an interval may lie on both sides of a limit.
///
/// Example: [`AlarmState`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The condition is true.
    Holds,
    /// It does not hold.
    Fails,
    /// Value ± bound lies on both sides of the limit, or there is no certain value.
    Undecided,
}

impl Verdict {
    /// Returns the verdict on an interval.
    #[must_use]
    pub fn of(probe: &Probe, value: f64, bound: f64) -> Self {
        let Probe { comparison, limit, .. } = probe;
        let holds = |value: f64| Comparison::holds(*comparison, value, *limit);
        match (holds(value - bound), holds(value + bound)) {
            (true, true) => Self::Holds,
            (false, false) => Self::Fails,
            _ => Self::Undecided,
        }
    }
}

/// A window as an alarm sees it.
///
/// Example: [`AlarmState`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Start, in milliseconds since 1970.
    pub from: i64,
    /// End, in milliseconds since 1970.
    pub to: i64,
    /// Number of readings.
    pub readings: u64,
    /// The alarm's condition.
    pub over: Verdict,
    /// The condition with the limit at which the alarm ends: if it fails, the window is quiet.
    pub near: Verdict,
    /// The value compared, if it is known.
    pub value: Option<f64>,
    /// The largest possible distance of the true value.
    pub bound: Option<f64>,
}

impl Seen {
    /// Returns a window of which some pieces have come: a condition that does not hold may still do so.
    pub(super) fn so_far(self) -> Self {
        let open = |verdict| if verdict == Verdict::Fails { Verdict::Undecided } else { verdict };
        Self { over: open(self.over), near: open(self.near), ..self }
    }
}

/// When an alarm begins and when it ends.
///
/// Example: [`AlarmState`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Number of consecutive windows in which the condition holds until the alarm is raised; at least 1.
    pub windows: u32,
    /// Number of consecutive quiet windows until it ends; at least 1.
    pub clear_after: u32,
}

/// A change of an alarm.
///
/// Example: [`AlarmState`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The condition held in enough consecutive windows.
    Raised,
    /// Enough consecutive windows were quiet.
    Cleared,
}

/// The state after some windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Start of the window that raised the alarm; None while it is quiet.
    raised: Option<i64>,
    /// Number of consecutive windows that count towards the next change.
    run: u32,
    /// End of the last window.
    until: Option<i64>,
}

impl State {
    /// Takes the next window in order of time.
    fn step(&mut self, rule: Rule, seen: &Seen) -> Option<Change> {
        let follows = self.until.is_none_or(|until| seen.from <= until);
        if !follows || seen.readings == 0 {
            self.run = 0;
        }
        self.until = Some(self.until.map_or(seen.to, |until| until.max(seen.to)));
        if seen.readings == 0 {
            return None;
        }
        let (counts, needed, change) = match self.raised {
            None => (seen.over, rule.windows, Change::Raised),
            Some(_) => (seen.near.opposite(), rule.clear_after, Change::Cleared),
        };
        match counts {
            Verdict::Undecided => return None,
            Verdict::Fails => self.run = 0,
            Verdict::Holds => self.run += 1,
        }
        if self.run < needed.max(1) {
            return None;
        }
        self.run = 0;
        self.raised = if self.raised.is_none() { Some(seen.from) } else { None };
        Some(change)
    }
}

impl Verdict {
    fn opposite(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
            Self::Undecided => Self::Undecided,
        }
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
///   does one that covers the whole time of others.
/// - A change that was told and is none any more is mended by another one: that which it comes to now, or its opposite.
///
/// ```
/// use sotto_owner::alarm::{Change, AlarmState, Rule, Seen, Verdict};
///
/// let hour = |at: i64, over, near| Seen {
///     from: 3_600_000 * at, to: 3_600_000 * (at + 1), readings: 60, over, near, value: None, bound: None,
/// };
/// let (hot, warm) = ((Verdict::Holds, Verdict::Holds), (Verdict::Fails, Verdict::Holds));
/// let (cool, open) = ((Verdict::Fails, Verdict::Fails), (Verdict::Undecided, Verdict::Undecided));
/// let mut machine = AlarmState::default();
/// let rule = Rule { windows: 2, clear_after: 1 };
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
    /// Changes that were told, by the start of their window.
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

/// A change to tell.
///
/// Example: [`AlarmState`]
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

impl AlarmState {
    /// Takes windows in any order. Returns the changes that were not told before, in order of time.
    pub fn take(&mut self, rule: Rule, windows: impl IntoIterator<Item = Seen>) -> Vec<Told> {
        let raised = self.raised_since(rule).is_some();
        let last = self.last.or_else(|| raised.then_some(Change::Raised)).unwrap_or(Change::Cleared);
        let mut windows: Vec<Seen> = windows.into_iter().collect();
        windows.sort_by_key(|seen| (seen.from, seen.to));
        for seen in windows {
            let meets = |kept: &Seen| kept.from < seen.to && seen.from < kept.to;
            let covers = |kept: &Seen| seen.from <= kept.from && kept.to <= seen.to;
            if self.kept.iter().filter(|kept| meets(kept)).all(covers)
                && self.base.until.is_none_or(|until| until <= seen.from)
            {
                self.kept.retain(|kept| !meets(kept) || (kept.from, kept.to) == (seen.from, seen.to));
            }
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
        // Whoever was told must know how it is, even if what comes last in time was told before.
        let last = changes.last().map_or(last, |told| told.change);
        let is = if state.raised.is_some() { Change::Raised } else { Change::Cleared };
        if last != is {
            let mends = withdrawn.pop().filter(|(_, change)| *change == last);
            let from = mends.or_else(|| self.told.iter().filter(|(_, change)| *change == is).max().copied());
            let seen = from.and_then(|(from, _)| self.kept.iter().find(|seen| seen.from == from)).cloned();
            self.is_mended = true;
            changes.extend(seen.map(|seen| Told { seen, change: is, mends, number: None }));
        }
        for told in &mut changes {
            self.count += 1;
            told.number = self.is_mended.then_some(self.count);
        }
        self.last = Some(changes.last().map_or(last, |told| told.change));
        let old = self.kept.len().saturating_sub(KEPT);
        for seen in self.kept.drain(..old) {
            self.base.step(rule, &seen);
        }
        let first = self.kept.first().map_or(i64::MAX, |seen| seen.from);
        self.told.retain(|(from, _)| *from >= first);
        changes
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

    /// Returns the last window.
    #[must_use]
    pub fn last(&self) -> Option<&Seen> {
        self.kept.last()
    }

    /// Returns the time before which windows are not looked at any more.
    pub(crate) fn looks_from(&self) -> Option<i64> {
        self.base.until
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop::sample::select(&[Verdict::Holds, Verdict::Fails, Verdict::Undecided][..])
    }

    /// Returns windows of an hour in order; some hours have none, some no readings.
    fn windows() -> impl Strategy<Value = Vec<Seen>> {
        let one = (verdict(), verdict(), 0u8..12, 0u8..8);
        prop::collection::vec(one, 1..KEPT).prop_map(|hours| {
            let of = |(at, (over, near, there, readings)): (i64, (Verdict, Verdict, u8, u8))| {
                // A condition that holds at the limit holds at the limit where the alarm ends.
                let near = if over == Verdict::Holds { Verdict::Holds } else { near };
                let readings = u64::from(readings);
                let seen =
                    Seen { from: at * 10, to: at * 10 + 10, readings, over, near, value: None, bound: None };
                (there > 0).then_some(seen)
            };
            (0..).zip(hours).filter_map(of).collect()
        })
    }

    /// The rules once more, over all windows in order, in plain words.
    fn reference(rule: Rule, windows: &[Seen]) -> (Vec<(i64, Change)>, bool) {
        let (mut changes, mut active) = (Vec::new(), false);
        let mut counted: Vec<bool> = Vec::new();
        for (at, seen) in windows.iter().enumerate() {
            let gap = at > 0 && windows[at - 1].to < seen.from;
            if gap || seen.readings == 0 {
                counted.clear();
            }
            if seen.readings == 0 {
                continue;
            }
            let next = if active {
                [Some(false), Some(true), None][seen.near as usize]
            } else {
                [Some(true), Some(false), None][seen.over as usize]
            };
            let Some(next) = next else { continue };
            counted.push(next);
            let needed = (if active { rule.clear_after } else { rule.windows }) as usize;
            if counted.len() >= needed && counted[counted.len() - needed..].iter().all(|yes| *yes) {
                changes.push((seen.from, if active { Change::Cleared } else { Change::Raised }));
                active = !active;
                counted.clear();
            }
        }
        (changes, active)
    }

    fn rule() -> impl Strategy<Value = Rule> {
        (1..4u32, 1..4u32).prop_map(|(windows, clear_after)| Rule { windows, clear_after })
    }

    proptest! {
        #[test]
        fn in_order_every_change_is_told_once(windows in windows(), rule in rule(), parts in 1usize..9) {
            let (expected, active) = reference(rule, &windows);
            let mut machine = AlarmState::default();
            let mut told = Vec::new();
            for part in windows.chunks(parts) {
                // The second time is a renewed bundle, or a window that was asked for twice.
                for again in [part, part] {
                    let changes = machine.take(rule, again.to_vec());
                    told.extend(changes.into_iter().map(|told| (told.seen.from, told.change)));
                }
                let json = serde_json::to_string(&machine).expect("JSON");
                machine = serde_json::from_str(&json).expect("the same");
            }
            prop_assert_eq!(told, expected);
            prop_assert_eq!(machine.raised_since(rule).is_some(), active);
        }

        #[test]
        fn the_order_of_arrival_does_not_matter(
            windows in windows().prop_flat_map(|windows| (Just(windows.clone()), Just(windows).prop_shuffle())),
            rule in rule(),
        ) {
            let (windows, shuffled) = windows;
            let (expected, active) = reference(rule, &windows);
            let mut machine = AlarmState::default();
            let mut told: Vec<Told> = Vec::new();
            for seen in shuffled {
                // An overlapping window of another length is not counted.
                let shifted = Seen { from: seen.from + 3, to: seen.to + 3, ..seen.clone() };
                // It comes with another verdict first, as its late readings come later.
                let other = if seen.over == Verdict::Holds { Verdict::Fails } else { Verdict::Holds };
                told.extend(machine.take(rule, [Seen { over: other, near: other, ..seen.clone() }]));
                told.extend(machine.take(rule, [seen]));
                if windows.iter().any(|other| other.from < shifted.to && shifted.to < other.to) {
                    let overlapped = machine.kept.iter().any(|kept| kept.from < shifted.to && shifted.from < kept.to);
                    if overlapped {
                        let kept = machine.kept.len();
                        machine.take(rule, [shifted]);
                        prop_assert_eq!(machine.kept.len(), kept);
                    }
                }
            }
            prop_assert_eq!(machine.raised_since(rule).is_some(), active);
            // Whoever was told knows how it is, and every change that is one now was told.
            let last = told.last().map(|told| told.change);
            prop_assert_eq!(last == Some(Change::Raised), active);
            for change in &expected {
                let is_it = |told: &Told| (told.seen.from, told.change) == *change;
                prop_assert!(told.iter().any(is_it), "{change:?} {told:?}");
            }
            let mut ids: Vec<(i64, Change, Option<u32>)> =
                told.iter().map(|told| (told.seen.from, told.change, told.number)).collect();
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), count, "two events with one id");
        }

        #[test]
        fn old_windows_are_dropped_and_the_state_stays(count in 65usize..200, rule in rule()) {
            let seen = |at: i64| Seen {
                from: at, to: at + 1, readings: 1, over: Verdict::Holds, near: Verdict::Holds, value: None, bound: None,
            };
            let mut machine = AlarmState::default();
            let changes = machine.take(rule, (0..count as i64).map(seen));
            prop_assert_eq!(changes.len(), 1);
            prop_assert_eq!(machine.kept.len(), KEPT);
            prop_assert_eq!(machine.raised_since(rule), Some(i64::from(rule.windows) - 1));
            prop_assert_eq!(machine.looks_from(), Some((count - KEPT) as i64));
            prop_assert_eq!(machine.take(rule, [seen(0)]), []);
        }
    }

    #[test]
    fn an_open_window_may_raise_an_alarm_and_ends_none() {
        let rule = Rule { windows: 1, clear_after: 1 };
        let hour = |at: i64, readings, over, near| Seen {
            from: 60 * at,
            to: 60 * at + 60,
            readings,
            over,
            near,
            value: None,
            bound: None,
        };
        let (hot, cool) = ((Verdict::Holds, Verdict::Holds), (Verdict::Fails, Verdict::Fails));
        let mut machine = AlarmState::default();
        let mut take = |seen: Seen| -> Vec<(i64, Change)> {
            machine.take(rule, [seen]).into_iter().map(|told| (told.seen.from, told.change)).collect()
        };
        assert_eq!(take(hour(0, 5, cool.0, cool.1).so_far()), []);
        assert_eq!(take(hour(0, 10, hot.0, hot.1).so_far()), [(0, Change::Raised)]);
        // The whole window says the same of the same span: it is told once.
        assert_eq!(take(hour(0, 60, hot.0, hot.1)), []);
        assert_eq!(take(hour(1, 5, cool.0, cool.1).so_far()), []);
        assert_eq!(take(hour(1, 60, cool.0, cool.1)), [(60, Change::Cleared)]);
        // A run that was stopped sent a part as a window; the next one sends pieces, which belong to the whole span.
        let part = Seen { to: 150, ..hour(2, 30, cool.0, cool.1) };
        assert_eq!(take(part), []);
        assert_eq!(take(hour(2, 35, hot.0, hot.1).so_far()), [(120, Change::Raised)]);
        assert_eq!(
            machine.kept.iter().map(|seen| (seen.from, seen.to)).collect::<Vec<_>>(),
            [(0, 60), (60, 120), (120, 180)]
        );
    }

    #[test]
    fn an_interval_on_both_sides_of_a_limit_is_undecided() {
        use crate::question::Alarm;
        let alarm = Alarm::parse("mean(x) > 80").expect("a condition");
        let probe = alarm.probe(80.0);
        for (value, bound, verdict) in [
            (80.1, 0.05, Verdict::Holds),
            (80.0, 0.05, Verdict::Undecided),
            (80.05, 0.05, Verdict::Undecided),
            (79.9, 0.05, Verdict::Fails),
            (80.0, 0.0, Verdict::Fails),
        ] {
            assert_eq!(Verdict::of(&probe, value, bound), verdict, "{value} {bound}");
        }
    }
}
