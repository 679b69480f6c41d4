//! What is known of a stream: the ticks that it has sent, the readings that are kept, and the readings that hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sotto_pack::{Clock, Cut, Layout};
use zeroize::Zeroizing;

use super::rules::ChannelRules;
use super::values::{Filling, Part};
use crate::spool::kept::{Forgotten, Kept, KeptHead, KeptHeld, KeptReading, KeptWindow};
use crate::spool::{Runs, Sent, SpoolError};
use crate::windows::sent::next_tick;
use crate::windows::several::FixedPoint;

/// What is known of a stream. Times are on the clock's ticks, earlier than those of windows by the phase.
pub(super) struct Timeline {
    pub(super) name: String,
    pub(super) layout: Layout,
    pub(super) cut: Cut,
    pub(super) clock: Clock,
    pub(super) phase: i64,
    pub(super) fixed: FixedPoint,
    pub(super) rules: Vec<ChannelRules>,
    /// The ticks that are sent, by channel.
    pub(super) sent: Vec<Runs>,
    /// Every tick before this time counts as sent.
    pub(super) before: i64,
    /// The end of the last window of earlier runs.
    pub(super) continues: Option<i64>,
    /// The readings of windows that were sent; `None` for a stream whose readings are not kept.
    pub(super) kept: Option<Arc<Kept>>,
    /// What stays of windows that are not kept any more.
    pub(super) last: KeptHeld,
    /// For each channel, the ticks of such windows that had readings, where others were filled.
    pub(super) reported: Vec<Runs>,
    /// The time before which nothing is known of readings: the spool was lost.
    pub(super) blind: i64,
    /// The latest reading of each channel in this run.
    newest: Vec<i64>,
    /// The time before which ticks are filled after the last reading of a channel.
    pub(super) horizon: i64,
    /// No tick is filled from this time on: that of the piece which is made.
    pub(super) most: i64,
}

impl Timeline {
    pub(super) fn new(
        name: &str,
        layout: Layout,
        (cut, clock): (Cut, &Clock),
        phase: i64,
        sent: &Sent,
        kept: Option<Arc<Kept>>,
    ) -> Self {
        let fixed = FixedPoint::of(&layout);
        let rules = ChannelRules::of(&layout, fixed);
        let of = |rules: &ChannelRules| sent.channels.get(&rules.name).map(|runs| runs.shifted(-phase));
        let channels = rules.len();
        let at_tick = |time: i64| next_tick(cut, clock, time.saturating_sub(phase));
        let before = sent.before.map_or(i64::MIN, at_tick);
        let mut runs: Vec<Runs> = rules.iter().map(|rules| of(rules).unwrap_or_default()).collect();
        runs.iter_mut().for_each(|runs| runs.insert(i64::MIN, before));
        let mut timeline = Self {
            name: name.to_owned(),
            layout,
            cut,
            clock: clock.clone(),
            phase,
            fixed,
            sent: runs,
            rules,
            before,
            continues: sent.until.map(|until| until.saturating_sub(phase)),
            kept,
            last: Zeroizing::new(vec![None; channels]),
            reported: vec![Runs::default(); channels],
            blind: i64::MIN,
            newest: vec![i64::MIN; channels],
            horizon: i64::MIN,
            most: i64::MAX,
        };
        timeline.know_forgotten();
        timeline
    }

    /// Deletes what was sent longer ago than it is kept, at a time of this machine's clock.
    pub(super) fn forget(&mut self, now: i64) -> Result<(), SpoolError> {
        let Some(kept) = self.kept.clone() else { return Ok(()) };
        let fills: Vec<bool> = self.rules.iter().map(ChannelRules::fills).collect();
        kept.forget(&self.name, now, &fills, |at| self.window(at).tick_of(at))?;
        self.know_forgotten();
        Ok(())
    }

    fn know_forgotten(&mut self) {
        let forgotten = self.kept.as_ref().and_then(|kept| kept.forgotten(&self.name));
        let Some(Forgotten { blind, mut last, mut reported }) = forgotten else { return };
        last.resize(self.rules.len(), None);
        reported.resize(self.rules.len(), Runs::default());
        (self.blind, self.last, self.reported) = (blind, last, reported);
    }

    /// Returns the milliseconds by which the ticks are later than those of the clock.
    pub(super) fn all_phase(&self) -> i64 {
        self.phase + self.cut.phase()
    }

    /// Returns the longest time of a tick, in milliseconds.
    pub(super) fn period(&self) -> i64 {
        self.cut.period.ceil().into()
    }

    /// Returns the window of the clock at a time.
    pub(super) fn window(&self, at: i64) -> Part {
        let (start, until) = self.cut.window(&self.clock, at);
        Part { start, until, period: self.cut.period }
    }

    /// Notes the time of a reading that is taken into account.
    pub(super) fn note(&mut self, channel: usize, at: i64) {
        if let Some(newest) = self.newest.get_mut(channel) {
            *newest = at.max(*newest);
        }
    }

    /// Returns true if the tick that begins at this time is sent.
    pub(super) fn is_sent(&self, channel: usize, tick: i64) -> bool {
        self.sent.get(channel).is_some_and(|runs| runs.contains(tick))
    }

    /// Returns the first time from `at` on that is not sent.
    pub(super) fn unsent_from(&self, channel: usize, at: i64) -> i64 {
        self.sent.get(channel).map_or(at, |runs| runs.end_from(at))
    }

    /// Returns the end of the last tick that is sent of any channel.
    pub(super) fn sent_end(&self) -> i64 {
        self.sent.iter().filter_map(Runs::end).max().unwrap_or(i64::MIN)
    }

    /// Returns the time of the last reading that earlier runs have sent of any channel, or of its tick.
    pub(super) fn last_sent(&self) -> Option<i64> {
        let carried = self.carried(i64::MAX);
        let last = |(channel, rules): (usize, &ChannelRules)| match rules.fills() {
            true => carried.get(channel).copied().flatten().map(|last| last.at),
            false => self.sent.get(channel).and_then(Runs::end).map(|end| end.saturating_sub(self.period())),
        };
        self.rules.iter().enumerate().filter_map(last).max()
    }

    /// Returns for each channel the time before which ticks are filled: after the last reading up to the horizon, between
    /// two readings up to the later one.
    pub(super) fn limits(&self) -> Vec<i64> {
        let limit = |(newest, sent): (&i64, &Runs)| {
            self.horizon.max(*newest).max(sent.end().unwrap_or(i64::MIN)).min(self.most)
        };
        self.newest.iter().zip(&self.sent).map(limit).collect()
    }

    /// Returns kept windows that overlap a time.
    pub(super) fn heads(&self, from: i64, to: i64) -> Vec<KeptHead> {
        self.kept.as_ref().map(|kept| kept.heads(&self.name, from, to)).unwrap_or_default()
    }

    /// Reads a kept window.
    pub(super) fn kept_window(&self, start: i64) -> Result<Option<KeptWindow>, SpoolError> {
        self.kept.as_ref().map_or(Ok(None), |kept| kept.window(&self.name, start))
    }

    /// Returns the last reading before a time of each channel whose ticks are filled, as far as it is known.
    pub(super) fn carried(&self, at: i64) -> KeptHeld {
        let fills: Vec<bool> = self.rules.iter().map(ChannelRules::fills).collect();
        let kept = self.kept.as_ref().map(|kept| {
            kept.last_before(&self.name, at, &fills, |channel, reading| self.is_forgotten(channel, reading))
        });
        let mut held = kept.unwrap_or_else(|| Zeroizing::new(vec![None; fills.len()]));
        self.add_forgotten(&mut held, at);
        self.forget_unknown(&mut held, at);
        held
    }

    /// Adds the last readings before a time that are known of windows which are not kept.
    pub(super) fn add_forgotten(&self, held: &mut KeptHeld, at: i64) {
        for (held, last) in held.iter_mut().zip(self.last.iter()) {
            *held = (*held).max(last.filter(|last| last.at < at));
        }
    }

    /// Returns the starts of the kept windows that were made with other readings before them than there are: a run was killed
    /// while it made the windows behind a late reading again.
    pub(super) fn stale(&self) -> BTreeSet<i64> {
        let (mut held, all): (Option<KeptHeld>, _) = (None, vec![true; self.rules.len()]);
        let mut stale = BTreeSet::new();
        for head in self.heads(i64::MIN, i64::MAX) {
            let mut now = held.unwrap_or_else(|| head.held.clone());
            now.resize(self.rules.len(), None);
            self.add_forgotten(&mut now, head.start);
            if self.is_changed(&head, now.clone(), &all) {
                stale.insert(head.start);
            }
            for (now, last) in now.iter_mut().zip(head.last.iter()) {
                *now = last.filter(|last| last.at >= head.start).or(*now);
            }
            held = Some(now);
        }
        stale
    }

    /// Returns true if ticks of a kept window are filled by other readings than those that it was made with, of channels that
    /// are `open` at its beginning.
    pub(super) fn is_changed(&self, head: &KeptHead, mut now: KeptHeld, open: &[bool]) -> bool {
        self.forget_unknown(&mut now, head.start);
        let mut was = head.held.clone();
        self.forget_unknown(&mut was, head.start);
        self.rules.iter().enumerate().filter(|(_, rules)| rules.fills()).any(|(channel, rules)| {
            let (now, was) = (now.get(channel).copied().flatten(), was.get(channel).copied().flatten());
            // The window alone knows a reading that is not kept any more.
            let is_behind = |was: &KeptReading| now.is_none_or(|now| now.at < was.at);
            let alone = was.filter(is_behind).is_some_and(|was| self.is_forgotten(channel, was));
            open.get(channel) == Some(&true) && !alone && rules.holds_other(head.start, (now, was))
        })
    }

    /// Returns true for a reading of a window that is not kept any more.
    fn is_forgotten(&self, channel: usize, reading: KeptReading) -> bool {
        let reported = self.reported.get(channel).filter(|reported| !reported.is_empty());
        reported.is_some_and(|reported| reported.contains(self.window(reading.at).tick_of(reading.at).0))
    }

    /// Takes out readings that other ones, which are not known any more, came behind before a time.
    pub(super) fn forget_unknown(&self, held: &mut KeptHeld, at: i64) {
        for (held, reported) in
            held.iter_mut().zip(&self.reported).filter(|(_, reported)| !reported.is_empty())
        {
            let is_unknown =
                |held: &KeptReading| reported.between(self.tick_end(held.at), at).next().is_some();
            *held = held.filter(|held| !is_unknown(held));
        }
    }

    /// Returns the end of the tick of a time.
    pub(super) fn tick_end(&self, at: i64) -> i64 {
        self.window(at).tick_of(at).1
    }

    /// Returns the rules by which ticks are filled behind these readings. `taken` has ticks that are in other windows.
    pub(super) fn filling<'f>(
        &'f self,
        held: &'f KeptHeld,
        limits: &'f [i64],
        taken: &'f [Runs],
    ) -> Filling<'f> {
        Filling { rules: &self.rules, fixed: self.fixed, held, limits, unknown: &self.reported, taken }
    }

    /// Takes ticks out that a window had and has no more. Returns their times, by the names of channels.
    pub(super) fn clear(&mut self, before: &[Runs], now: &[Runs]) -> BTreeMap<String, Runs> {
        let mut cleared = BTreeMap::new();
        for (channel, (before, now)) in before.iter().zip(now).enumerate() {
            let mut gone = before.clone();
            gone.subtract(now);
            if !gone.is_empty() {
                self.sent[channel].subtract(&gone);
                cleared.insert(self.rules[channel].name.clone(), gone.shifted(self.phase));
            }
        }
        cleared
    }

    /// Returns for each channel the ticks of a part that are sent and not in its window.
    pub(super) fn elsewhere(&self, part: Part, presence: &[Runs]) -> Vec<Runs> {
        let of = |(sent, own): (&Runs, &Runs)| {
            let mut runs = sent.cut(part.start, part.until);
            runs.subtract(own);
            runs
        };
        self.sent.iter().zip(presence).map(of).collect()
    }
}
