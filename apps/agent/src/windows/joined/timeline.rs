//! What is known of a stream: the ticks that it has sent, the readings that are kept, and the readings that hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::{Clock, Cut, Layout, Reason};
use zeroize::Zeroizing;

use super::outcome::{Outcome, Outcomes};
use super::pending::Report;
use super::rules::ChannelRules;
use super::values::{Filling, Part};
use crate::spool::kept::{Forgotten, Kept, KeptHead, KeptHeld, KeptReading, KeptReadings, KeptWindow};
use crate::spool::{Runs, Sent, SpoolError};
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
    before: i64,
    /// The end of the last window of earlier runs.
    pub(super) continues: Option<i64>,
    /// The readings of windows that were sent; `None` for a stream whose readings are not kept.
    pub(super) kept: Option<Arc<Kept>>,
    /// What stays of windows that are not kept any more.
    last: KeptHeld,
    /// For each channel, the ticks of such windows that had readings, where others were filled.
    pub(super) reported: Vec<Runs>,
    /// The latest reading of each channel in this run.
    newest: Vec<i64>,
    /// The time before which ticks are filled after the last reading of a channel.
    pub(super) horizon: i64,
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
        let period = cut.period.max(1).into();
        let at_tick = |time: i64| {
            let (start, until) = cut.window(clock, time);
            let (from, to) = Part { start, until, period }.tick_of(time);
            if from == time { time } else { to }
        };
        let before = sent.before.map_or(i64::MIN, |before| at_tick(before.saturating_sub(phase)));
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
            newest: vec![i64::MIN; channels],
            horizon: i64::MIN,
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
        let Some(Forgotten { mut last, mut reported }) = forgotten else { return };
        last.resize(self.rules.len(), None);
        reported.resize(self.rules.len(), Runs::default());
        (self.last, self.reported) = (last, reported);
    }

    pub(super) fn period(&self) -> i64 {
        self.cut.period.max(1).into()
    }

    /// Returns the window of the clock at a time.
    pub(super) fn window(&self, at: i64) -> Part {
        let (start, until) = self.cut.window(&self.clock, at);
        Part { start, until, period: self.period() }
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
        let limit =
            |(newest, sent): (&i64, &Runs)| self.horizon.max(*newest).max(sent.end().unwrap_or(i64::MIN));
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

    fn add_forgotten(&self, held: &mut KeptHeld, at: i64) {
        for (held, last) in held.iter_mut().zip(self.last.iter()) {
            *held = (*held).max(last.filter(|last| last.at < at));
        }
    }

    /// Returns the start of the first kept window that was made with other readings before it than there are: a run was
    /// killed while it made the windows behind a late reading again.
    pub(super) fn first_stale(&self) -> Option<i64> {
        let mut held: Option<KeptHeld> = None;
        for head in self.heads(i64::MIN, i64::MAX) {
            let mut now = held.unwrap_or_else(|| head.held.clone());
            now.resize(self.rules.len(), None);
            self.add_forgotten(&mut now, head.start);
            if self.is_changed(&head, now.clone()) {
                return Some(head.start);
            }
            for (now, last) in now.iter_mut().zip(head.last.iter()) {
                *now = last.filter(|last| last.at >= head.start).or(*now);
            }
            held = Some(now);
        }
        None
    }

    /// Returns true if ticks of a kept window hold other values behind these readings than those that it was made with.
    pub(super) fn is_changed(&self, head: &KeptHead, mut now: KeptHeld) -> bool {
        self.forget_unknown(&mut now, head.start);
        let mut was = head.held.clone();
        self.forget_unknown(&mut was, head.start);
        self.rules.iter().enumerate().filter(|(_, rules)| rules.fills()).any(|(channel, rules)| {
            let (now, was) = (now.get(channel).copied().flatten(), was.get(channel).copied().flatten());
            // The window alone knows a reading that is not kept any more.
            let is_behind = |was: &KeptReading| now.is_none_or(|now| now.at < was.at);
            let alone = was.filter(is_behind).is_some_and(|was| self.is_forgotten(channel, was));
            !alone && rules.holds_other(head.start, (now, was))
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
            now.iter().for_each(|(from, to)| gone.remove(from, to));
            if !gone.is_empty() {
                gone.iter().for_each(|(from, to)| self.sent[channel].remove(from, to));
                cleared.insert(self.rules[channel].name.clone(), gone.shifted(self.phase));
            }
        }
        cleared
    }

    /// Returns for each channel the ticks of a part that are sent and not in its window.
    pub(super) fn elsewhere(&self, part: Part, presence: &[Runs]) -> Vec<Runs> {
        let of = |(sent, own): (&Runs, &Runs)| {
            let mut runs = Runs::default();
            sent.between(part.start, part.until).for_each(|(from, to)| runs.push(from, to));
            own.iter().for_each(|(from, to)| runs.remove(from, to));
            runs
        };
        self.sent.iter().zip(presence).map(of).collect()
    }

    /// Merges new readings of a part with those that are kept of it. `presence` has the ticks that the kept window has.
    /// `reports` are in order.
    pub(super) fn merge(
        &self,
        part: Part,
        kept: Option<&KeptWindow>,
        reports: &[Report],
    ) -> (Vec<KeptReadings>, Outcomes) {
        let (mut merged, mut outcomes) =
            (Vec::with_capacity(self.rules.len()), Vec::with_capacity(reports.len()));
        for channel in 0..self.rules.len() {
            let reports = of_channel(reports, channel);
            let mut all = kept.and_then(|kept| kept.readings.get(channel).cloned()).unwrap_or_default();
            let known = all.len();
            let from = outcomes.len();
            for (at, report) in reports.iter().enumerate() {
                let before = at.checked_sub(1).map(|before| &reports[before]);
                let outcome = self.outcome(part, kept, (channel, &all[..known]), before, report);
                outcomes.push((*report, outcome));
            }
            self.refuse(part, channel, &mut outcomes[from..]);
            let taken = outcomes[from..].iter().filter(|(_, outcome)| *outcome == Outcome::Taken);
            let new: Vec<KeptReading> =
                taken.map(|(report, _)| KeptReading { at: report.at, number: report.number }).collect();
            if !new.is_empty() {
                // A vector that grows leaves a copy behind.
                let mut both = Zeroizing::new(Vec::with_capacity(known + new.len()));
                both.extend_from_slice(&all);
                both.extend_from_slice(&new);
                both.sort_unstable();
                all = both;
                self.check_sums(part, channel, &mut all, &mut outcomes[from..]);
            }
            merged.push(all);
        }
        (merged, outcomes)
    }

    /// Returns what becomes of a reading beside kept ones.
    fn outcome(
        &self,
        part: Part,
        kept: Option<&KeptWindow>,
        (channel, known): (usize, &[KeptReading]),
        before: Option<&Report>,
        report: &Report,
    ) -> Outcome {
        if before.is_some_and(|before| (before.at, before.number) == (report.at, report.number)) {
            return Outcome::Left(Reason::Duplicate);
        }
        let (tick, end) = part.tick_of(report.at);
        let has = kept.is_some_and(|kept| kept.presence.get(channel).is_some_and(|runs| runs.contains(tick)));
        let is_unsent = kept.is_some_and(|kept| kept.head.is_unsent);
        let here = &known[known.partition_point(|reading| reading.at < tick)..];
        let here = &here[..here.partition_point(|reading| reading.at < end)];
        if here.contains(&KeptReading { at: report.at, number: report.number }) {
            return if is_unsent { Outcome::There } else { Outcome::Left(Reason::AlreadySent) };
        }
        if self.is_sent(channel, tick) && !has && here.is_empty() {
            return self.forgotten(channel, tick);
        }
        let rules = &self.rules[channel];
        let rounded = |number: i64| self.fixed.number(crate::windows::several::Fixed(number));
        let beside = |reading: &&KeptReading| reading.at == report.at || rules.refuses();
        match here.iter().find(beside) {
            Some(other) if rounded(other.number) == rounded(report.number) => {
                Outcome::Left(Reason::AlreadySent)
            }
            Some(_) => Outcome::OtherValue,
            None if rules.is_counter && kept.is_none() && self.is_within_forgotten(channel, part, tick) => {
                Outcome::Left(Reason::TooLate)
            }
            None => Outcome::Taken,
        }
    }

    /// Returns what becomes of a reading whose tick was sent and is not kept: it was that tick's reading, or it changes
    /// ticks that were filled.
    fn forgotten(&self, channel: usize, tick: i64) -> Outcome {
        let is_new =
            self.rules[channel].fills() && tick >= self.before && !self.reported[channel].contains(tick);
        Outcome::Left(if is_new { Reason::TooLate } else { Reason::AlreadySent })
    }

    /// Returns true if a window that is not kept any more has ticks before and behind this one.
    fn is_within_forgotten(&self, channel: usize, part: Part, tick: i64) -> bool {
        let window = self.window(part.start);
        let mut sent =
            self.sent[channel].between(window.start, window.until).map(|(from, _)| from).peekable();
        sent.peek().is_some_and(|first| *first < tick) && sent.last().is_some_and(|last| last > tick)
    }

    /// Leaves out all but the first reading of each tick where they are not merged.
    fn refuse(&self, part: Part, channel: usize, outcomes: &mut [(Report, Outcome)]) {
        if !self.rules[channel].refuses() {
            return;
        }
        let mut first: Option<(i64, i64)> = None;
        for (report, outcome) in outcomes.iter_mut().filter(|(_, outcome)| *outcome == Outcome::Taken) {
            let (tick, _) = part.tick_of(report.at);
            match first.filter(|(other, _)| *other == tick) {
                None => first = Some((tick, report.at)),
                Some((_, at)) => {
                    let reason = if at == report.at { Reason::Duplicate } else { Reason::OffGrid };
                    *outcome = Outcome::Left(reason);
                }
            }
        }
    }

    /// Leaves out the new readings of ticks whose merged number is outside the range.
    fn check_sums(
        &self,
        part: Part,
        channel: usize,
        all: &mut KeptReadings,
        outcomes: &mut [(Report, Outcome)],
    ) {
        let rules = &self.rules[channel];
        let mut at = 0;
        let mut beyond = Vec::new();
        while at < all.len() {
            let (tick, end) = part.tick_of(all[at].at);
            let here = all[at..].partition_point(|reading| reading.at < end);
            let offset = |reading: &KeptReading| ((reading.at - tick) as u32, reading.number);
            if here > 1 && rules.merged(all[at..at + here].iter().map(offset)).is_none() {
                beyond.push((tick, end));
            }
            at += here.max(1);
        }
        for (tick, end) in beyond {
            let new = outcomes
                .iter_mut()
                .filter(|(report, outcome)| *outcome == Outcome::Taken && (tick..end).contains(&report.at));
            for (report, outcome) in new {
                *outcome = Outcome::Left(Reason::OutOfRange);
                let reading = KeptReading { at: report.at, number: report.number };
                if let Ok(place) = all.binary_search(&reading) {
                    all.remove(place);
                }
            }
        }
    }
}

/// Returns the readings of a channel among readings in order.
pub(super) fn of_channel(reports: &[Report], channel: usize) -> &[Report] {
    let from = reports.partition_point(|report| usize::from(report.channel) < channel);
    let to = reports.partition_point(|report| usize::from(report.channel) <= channel);
    &reports[from..to]
}
