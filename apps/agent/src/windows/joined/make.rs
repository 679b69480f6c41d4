//! Makes windows of a stream: of new readings, of what is kept, and of what fills the ticks between.

use std::collections::VecDeque;

use sotto_pack::{LeftOut, MOST_REPLACED};
use zeroize::Zeroizing;

use super::correction::Correction;
use super::open_pieces::OpenPieces;
use super::outcome::{Outcome, Outcomes};
use super::pending::merge;
use super::reports::Report;
use super::timeline::Timeline;
use super::values::{Part, Values};
use crate::spool::Runs;
use crate::spool::kept::{KeptHead, KeptHeld, KeptReadings, KeptWindow};
use crate::windows::closed::{FillError, JoinedFacts, in_the_place_of};

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

/// The maker of a stream's windows.
pub(super) struct Maker {
    pub(super) timeline: Timeline,
    pub(super) correction: Option<Correction>,
    /// Windows that were made and not taken yet.
    pub(super) made: VecDeque<Made>,
    /// The outcomes of readings that are not counted yet.
    pub(super) outcomes: Outcomes,
    /// Readings left out that no window counts yet, by channel.
    pub(super) left_out: Vec<LeftOut>,
    /// True if no readings of later windows come in this run.
    pub(super) is_last: bool,
    pub(super) pieces: OpenPieces,
}

/// The readings of a part, and what was made of them.
pub(super) struct Filled<'f> {
    pub(super) part: Part,
    pub(super) merged: Vec<KeptReadings>,
    pub(super) held: &'f KeptHeld,
    pub(super) values: Values,
    pub(super) readings: Vec<u64>,
}

impl Maker {
    pub(super) fn new(timeline: Timeline, correction: Option<Correction>) -> Self {
        let (made, outcomes, left_out) = (VecDeque::new(), Vec::new(), Vec::new());
        let pieces = OpenPieces::default();
        Self { timeline, correction, made, outcomes, left_out, is_last: false, pieces }
    }

    /// Makes a part that was not sent, if it has a reading or a filled tick, or is a piece of an open window.
    pub(super) fn add(
        &mut self,
        part: Part,
        reports: &[Report],
        held: &mut KeptHeld,
    ) -> Result<(), FillError> {
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
        let provisional = self.pieces.begin(&self.timeline, part);
        let time = match values.ends() {
            _ if provisional => Some((part.start, part.until)),
            ends => ends.map(|ends| self.trimmed(part, ends)),
        };
        if let Some(time) = time {
            let filled = Filled { part, merged, held, values, readings };
            self.make(&filled, time, JoinedFacts { provisional, ..JoinedFacts::default() }, &[])?;
        }
        *held = next;
        self.timeline.forget_unknown(held, part.until);
        Ok(())
    }

    /// Returns the time of a new window with numbers from one tick to another, between ticks that are sent.
    pub(super) fn trimmed(&self, part: Part, (first, last): (u32, u32)) -> (i64, i64) {
        let (from, to) = (part.at(first), part.at(last + 1).min(part.until));
        let timeline = &self.timeline;
        let before = timeline.sent.iter().filter_map(|runs| runs.last_end_before(from)).max();
        let start = before.map_or(part.start, |before| before.max(part.start));
        let behind = timeline.sent.iter().filter_map(|runs| runs.first_from(to)).min();
        let is_newest =
            self.is_last && timeline.sent_end() <= to && timeline.heads(part.until, i64::MAX).is_empty();
        let until = if is_newest { to } else { behind.map_or(part.until, |behind| behind.min(part.until)) };
        (start, until)
    }

    /// Makes a part again that was sent, if new readings or what holds at its beginning change it.
    pub(super) fn again(
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
            // A window that is replaced goes on to replace those that it names. One that was not sent does not.
            let numbers = &known.head.numbers;
            let most = if known.head.is_unsent { MOST_REPLACED } else { MOST_NAMED };
            let replaces = in_the_place_of(&numbers[numbers.len().saturating_sub(most)..], limits.len());
            let cleared = self.timeline.clear(&known.presence, &values.presence(part));
            let provisional = self.pieces.has(part.start);
            let facts = JoinedFacts { replaces, cleared, provisional, ..JoinedFacts::default() };
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
    pub(super) fn is_changed(&self, head: &KeptHead, held: &KeptHeld, open: &[bool]) -> bool {
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
        let first = u32::try_from(part.period.tick_at(start - part.start)).unwrap_or(u32::MAX);
        let window = values.window(&timeline.layout, *part, (first, until), timeline.phase)?;
        let presence = values.presence(*part);
        timeline.sent.iter_mut().zip(&presence).for_each(|(sent, presence)| sent.add(presence));
        if let Some(correction) = &mut self.correction {
            correction.know(&presence);
        }
        let ends = values
            .ends()
            .map_or((start, start), |(first, last)| (part.at(first), part.at(last + 1).min(until) - 1));
        let numbers = facts.replaces.as_ref().map(|replaces| replaces.windows.clone()).unwrap_or_default();
        let (held, last) = ((*held).clone(), last_of(merged, held));
        let phase = timeline.all_phase();
        let head = KeptHead { start, until, phase, numbers, held, last, ..KeptHead::default() };
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
            if self.left_out.len() <= channel {
                self.left_out.resize(channel + 1, LeftOut::default());
            }
            self.left_out[channel].add(reason, 1);
        }
        self.outcomes.extend(outcomes);
    }
}

impl Made {
    /// Adds counts of readings left out to the window, and to what is kept of it.
    pub(super) fn leave_out(&mut self, left_out: &[LeftOut]) {
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
