//! Goes through the windows of a stream in order of time, and makes those that new readings change.
//!
//! A step is a window of the clock. What was sent of it lies in *parts* that are kept, what was not between them. New
//! readings of a kept part make it again; others make a new part. Then the walk goes on, as long as what holds at the end
//! of the window differs from what later windows were made with, or ticks up to the next reading have no value.

use std::collections::{BTreeMap, BTreeSet};

use super::make::{Made, Maker};
use super::pending::{OfWindow, merge};
use super::timeline::Timeline;
use super::values::Part;
use crate::spool::kept::{KeptHeld, KeptReading};
use crate::windows::closed::FillError;

/// The walk through a stream's windows.
pub(super) struct Walk {
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
}

impl Walk {
    /// Returns a walk that looks at windows at these times, whatever is read.
    pub(super) fn new(stale: BTreeSet<i64>) -> Self {
        Self { queue: BTreeMap::new(), place: None, bound: i64::MIN, stale, is_final: false, tail: false }
    }

    /// Adds readings by the start of their window. Windows from `bound` on wait for more readings; `None`: no more come.
    pub(super) fn begin(&mut self, windows: BTreeMap<i64, OfWindow>, bound: Option<i64>) {
        for (start, window) in windows {
            self.queue.insert(start, window);
        }
        (self.is_final, self.tail) = (bound.is_none(), bound.is_none());
        self.bound = bound.unwrap_or(i64::MAX);
    }

    /// Looks also for ticks behind the last readings that are to be filled.
    pub(super) fn fill_tail(&mut self) {
        self.tail = true;
    }

    /// Returns the next window that was made; `None` if none is left to make.
    pub(super) fn next(&mut self, maker: &mut Maker) -> Result<Option<Made>, FillError> {
        loop {
            if let Some(made) = maker.made.pop_front() {
                return Ok(Some(made));
            }
            let Some((window, held)) = self.next_window(maker) else { return Ok(None) };
            let held = self.step(maker, window, held)?;
            self.place = Some((window.until, held));
        }
    }

    /// Returns the window of the next step, and what holds at its beginning.
    fn next_window(&mut self, maker: &Maker) -> Option<(Part, KeptHeld)> {
        let timeline = &maker.timeline;
        let queued = self.queue.first_key_value().map(|(start, _)| *start);
        let place = self.place.take();
        let within = maker.correction.as_ref().and_then(|correction| {
            let end = place.as_ref().map(|(end, _)| *end).filter(|end| correction.goes_on(*end));
            end.into_iter().chain(correction.next()).min()
        });
        self.stale.extend(within);
        if let Some((end, held)) = &place {
            // Those that wait for more readings are looked at then.
            self.stale.extend(timeline.first_unfilled(*end, held));
            let head = timeline.kept.as_ref().and_then(|kept| kept.head_from(&timeline.name, *end));
            let all = vec![true; timeline.rules.len()];
            let changed = head.filter(|head| maker.is_changed(head, held, &all)).map(|head| head.start);
            self.stale.extend(changed);
        }
        let stale = self.stale.first().copied().filter(|at| *at < self.bound);
        let gap = |start: i64| timeline.first_gap(&timeline.carried(start), start).unwrap_or(start);
        let queued = if place.is_some() { queued } else { queued.map(gap) };
        let mut first = queued.into_iter().chain(stale).min();
        if first.is_none() && std::mem::take(&mut self.tail) {
            first = timeline.first_gap(&timeline.carried(i64::MAX), timeline.horizon);
        }
        let mut window = timeline.window(first?);
        if window.start < timeline.most && timeline.most < window.until {
            window.until = timeline.most;
        }
        self.stale.retain(|at| !(window.start..window.until).contains(at));
        let held = place.filter(|(end, _)| *end == window.start).map(|(_, held)| held);
        Some((window, held.unwrap_or_else(|| timeline.carried(window.start))))
    }

    /// Makes what has to be made of a window. Returns what holds at its end.
    fn step(&mut self, maker: &mut Maker, window: Part, mut held: KeptHeld) -> Result<KeptHeld, FillError> {
        let OfWindow { reports, left_out, .. } = self.queue.remove(&window.start).unwrap_or_default();
        let reports = reports.in_order();
        maker.is_last = self.is_final && self.queue.is_empty();
        let before = maker.made.len();
        let has_readings = !reports.is_empty();
        if maker.correction.as_ref().is_some_and(|correction| correction.has(window, has_readings)) {
            maker.correct(window, &reports, &mut held)?;
        } else {
            let pieces = maker.pieces_of(window);
            let (mut at, rest) = (window.start, pieces.unwrap_or(window.until));
            for head in maker.timeline.heads(window.start, rest) {
                maker.add(Part { start: at, until: head.start, ..window }, &reports, &mut held)?;
                at = head.until;
                let kept = Part { start: head.start, until: head.until, ..window };
                match maker.timeline.kept_window(head.start)? {
                    Some(known) => maker.again(kept, known, &reports, &mut held)?,
                    None => maker.add(kept, &reports, &mut held)?,
                }
            }
            maker.add(Part { start: at, until: rest, ..window }, &reports, &mut held)?;
            if let Some(start) = pieces {
                maker.join(Part { start, ..window }, &reports, &mut held)?;
            }
        }
        merge(&mut maker.left_out, &left_out);
        if let Some(made) = maker.made.range_mut(before..).next_back() {
            made.leave_out(&std::mem::take(&mut maker.left_out));
        }
        Ok(held)
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
