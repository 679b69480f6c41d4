//! Makes the windows of a correction.

use std::collections::BTreeSet;

use sotto_pack::Replaces;
use zeroize::Zeroizing;

use super::correction::Correction;
use super::lacks::MOST_NAMED;
use super::make::{Filled, Maker, last_of, taken};
use super::merge::of_channel;
use super::pending::merge;
use super::reports::Report;
use super::rules::ChannelRules;
use super::timeline::Timeline;
use super::values::Part;
use crate::spool::Runs;
use crate::spool::kept::{KeptHeld, KeptReadings, KeptWindow};
use crate::windows::closed::{FillError, JoinedFacts};

impl Maker {
    /// Makes a window as if nothing was sent of the file's channels.
    pub(super) fn correct(
        &mut self,
        window: Part,
        reports: &[Report],
        held: &mut KeptHeld,
    ) -> Result<(), FillError> {
        let Some(mut correction) = self.correction.take() else { return Ok(()) };
        let corrected = self.correct_by(&mut correction, window, reports, held);
        self.correction = Some(correction);
        corrected
    }

    fn correct_by(
        &mut self,
        correction: &mut Correction,
        window: Part,
        reports: &[Report],
        held: &mut KeptHeld,
    ) -> Result<(), FillError> {
        correction.done.insert(window.start, window.until);
        correction.reached = correction.reached.max(Some(window.until));
        let heads = self.timeline.heads(window.start, window.until);
        let kept = heads.iter().map(|head| self.timeline.kept_window(head.start));
        let kept: Vec<KeptWindow> = kept.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let phase = self.timeline.phase;
        let before = self.timeline.within(window);
        let others_are_known = self.timeline.are_kept(&before, &correction.channels, &kept);
        let replaced = |channel: usize| correction.channels[channel] || others_are_known;
        let reported = self.timeline.reported_in(window, &kept);
        for channel in (0..before.len()).filter(|channel| replaced(*channel)) {
            self.timeline.sent[channel].remove(window.start, window.until);
            self.timeline.reported[channel].remove(window.start, window.until);
        }
        let timeline = &self.timeline;
        timeline.forget_unknown(held, window.start);
        let (mut merged, outcomes) = timeline.merge(window, None, reports);
        let mut filled_from = held.clone();
        for channel in (0..before.len()).filter(|channel| !correction.channels[*channel]) {
            if others_are_known {
                merged[channel] = readings_of(&kept, channel);
            } else {
                filled_from[channel] = None;
            }
        }
        let limits = timeline.limits();
        let values = timeline.filling(&filled_from, &limits, &timeline.sent).values(window, &merged);
        let presence = values.presence(window);
        for channel in (0..before.len()).filter(|channel| correction.channels[*channel]) {
            let mut lacks = before[channel].clone();
            lacks.subtract(&presence[channel]);
            let mut unread = reported[channel].clone();
            for report in of_channel(reports, channel) {
                let (from, to) = window.tick_of(report.at);
                unread.remove(from, to);
            }
            lacks.add(&unread);
            let mut unknown = before[channel].clone();
            unknown.subtract(&correction.known[channel]);
            let name = &timeline.rules[channel].name;
            correction.lacks.add(name, (&lacks, &unknown), window, phase);
        }
        let readings = taken(&outcomes, before.len());
        let next = last_of(&merged, held);
        self.count(outcomes);
        let names = (0..before.len()).filter(|channel| replaced(*channel));
        let columns: Vec<u16> = names.clone().map(|channel| channel as u16).collect();
        let names: BTreeSet<&str> = names.map(|channel| &*self.timeline.rules[channel].name).collect();
        let (from, to) = (window.start.saturating_add(phase), window.until.saturating_add(phase));
        let mut numbers: BTreeSet<u64> = correction.index.between(from, to, &names).into_iter().collect();
        numbers.extend(heads.iter().flat_map(|head| &head.numbers));
        if numbers.len() > MOST_NAMED {
            correction.lacks.too_many = correction.lacks.too_many.into_iter().chain([from]).min();
        }
        let mut time = Runs::default();
        time.insert(from, to);
        let cleared = names.iter().map(|name| ((*name).to_owned(), time.clone())).collect();
        // A window without a reading takes those of others out.
        let time = match values.ends() {
            None if numbers.is_empty() => None,
            Some(ends) if numbers.is_empty() => Some(self.trimmed(window, ends)),
            _ => Some((window.start, window.until)),
        };
        if let Some(time) = time {
            let windows: Vec<u64> = numbers.into_iter().collect();
            let replaces = (!windows.is_empty()).then_some(Replaces { windows, channels: columns });
            let obsolete = heads.iter().map(|head| head.start).filter(|start| *start != time.0).collect();
            let facts = JoinedFacts { replaces, obsolete, cleared, ..JoinedFacts::default() };
            let filled = Filled { part: window, merged, held: &filled_from, values, readings };
            let left_out = kept.into_iter().map(|kept| kept.left_out).fold(Vec::new(), |mut all, more| {
                merge(&mut all, &more);
                all
            });
            self.make(&filled, time, facts, &left_out)?;
        }
        *held = next;
        Ok(())
    }
}

impl Timeline {
    /// Returns for each channel the ticks of a window that are sent.
    fn within(&self, window: Part) -> Vec<Runs> {
        self.sent.iter().map(|sent| sent.cut(window.start, window.until)).collect()
    }

    /// Returns true if the ticks of all other channels are in these windows.
    fn are_kept(&self, sent: &[Runs], corrected: &[bool], kept: &[KeptWindow]) -> bool {
        let is_kept = |(channel, sent): (usize, &Runs)| {
            let mut rest = sent.clone();
            let presence = kept.iter().filter_map(|kept| kept.presence.get(channel));
            presence.for_each(|presence| rest.subtract(presence));
            corrected[channel] || rest.is_empty()
        };
        self.kept.is_some() && sent.iter().enumerate().all(is_kept)
    }

    /// Returns for each channel the ticks of a window that had readings, where others were filled.
    fn reported_in(&self, window: Part, kept: &[KeptWindow]) -> Vec<Runs> {
        let of = |(channel, rules): (usize, &ChannelRules)| {
            if !rules.fills() {
                return Runs::default();
            }
            let mut runs = self.reported[channel].cut(window.start, window.until);
            let readings = kept.iter().filter_map(|kept| kept.readings.get(channel));
            for reading in readings.flat_map(|readings| readings.iter()) {
                let (from, to) = window.tick_of(reading.at);
                runs.insert(from, to);
            }
            runs
        };
        self.rules.iter().enumerate().map(of).collect()
    }
}

/// Returns the readings of a channel in some windows, in order.
fn readings_of(kept: &[KeptWindow], channel: usize) -> KeptReadings {
    let readings = || kept.iter().filter_map(move |kept| kept.readings.get(channel));
    let mut all = Zeroizing::new(Vec::with_capacity(readings().map(|readings| readings.len()).sum()));
    readings().for_each(|readings| all.extend_from_slice(readings));
    all.sort_unstable();
    all
}
