//! A correction: the windows of a file are made as if nothing was sent of them, and come in the place of those that were.
//!
//! From the first to the last reading of the file, for the channels that it has: a window of the clock with readings of
//! the file, or with ticks that they fill, replaces all windows of the stream in its time. Readings of other channels are
//! in it again if all of them are kept; otherwise they count on in their windows.

use super::lacks::Lacks;
use super::timeline::Timeline;
use super::values::Part;
use crate::spool::kept::KeptHeld;
use crate::spool::{Runs, SentWindows};

/// The correction of a stream by a file.
pub(super) struct Correction {
    /// For each channel, true if the file has it.
    pub(super) channels: Vec<bool>,
    /// True if ticks of such a channel are filled.
    pub(super) fills: bool,
    /// The windows that earlier runs have sent.
    pub(super) index: SentWindows,
    /// Their times, by channel.
    pub(super) known: Vec<Runs>,
    /// The times of the first and the last reading of the file so far.
    pub(super) span: Option<(i64, i64)>,
    /// The time of the windows that are corrected.
    pub(super) done: Runs,
    /// The end of the last of them.
    pub(super) reached: Option<i64>,
    pub(super) lacks: Lacks,
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
