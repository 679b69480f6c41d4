//! Goes through the windows of a stream in order of time, and makes those that new readings change.
//!
//! A step is a window of the clock. What was sent of it lies in *parts* that are kept, what was not between them. New
//! readings of a kept part make it again; others make a new part. Then the walk goes on, as long as what holds at the end
//! of the window differs from what later windows were made with, or ticks up to the next reading have no value.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sotto_pack::{LeftOut, Replaces};
use zeroize::Zeroizing;

use super::correction::Correction;
use super::outcome::{Outcome, Outcomes};
use super::pending::{OfWindow, Report, merge};
use super::timeline::Timeline;
use super::values::{Part, Values};
use crate::spool::Runs;
use crate::spool::kept::{KeptHead, KeptHeld, KeptReading, KeptReadings, KeptWindow};
use crate::windows::closed::{FillError, JoinedFacts};

/// Number of its predecessors that a window names which is made again.
const MOST_NAMED: usize = 16;

/// A window that was made.
pub(super) struct Made {
    pub(super) window: sotto_pack::Window,
    /// The time that it covers, on the clock's ticks.
    pub(super) part: Part,
    pub(super) facts: JoinedFacts,
    /// Times of the first and the last tick with a number, on the clock's ticks.
    pub(super) ends: (i64, i64),
}

/// The walk through a stream's windows.
pub(super) struct Walk {
    pub(super) timeline: Timeline,
    /// New readings by the start of their window.
    queue: BTreeMap<i64, OfWindow>,
    /// The end of the last window, and what holds there.
    place: Option<(i64, KeptHeld)>,
    /// Windows from this time on wait for more readings.
    bound: i64,
    /// Times at which kept windows may hold other values than they were made with, or ticks may lack one.
    stale: BTreeSet<i64>,
    /// True if no more readings come in this run.
    is_final: bool,
    /// True if ticks behind the last reading may have to be filled.
    tail: bool,
    made: VecDeque<Made>,
    /// The outcomes of readings that are not counted yet.
    pub(super) outcomes: Outcomes,
    /// Readings left out that no window counts yet, by channel.
    pub(super) pending: Vec<LeftOut>,
    pub(super) correction: Option<Correction>,
}

/// The readings of a part, and what was made of them.
pub(super) struct Filled<'f> {
    pub(super) part: Part,
    pub(super) merged: Vec<KeptReadings>,
    pub(super) held: &'f KeptHeld,
    pub(super) values: Values,
    pub(super) readings: Vec<u64>,
}

impl Walk {
    pub(super) fn new(timeline: Timeline, correction: Option<Correction>) -> Self {
        let stale = timeline.stale();
        Self {
            timeline,
            queue: BTreeMap::new(),
            place: None,
            stale,
            bound: i64::MIN,
            is_final: false,
            tail: false,
            made: VecDeque::new(),
            outcomes: Vec::new(),
            pending: Vec::new(),
            correction,
        }
    }

    /// Adds readings by the start of their window. Ticks behind the last reading of a channel are filled before `horizon`.
    /// Windows from `bound` on wait for more readings; `None`: no more come.
    pub(super) fn begin(&mut self, windows: BTreeMap<i64, OfWindow>, horizon: i64, bound: Option<i64>) {
        for (start, window) in windows {
            self.queue.insert(start, window);
        }
        self.timeline.horizon = horizon;
        (self.is_final, self.tail) = (bound.is_none(), bound.is_none());
        self.bound = bound.unwrap_or(i64::MAX);
    }

    /// Returns the next window that was made; `None` if none is left to make.
    pub(super) fn next(&mut self) -> Result<Option<Made>, FillError> {
        loop {
            if let Some(made) = self.made.pop_front() {
                return Ok(Some(made));
            }
            let Some((window, held)) = self.next_window() else { return Ok(None) };
            let held = self.step(window, held)?;
            self.place = Some((window.until, held));
        }
    }

    /// Returns the window of the next step, and what holds at its beginning.
    fn next_window(&mut self) -> Option<(Part, KeptHeld)> {
        let timeline = &self.timeline;
        let queued = self.queue.first_key_value().map(|(start, _)| *start);
        let place = self.place.take();
        let within = self.correction.as_ref().and_then(|correction| {
            let end = place.as_ref().map(|(end, _)| *end).filter(|end| correction.goes_on(*end));
            end.into_iter().chain(correction.next()).min()
        });
        self.stale.extend(within);
        if let Some((end, held)) = &place {
            // Those that wait for more readings are looked at then.
            self.stale.extend(timeline.first_unfilled(*end, held));
            let head = timeline.kept.as_ref().and_then(|kept| kept.head_from(&timeline.name, *end));
            let all = vec![true; timeline.rules.len()];
            let changed = head.filter(|head| self.is_changed(head, held, &all)).map(|head| head.start);
            self.stale.extend(changed);
        }
        let stale = self.stale.first().copied().filter(|at| *at < self.bound);
        let gap = |start: i64| timeline.first_gap(&timeline.carried(start), start).unwrap_or(start);
        let queued = if place.is_some() { queued } else { queued.map(gap) };
        let mut first = queued.into_iter().chain(stale).min();
        if first.is_none() && std::mem::take(&mut self.tail) {
            first = timeline.first_gap(&timeline.carried(i64::MAX), timeline.horizon);
        }
        let window = timeline.window(first?);
        self.stale.retain(|at| !(window.start..window.until).contains(at));
        let held = place.filter(|(end, _)| *end == window.start).map(|(_, held)| held);
        Some((window, held.unwrap_or_else(|| timeline.carried(window.start))))
    }

    /// Makes what has to be made of a window. Returns what holds at its end.
    fn step(&mut self, window: Part, mut held: KeptHeld) -> Result<KeptHeld, FillError> {
        let mut new = self.queue.remove(&window.start).unwrap_or_default();
        new.reports.sort_unstable_by_key(Report::order);
        let before = self.made.len();
        let has_readings = !new.reports.is_empty();
        if self.correction.as_ref().is_some_and(|correction| correction.has(window, has_readings)) {
            self.correct(window, &new.reports, &mut held)?;
        } else {
            let mut at = window.start;
            for head in self.timeline.heads(window.start, window.until) {
                self.add(Part { start: at, until: head.start, ..window }, &new.reports, &mut held)?;
                at = head.until;
                let kept = Part { start: head.start, until: head.until, ..window };
                match self.timeline.kept_window(head.start)? {
                    Some(known) => self.again(kept, known, &new.reports, &mut held)?,
                    None => self.add(kept, &new.reports, &mut held)?,
                }
            }
            self.add(Part { start: at, ..window }, &new.reports, &mut held)?;
        }
        merge(&mut self.pending, &new.left_out);
        if let Some(made) = self.made.range_mut(before..).next_back() {
            made.leave_out(&std::mem::take(&mut self.pending));
        }
        Ok(held)
    }

    /// Makes a part that was not sent, if it has a reading or a filled tick.
    fn add(&mut self, part: Part, reports: &[Report], held: &mut KeptHeld) -> Result<(), FillError> {
        if part.start >= part.until {
            return Ok(());
        }
        self.timeline.forget_unknown(held, part.start);
        let (merged, outcomes) = self.timeline.merge(part, None, &within(reports, part));
        if part.start < self.timeline.blind {
            self.timeline.learn(&outcomes);
            self.timeline.add_forgotten(held, part.until);
        }
        let timeline = &self.timeline;
        let limits = timeline.limits();
        let values = timeline.filling(held, &limits, &timeline.sent).values(part, &merged);
        let readings = taken(&outcomes, timeline.rules.len());
        let next = last_of(&merged, held);
        self.count(outcomes);
        if let Some(ends) = values.ends() {
            let trimmed = self.trimmed(part, ends);
            let filled = Filled { part, merged, held, values, readings };
            self.make(&filled, trimmed, JoinedFacts::default(), &[])?;
        }
        *held = next;
        self.timeline.forget_unknown(held, part.until);
        Ok(())
    }

    /// Returns the time of a new window with numbers from one tick to another, between ticks that are sent.
    pub(super) fn trimmed(&self, part: Part, (first, last): (u32, u32)) -> (i64, i64) {
        let (from, to) = (part.at(first), part.at(last).saturating_add(part.period).min(part.until));
        let timeline = &self.timeline;
        let before = timeline.sent.iter().filter_map(|runs| runs.last_end_before(from)).max();
        let start = before.map_or(part.start, |before| before.max(part.start));
        let behind = timeline.sent.iter().filter_map(|runs| runs.first_from(to)).min();
        let is_newest = self.is_final
            && self.queue.is_empty()
            && timeline.sent_end() <= to
            && timeline.heads(part.until, i64::MAX).is_empty();
        let until = if is_newest { to } else { behind.map_or(part.until, |behind| behind.min(part.until)) };
        (start, until)
    }

    /// Makes a part again that was sent, if new readings or what holds at its beginning change it.
    fn again(
        &mut self,
        part: Part,
        known: KeptWindow,
        reports: &[Report],
        held: &mut KeptHeld,
    ) -> Result<(), FillError> {
        let timeline = &self.timeline;
        timeline.forget_unknown(held, part.start);
        let (merged, outcomes) = timeline.merge(part, Some(&known), &within(reports, part));
        let elsewhere: Vec<Runs> = timeline.elsewhere(part, &known.presence);
        let limits = timeline.limits();
        let values = timeline.filling(held, &limits, &elsewhere).values(part, &merged);
        let readings = taken(&outcomes, limits.len());
        let is_new = readings.iter().any(|count| *count > 0);
        // Channels whose first ticks hold the reading before.
        let begins = |readings: &KeptReadings| {
            readings.first().is_some_and(|first| part.tick_of(first.at).0 == part.start)
        };
        let open: Vec<bool> = merged.iter().map(|readings| !begins(readings)).collect();
        let is_changed = known.head.is_unsent
            || is_new
            || self.is_changed(&known.head, held, &open)
            || values.presence(part) != known.presence;
        let next = last_of(&merged, held);
        self.count(outcomes);
        if is_changed {
            let all: Vec<u16> = (0..limits.len() as u16).collect();
            // A window that is replaced goes on to replace those that it names.
            let mut windows = known.head.numbers;
            windows.drain(..windows.len().saturating_sub(MOST_NAMED));
            let replaces = (!windows.is_empty()).then_some(Replaces { windows, channels: all });
            let cleared = self.timeline.clear(&known.presence, &values.presence(part));
            let facts = JoinedFacts { replaces, cleared, ..JoinedFacts::default() };
            let filled = Filled { part, merged, held, values, readings };
            self.make(&filled, (part.start, part.until), facts, &known.left_out)?;
        } else if known.head.held != *held {
            // No tick holds it.
            let head = KeptHead { held: held.clone(), last: next.clone(), ..known.head };
            let kept = KeptWindow { head, readings: merged, ..known };
            self.timeline.kept.as_ref().map_or(Ok(()), |kept_of| kept_of.put(&self.timeline.name, &kept))?;
        }
        *held = next;
        Ok(())
    }

    /// Returns true if ticks of a kept window are filled by other readings than those that it was made with, of channels that
    /// are `open` at its beginning.
    fn is_changed(&self, head: &KeptHead, held: &KeptHeld, open: &[bool]) -> bool {
        let correction = self.correction.as_ref();
        self.timeline.is_changed(head, held.clone(), open)
            || correction
                .is_some_and(|correction| correction.holds_in(&self.timeline, head.start, held, open))
    }

    /// Makes a window of a part, from one time to another.
    pub(super) fn make(
        &mut self,
        filled: &Filled<'_>,
        (start, until): (i64, i64),
        facts: JoinedFacts,
        left_out: &[LeftOut],
    ) -> Result<(), FillError> {
        let Filled { part, merged, held, values, readings } = filled;
        let timeline = &mut self.timeline;
        let first = u32::try_from((start - part.start) / part.period).unwrap_or(u32::MAX);
        let window = values.window(&timeline.layout, *part, (first, until), timeline.phase)?;
        let presence = values.presence(*part);
        timeline.sent.iter_mut().zip(&presence).for_each(|(sent, presence)| sent.add(presence));
        if let Some(correction) = &mut self.correction {
            correction.know(&presence);
        }
        let ends = values.ends().map_or((start, start), |(first, last)| {
            (part.at(first), part.at(last).saturating_add(part.period).min(until) - 1)
        });
        let numbers = facts.replaces.as_ref().map(|replaces| replaces.windows.clone()).unwrap_or_default();
        let (held, last) = ((*held).clone(), last_of(merged, held));
        let head =
            KeptHead { start, until, phase: timeline.phase, numbers, held, last, ..KeptHead::default() };
        let kept = timeline.kept.is_some().then(|| KeptWindow {
            head,
            readings: merged.clone(),
            presence,
            left_out: left_out.to_vec(),
        });
        let facts = JoinedFacts { kept, readings: readings.clone(), ..facts };
        let mut made = Made { window, part: Part { start, until, ..*part }, facts, ends };
        made.count_left_out(left_out);
        self.made.push_back(made);
        Ok(())
    }

    pub(super) fn count(&mut self, outcomes: Outcomes) {
        let left = outcomes.iter().filter_map(|(report, outcome)| Some((report.channel, outcome.reason()?)));
        for (channel, reason) in left {
            let channel = usize::from(channel);
            if self.pending.len() <= channel {
                self.pending.resize(channel + 1, LeftOut::default());
            }
            self.pending[channel].add(reason, 1);
        }
        self.outcomes.extend(outcomes);
    }
}

impl Made {
    /// Adds counts of readings left out to the window, and to what is kept of it.
    fn leave_out(&mut self, left_out: &[LeftOut]) {
        if let Some(kept) = &mut self.facts.kept {
            merge(&mut kept.left_out, left_out);
        }
        self.count_left_out(left_out);
    }

    fn count_left_out(&mut self, left_out: &[LeftOut]) {
        for (channel, counts) in (0..).zip(left_out) {
            counts.iter().for_each(|(reason, count)| self.window.leave_out(channel, reason, count));
        }
    }
}

impl Timeline {
    /// Returns the first tick behind the readings that hold which is not sent, before a time.
    fn first_gap(&self, held: &KeptHeld, before: i64) -> Option<i64> {
        let filled = held.iter().enumerate().filter_map(|(channel, held)| Some((channel, (*held)?)));
        let gaps = filled.filter_map(|(channel, KeptReading { at, .. })| {
            let rules = self.rules.get(channel).filter(|rules| rules.fills())?;
            let gap = self.unsent_from(channel, self.tick_end(at));
            (gap < before.min(rules.holds_until(at))).then_some(gap)
        });
        gaps.min()
    }

    /// Returns the first tick from the end of a window on that lacks a value.
    fn first_unfilled(&self, end: i64, held: &KeptHeld) -> Option<i64> {
        let limits = self.limits();
        let gaps = self.rules.iter().enumerate().filter(|(_, rules)| rules.fills()).filter_map(
            |(channel, rules)| {
                let held = held.get(channel).copied().flatten()?;
                let gap = self.unsent_from(channel, end);
                (gap < limits[channel].min(rules.holds_until(held.at))).then_some(gap)
            },
        );
        gaps.min()
    }
}

/// Returns the readings of a part, in order.
pub(super) fn within(reports: &[Report], part: Part) -> Zeroizing<Vec<Report>> {
    let is_within = |report: &&Report| (part.start..part.until).contains(&report.at);
    let count = reports.iter().filter(is_within).count();
    let mut within = Zeroizing::new(Vec::with_capacity(count));
    within.extend(reports.iter().filter(is_within));
    within
}

/// Returns for each channel the number of readings that are in a window now.
pub(super) fn taken(outcomes: &Outcomes, channels: usize) -> Vec<u64> {
    let mut taken = vec![0; channels];
    let new = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Taken | Outcome::There));
    new.for_each(|(report, _)| taken[usize::from(report.channel)] += 1);
    taken
}

/// Returns the last reading of each channel.
pub(super) fn last_of(merged: &[KeptReadings], held: &KeptHeld) -> KeptHeld {
    let last = merged.iter().zip(held.iter()).map(|(readings, held)| readings.last().copied().or(*held));
    Zeroizing::new(last.collect())
}
