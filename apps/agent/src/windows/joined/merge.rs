//! Merges new readings with those that were sent, and tells what becomes of each.

use sotto_pack::Reason;
use zeroize::Zeroizing;

use super::outcome::{Outcome, Outcomes};
use super::reports::Report;
use super::timeline::Timeline;
use super::values::Part;
use crate::spool::kept::{KeptReading, KeptReadings, KeptWindow};
use crate::windows::several::Fixed;

impl Timeline {
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
        let rounded = |number: i64| self.fixed.number(Fixed(number));
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

    /// Learns what holds from readings that were sent before the spool was lost.
    pub(super) fn learn(&mut self, outcomes: &Outcomes) {
        let sent = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Left(Reason::AlreadySent));
        for (report, _) in sent.filter(|(report, _)| report.at < self.blind) {
            let reading = KeptReading { at: report.at, number: report.number };
            if let Some(last) = self.last.get_mut(usize::from(report.channel)) {
                *last = (*last).max(Some(reading));
            }
        }
    }

    /// Returns what becomes of a reading whose tick was sent and is not kept: it was that tick's reading, or it changes
    /// ticks that were filled.
    fn forgotten(&self, channel: usize, tick: i64) -> Outcome {
        let is_known = self.rules[channel].fills() && tick >= self.before.max(self.blind);
        let is_new = is_known && !self.reported[channel].contains(tick);
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
