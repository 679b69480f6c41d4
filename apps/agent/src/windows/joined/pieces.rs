//! Pieces of windows that are still open, and the whole window that comes in their place.

use std::collections::BTreeMap;

use sotto_pack::LeftOut;
use zeroize::Zeroizing;

use super::make::{Filled, Maker, last_of, taken, within};
use super::pending::{Report, merge};
use super::timeline::Timeline;
use super::values::Part;
use crate::spool::Runs;
use crate::spool::kept::{KeptHead, KeptHeld, KeptWindow};
use crate::windows::closed::{FillError, JoinedFacts, in_the_place_of};

/// The windows of which this run has sent pieces: by their start, where the first piece begins, and their end.
///
/// The pieces of a run that was killed stand, as windows of their own.
#[derive(Debug, Default)]
pub(super) struct OpenPieces(BTreeMap<i64, (i64, i64)>);

impl OpenPieces {
    /// Returns true if a part is the last one before the end of the piece that is made, and notes it.
    pub(super) fn begin(&mut self, timeline: &Timeline, part: Part) -> bool {
        if part.until != timeline.most {
            return false;
        }
        let window = timeline.window(part.start);
        self.0.entry(window.start).or_insert((part.start, window.until));
        true
    }

    /// Returns true if a kept window that starts at this time is a piece.
    pub(super) fn has(&self, start: i64) -> bool {
        let window = self.0.range(..=start).next_back().map(|(_, times)| *times);
        window.is_some_and(|(from, until)| (from..until).contains(&start))
    }

    /// Returns the starts of the windows that end by a time.
    pub(super) fn over(&self, at: i64) -> Vec<i64> {
        self.0.iter().filter(|(_, (_, until))| *until <= at).map(|(start, _)| *start).collect()
    }

    /// Returns the end of the last window.
    pub(super) fn end(&self) -> Option<i64> {
        self.0.last_key_value().map(|(_, (_, until))| *until)
    }
}

impl Maker {
    /// Returns the start of the first piece of a window of the clock that is made whole now.
    pub(super) fn pieces_of(&mut self, window: Part) -> Option<i64> {
        if window.until == self.timeline.most {
            return None;
        }
        self.pieces.0.remove(&window.start).map(|(from, _)| from)
    }

    /// Makes the rest of a window in the place of its pieces, with new readings.
    pub(super) fn join(
        &mut self,
        part: Part,
        reports: &[Report],
        held: &mut KeptHeld,
    ) -> Result<(), FillError> {
        let timeline = &self.timeline;
        timeline.forget_unknown(held, part.start);
        let (known, starts) = timeline.joined(part)?;
        let (merged, outcomes) = timeline.merge(part, Some(&known), &within(reports, part));
        let elsewhere: Vec<Runs> = timeline.elsewhere(part, &known.presence);
        let limits = timeline.limits();
        let values = timeline.filling(held, &limits, &elsewhere).values(part, &merged);
        let readings = taken(&outcomes, limits.len());
        let next = last_of(&merged, held);
        self.count(outcomes);
        let end = |(_, last): (u32, u32)| part.at(last).saturating_add(part.period).min(part.until);
        let until = match values.ends() {
            _ if !self.is_last => part.until,
            // The next run goes on there.
            ends => ends.map_or(known.head.until, end).max(known.head.until),
        };
        let facts = JoinedFacts {
            replaces: in_the_place_of(&known.head.numbers, limits.len()),
            cleared: self.timeline.clear(&known.presence, &values.presence(part)),
            obsolete: starts.into_iter().filter(|start| *start != part.start).collect(),
            ..JoinedFacts::default()
        };
        let filled = Filled { part, merged, held, values, readings };
        self.make(&filled, (part.start, until), facts, &known.left_out)?;
        *held = next;
        Ok(())
    }
}

impl Timeline {
    /// Returns the kept windows of a part as one, and their starts.
    fn joined(&self, part: Part) -> Result<(KeptWindow, Vec<i64>), FillError> {
        let channels = self.rules.len();
        let (mut numbers, mut starts, mut until) = (Vec::new(), Vec::new(), part.start);
        let mut presence = vec![Runs::default(); channels];
        let mut left_out: Vec<LeftOut> = Vec::new();
        let mut windows: Vec<KeptWindow> = Vec::new();
        for head in self.heads(part.start, part.until) {
            // The readings of a damaged one stay where they were sent.
            let Some(window) = self.kept_window(head.start)? else { continue };
            numbers.extend(&window.head.numbers);
            starts.push(head.start);
            until = until.max(head.until);
            presence.iter_mut().zip(&window.presence).for_each(|(all, runs)| all.add(runs));
            merge(&mut left_out, &window.left_out);
            windows.push(window);
        }
        numbers.sort_unstable();
        numbers.dedup();
        let readings = (0..channels).map(|channel| {
            let of = || windows.iter().filter_map(move |window| window.readings.get(channel));
            let mut all = Zeroizing::new(Vec::with_capacity(of().map(|readings| readings.len()).sum()));
            of().for_each(|readings| all.extend_from_slice(readings));
            all.sort_unstable();
            all
        });
        let readings = readings.collect();
        let head = KeptHead { start: part.start, until, numbers, ..KeptHead::default() };
        Ok((KeptWindow { head, readings, presence, left_out }, starts))
    }
}
