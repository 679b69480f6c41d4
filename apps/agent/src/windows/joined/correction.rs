//! A correction: the windows of a file are made as if nothing was sent of them, and come in the place of those that were.
//!
//! From the first to the last reading of the file, for the channels that it has: a window of the clock with readings of
//! the file, or with ticks that they fill, replaces all windows of the stream in its time. Readings of other channels are
//! in it again if all of them are kept; otherwise they count on in their windows.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Clock, Replaces};
use zeroize::Zeroizing;

use super::merge::of_channel;
use super::pending::Report;
use super::timeline::Timeline;
use super::values::Part;
use super::walk::{Filled, Walk, last_of, taken};
use crate::spool::kept::{KeptHeld, KeptReadings, KeptWindow};
use crate::spool::{Runs, SentWindows};
use crate::summary::counted;
use crate::windows::closed::{FillError, JoinedFacts};

/// Maximum number of windows that a window of a correction names: more might not fit its description.
const MOST_NAMED: usize = 256;
/// Number of ticks that are listed for a channel.
const LISTED: usize = 5;

/// The correction of a stream by a file.
pub(super) struct Correction {
    /// For each channel, true if the file has it.
    channels: Vec<bool>,
    /// True if ticks of such a channel are filled.
    fills: bool,
    /// The windows that earlier runs have sent.
    index: SentWindows,
    /// Their times, by channel.
    known: Vec<Runs>,
    /// The times of the first and the last reading of the file so far.
    span: Option<(i64, i64)>,
    /// The time of the windows that are corrected.
    done: Runs,
    /// The end of the last of them.
    reached: Option<i64>,
    lacks: Lacks,
}

/// Ticks that were sent and are in no window of a correction. Times are those of windows, in milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacks {
    /// By channel, the number of ticks with a reading that the file lacks, and the first of them.
    pub ticks: BTreeMap<String, (u64, Vec<i64>)>,
    /// By channel, the first tick whose window has no known number.
    pub unknown: BTreeMap<String, i64>,
    /// The start of the first window in whose time more were sent than one can name.
    pub too_many: Option<i64>,
}

impl Correction {
    /// Returns the correction of a stream by a file that has these of its channels.
    pub(super) fn new(timeline: &Timeline, channels: Vec<bool>, index: SentWindows) -> Self {
        let rules = timeline.rules.iter();
        let known = rules.clone().map(|rules| index.times_of(&rules.name).shifted(-timeline.phase)).collect();
        let fills = rules.zip(&channels).any(|(rules, has)| *has && rules.fills());
        let (done, lacks) = (Runs::default(), Lacks::default());
        Self { channels, fills, index, known, span: None, done, reached: None, lacks }
    }

    /// Notes the time of a reading of the file.
    pub(super) fn note(&mut self, at: i64) {
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
    }

    /// Notes the ticks of a window of this run: the kept readings know its number.
    pub(super) fn know(&mut self, presence: &[Runs]) {
        self.known.iter_mut().zip(presence).for_each(|(known, presence)| known.add(presence));
    }

    /// Returns true if the window that begins at this time is within the time of the file.
    pub(super) fn goes_on(&self, start: i64) -> bool {
        self.fills && self.span.is_some_and(|(_, last)| start <= last)
    }

    /// Returns the end of the last window that is corrected, if the file goes on behind it.
    pub(super) fn next(&self) -> Option<i64> {
        self.reached.filter(|reached| self.goes_on(*reached))
    }

    /// Returns true if a window is to be corrected.
    pub(super) fn has(&self, window: Part, has_readings: bool) -> bool {
        let is_within =
            || self.span.is_some_and(|(first, last)| first < window.until && window.start <= last);
        !self.done.contains(window.start) && (has_readings || self.fills && is_within())
    }

    /// Returns true if ticks from a time on hold a reading of a corrected window, of a channel that is `open` there: windows
    /// come again, whether the value is another one or not.
    pub(super) fn holds_in(&self, timeline: &Timeline, at: i64, held: &KeptHeld, open: &[bool]) -> bool {
        timeline.rules.iter().zip(&self.channels).zip(held.iter().zip(open)).any(
            |((rules, has), (held, open))| {
                let corrected = held.filter(|held| self.done.contains(held.at));
                *has && *open
                    && rules.holds()
                    && corrected.is_some_and(|held| at < rules.holds_until(held.at))
            },
        )
    }

    /// Returns the ticks that the file lacks.
    pub(super) fn lacks(&self) -> &Lacks {
        &self.lacks
    }
}

impl Walk {
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
            presence[channel].iter().for_each(|(from, to)| lacks.remove(from, to));
            let mut unread = reported[channel].clone();
            for report in of_channel(reports, channel) {
                let (from, to) = window.tick_of(report.at);
                unread.remove(from, to);
            }
            lacks.add(&unread);
            let mut unknown = before[channel].clone();
            correction.known[channel].iter().for_each(|(from, to)| unknown.remove(from, to));
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
                super::pending::merge(&mut all, &more);
                all
            });
            self.make(&filled, time, facts, &left_out)?;
        }
        *held = next;
        Ok(())
    }
}

impl Lacks {
    fn add(&mut self, channel: &str, (lacks, unknown): (&Runs, &Runs), window: Part, phase: i64) {
        let ticks = |runs: &Runs| -> Vec<i64> {
            let of = |(from, to): (i64, i64)| (from..to).step_by(window.period.unsigned_abs() as usize);
            runs.iter().flat_map(of).map(|at| at.saturating_add(phase)).collect()
        };
        let lacking = ticks(lacks);
        if !lacking.is_empty() {
            let (count, first) = self.ticks.entry(channel.to_owned()).or_default();
            *count += lacking.len() as u64;
            first.extend(lacking);
            first.sort_unstable();
            first.truncate(LISTED);
        }
        if let Some((at, _)) = unknown.iter().next() {
            let at = at.saturating_add(phase);
            let first = self.unknown.entry(channel.to_owned()).or_insert(at);
            *first = at.min(*first);
        }
    }

    /// Returns true if nothing can be sent.
    pub(crate) fn is_refused(&self, allow_missing: bool) -> bool {
        self.too_many.is_some() || !self.unknown.is_empty() || !(allow_missing || self.ticks.is_empty())
    }

    /// Returns the ticks in words, with the way out.
    pub(crate) fn words(&self, clock: &Clock) -> String {
        if let Some((channel, at)) = self.unknown.iter().next() {
            return format!(
                "channel {channel}: windows from {} on were sent by an earlier version of the agent, or before the spool was lost: \
                 their numbers are not known, so they cannot be corrected; nothing was sent",
                clock.rfc3339(*at)
            );
        }
        if let Some(at) = self.too_many {
            return format!(
                "more than {MOST_NAMED} windows were sent of the time from {} on, and a window can come in the place of no more; \
                 nothing was sent: correct the days before and after it",
                clock.rfc3339(at)
            );
        }
        let of = |(channel, (count, first)): (&String, &(u64, Vec<i64>))| {
            let times: Vec<String> = first.iter().map(|at| clock.rfc3339(*at)).collect();
            let more = if *count > times.len() as u64 { " …" } else { "" };
            format!("{channel}: {}, {}{more}", counted(*count, "tick"), times.join(", "))
        };
        let all: Vec<String> = self.ticks.iter().map(of).collect();
        format!(
            "the correction lacks readings that the windows in its time have ({}); nothing was sent: add them to the file, or \
             pass --allow-missing to take them out",
            all.join("; ")
        )
    }

    /// Adds those of another stream.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (channel, (count, first)) in &other.ticks {
            let all = self.ticks.entry(channel.clone()).or_default();
            all.0 += count;
            all.1.extend(first);
            all.1.sort_unstable();
            all.1.truncate(LISTED);
        }
        self.too_many = self.too_many.into_iter().chain(other.too_many).min();
        for (channel, at) in &other.unknown {
            let first = self.unknown.entry(channel.clone()).or_insert(*at);
            *first = (*at).min(*first);
        }
    }
}

impl Timeline {
    /// Returns for each channel the ticks of a window that are sent.
    fn within(&self, window: Part) -> Vec<Runs> {
        let of = |sent: &Runs| {
            let mut runs = Runs::default();
            sent.between(window.start, window.until).for_each(|(from, to)| runs.push(from, to));
            runs
        };
        self.sent.iter().map(of).collect()
    }

    /// Returns true if the ticks of all other channels are in these windows.
    fn are_kept(&self, sent: &[Runs], corrected: &[bool], kept: &[KeptWindow]) -> bool {
        let is_kept = |(channel, sent): (usize, &Runs)| {
            let mut rest = sent.clone();
            let presence = kept.iter().filter_map(|kept| kept.presence.get(channel));
            presence.flat_map(Runs::iter).for_each(|(from, to)| rest.remove(from, to));
            corrected[channel] || rest.is_empty()
        };
        self.kept.is_some() && sent.iter().enumerate().all(is_kept)
    }

    /// Returns for each channel the ticks of a window that had readings, where others were filled.
    fn reported_in(&self, window: Part, kept: &[KeptWindow]) -> Vec<Runs> {
        let of = |(channel, rules): (usize, &super::rules::ChannelRules)| {
            let mut runs = Runs::default();
            if rules.fills() {
                self.reported[channel]
                    .between(window.start, window.until)
                    .for_each(|(from, to)| runs.push(from, to));
                let readings = kept.iter().filter_map(|kept| kept.readings.get(channel));
                for reading in readings.flat_map(|readings| readings.iter()) {
                    let (from, to) = window.tick_of(reading.at);
                    runs.insert(from, to);
                }
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
