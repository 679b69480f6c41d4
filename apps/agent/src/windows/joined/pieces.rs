//! Pieces of windows that are still open, and the whole window that comes in their place.

use sotto_pack::LeftOut;
use zeroize::Zeroizing;

use super::make::{Filled, Maker, last_of, taken, within};
use super::pending::merge;
use super::reports::Report;
use super::timeline::Timeline;
use super::values::Part;
use crate::spool::Runs;
use crate::spool::kept::{KeptHead, KeptHeld, KeptWindow};
use crate::windows::closed::{FillError, JoinedFacts, in_the_place_of};

impl Maker {
    /// Returns the start of the first piece of a window of the clock that is made whole now.
    pub(super) fn pieces_of(&mut self, window: Part) -> Option<i64> {
        if window.until == self.timeline.most {
            return None;
        }
        self.pieces.take(window.start)
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
        let end = |(_, last): (u32, u32)| part.at(last + 1).min(part.until);
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
