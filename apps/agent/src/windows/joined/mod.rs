//! Windows of a stream whose readings change other ticks than their own: of states, amounts, counters, gauges that hold,
//! and products of two channels.
//!
//! Readings are sorted by window. Once they fill a budget of memory, those of the oldest windows are taken; the others at
//! the end, or of a source whose rows arrive over time when a later window begins. For each window with new readings:
//!
//! 1. They are merged with those that are kept of it, by the rule of the channel. A time keeps the value that was sent:
//!    another one is *already sent*. A tick that was sent and is not kept any more takes none: a reading that would change
//!    the values filled there is *too late*.
//! 2. Ticks between readings are filled: with the reading before, as long as it holds, or with 0. After the last reading
//!    of a stream they are filled to the end of its day by the plant's clock, but not beyond now; if rows arrive over time,
//!    up to now.
//! 3. If a tick differs from what was sent, the window is made again, whole, in the place of all that were sent of it.
//! 4. The windows behind it are made, or made again, up to the first that holds what it did.
//!
//! So what counts depends on the set of readings, not on the order, grouping or repetition of their arrival.

mod by_clock;
mod corrected;
mod correction;
mod count;
mod lacks;
mod make;
mod merge;
mod open_pieces;
mod outcome;
mod pass;
mod pending;
mod pieces;
mod reports;
mod room;
mod rules;
mod timeline;
mod values;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sotto_pack::{Clock, Cut, Layout, Reason, Span};
use zeroize::Zeroizing;

pub use lacks::Lacks;

use super::closed::{ClosedWindow, FillError};
use super::lost::{FirstLost, RowPlace};
use super::ticks::TickRules;
use super::timer::Idle;
use super::{Closed, ReadRow, Rules};
use crate::spool::kept::Kept;
use crate::spool::{ChannelTotals, Sent, Totals};
use correction::Correction;
use make::{Made, Maker};
use pass::Pass;
use pending::{OfWindow, Pending};
use reports::Report;
use timeline::Timeline;
use walk::Walk;

/// What a stream is, and what is known of it.
pub(super) struct Known<'k> {
    /// The stream's position in the profile.
    pub(super) stream: usize,
    pub(super) name: &'k str,
    pub(super) layout: Layout,
    pub(super) cut: Cut,
    pub(super) clock: &'k Clock,
    pub(super) ticks: TickRules,
    pub(super) sent: Sent,
    /// The readings of windows that were sent; `None` for a stream whose readings are not kept.
    pub(super) kept: Option<Arc<Kept>>,
    /// For each channel, its position in a row; `None` if the source lacks it.
    pub(super) columns: Vec<Option<usize>>,
    /// True if the windows of the source come in the place of those that were sent.
    pub(super) corrects: bool,
}

/// The windows of one stream.
pub(super) struct JoinedWindows {
    stream: usize,
    /// For each of the stream's channels, its position in a row.
    columns: Arc<[Option<usize>]>,
    rules: Rules,
    ticks: TickRules,
    pending: Pending,
    maker: Maker,
    walk: Walk,
    /// Windows whose readings are in no message, since a run that was killed.
    unsent: Vec<i64>,
    pass: Pass,
    /// The last row with a reading, in milliseconds since 1970.
    last_row: Option<i64>,
    /// The time of the latest reading.
    latest: i64,
    /// Missing readings behind it: time, channel, reason. Only for sources that end.
    tail: Vec<(i64, usize, Reason)>,
    /// For a source that is polled: the last tick of each channel.
    last_ticks: Vec<Option<i64>>,
    totals: Totals,
    /// The times of the first and the last reading taken.
    span: Option<(i64, i64)>,
    /// For each channel, readings whose tick or time has another value that was sent.
    other_values: Vec<u64>,
    first_lost: FirstLost,
    /// True if windows may have been kept for long enough.
    forgets: bool,
    idle: Idle,
    /// True if rows come at their times: windows are made at times of the clock, which do not follow from values.
    is_live: bool,
    /// The end of the last windows that were made because their time was over.
    closed_until: i64,
}

impl JoinedWindows {
    pub(super) fn new(known: Known<'_>, rules: Rules) -> Self {
        let Known { stream, name, layout, cut, clock, ticks, sent, kept, columns, corrects } = known;
        let named = layout.channels().iter().map(|channel| (channel.name.clone(), ChannelTotals::default()));
        let totals = Totals { windows: 0, channels: named.collect() };
        let unsent = kept.as_ref().map(|kept| kept.unsent(name)).unwrap_or_default();
        let timeline = Timeline::new(name, layout, (cut, clock), ticks.phase, &sent, kept);
        let has = || columns.iter().map(Option::is_some).collect();
        let correction = corrects.then(|| Correction::new(&timeline, has(), sent.windows));
        Self {
            stream,
            last_ticks: vec![None; columns.len()],
            other_values: vec![0; columns.len()],
            columns: columns.into(),
            idle: Idle::new(&rules.now),
            rules,
            ticks,
            pending: Pending::default(),
            walk: Walk::new(timeline.stale()),
            maker: Maker::new(timeline, correction),
            unsent,
            pass: Pass::first(),
            last_row: None,
            latest: i64::MIN,
            tail: Vec::new(),
            totals,
            span: None,
            first_lost: FirstLost::default(),
            forgets: false,
            is_live: false,
            closed_until: i64::MIN,
        }
    }

    pub(super) fn stream(&self) -> usize {
        self.stream
    }

    /// Returns the milliseconds by which the ticks are later than those of the clock.
    pub(super) fn phase(&self) -> i64 {
        self.maker.timeline.all_phase()
    }

    /// Returns the counts of this run, and the times of its first and last reading.
    pub(super) fn counts(&self) -> (&Totals, Option<(i64, i64)>) {
        (&self.totals, self.span)
    }

    /// Returns the least mark of the rows whose readings wait for their window; `None` if none does.
    pub(super) fn oldest_mark(&self) -> Option<u64> {
        self.pending.oldest_mark()
    }

    /// Returns for each channel the number of readings whose tick or time has another value that was sent.
    pub(super) fn other_values(&self) -> &[u64] {
        &self.other_values
    }

    /// Iterates over the names of the channels.
    pub(super) fn channels(&self) -> impl Iterator<Item = &str> {
        self.maker.timeline.rules.iter().map(|rules| &*rules.name)
    }

    pub(super) fn first_lost(&self) -> &FirstLost {
        &self.first_lost
    }

    /// Returns the ticks that a correction lacks.
    pub(super) fn lacks(&self) -> Option<&Lacks> {
        self.maker.correction.as_ref().map(Correction::lacks)
    }

    /// Takes a row.
    pub(super) fn take(&mut self, ReadRow { row, place, is_ahead, mark }: ReadRow<'_>) {
        let columns = Arc::clone(&self.columns);
        for (channel, column) in columns.iter().enumerate() {
            self.pass.cells += 1;
            let Some(column) = *column else { continue };
            let at = self.ticks.on_clock(channel, row.at);
            if at < self.pass.from {
                continue;
            }
            let value = row.values.get(column).copied().flatten();
            let Some(value) = value else {
                self.miss(channel, at, row.missing.get(column).copied().flatten());
                continue;
            };
            if is_ahead || !self.maker.timeline.rules[channel].takes(value) {
                let reason = if is_ahead { Reason::Future } else { Reason::OutOfRange };
                self.lose(channel, at, reason, place);
                continue;
            }
            self.last_row = self.last_row.max(Some(row.at));
            if at > self.latest {
                self.count_tail();
                self.latest = at;
            }
            self.take_reading(channel, at, value, (place, mark));
        }
    }

    fn take_reading(&mut self, channel: usize, at: i64, value: f64, (row, mark): (RowPlace, u64)) {
        let Maker { timeline, correction, .. } = &mut self.maker;
        let Some(number) = timeline.layout.unrounded(channel as u16, value) else { return };
        let number = timeline.fixed.fixed(number).0;
        timeline.note(channel, at);
        if let Some(correction) = correction {
            correction.note(at);
        }
        if at >= self.pass.to || self.pass.was_taken(at) {
            return;
        }
        if self.rules.sampled {
            let tick = timeline.window(at).tick_of(at).0;
            if self.last_ticks[channel].replace(tick) == Some(tick) {
                return;
            }
        }
        self.idle.take();
        let report = Report::new(channel, (at, number), row);
        let (cut, clock) = (timeline.cut, timeline.clock.clone());
        let before = self.pending.newest();
        let start = self.pending.add(report, mark, cut, &clock);
        if self.pass.taken.contains_key(&start) {
            self.pass.again.insert(start);
        }
        let is_later = before.is_some_and(|newest| start > newest)
            || self.maker.pieces.end().is_some_and(|until| start >= until);
        if self.rules.paced && is_later && !self.is_live {
            self.close_before(start);
        } else if self.pending.count() > self.rules.reports {
            self.make_room();
        }
    }

    /// Takes all readings that are left. `ended` is true if the source has no more.
    pub(super) fn finish(&mut self, ended: bool) {
        let mut windows = self.pending.take_before(i64::MAX);
        for open in self.maker.pieces.over(i64::MAX) {
            windows.entry(open).or_default();
        }
        let timeline = &self.maker.timeline;
        let until = match self.last_row {
            _ if self.rules.paced => i64::MAX,
            Some(last) if ended => {
                // A series goes on, whatever file has its last reading.
                let sent = timeline.last_sent().map_or(last, |sent| sent.saturating_add(timeline.phase));
                timeline.clock.end_of(Span::Day, last.max(sent)).saturating_sub(timeline.phase)
            }
            _ => i64::MIN,
        };
        self.begin(windows, until, None);
    }

    /// Begins to make windows. Ticks behind the last reading of a channel are filled before `horizon`, but not beyond now.
    fn begin(&mut self, mut windows: BTreeMap<i64, OfWindow>, horizon: i64, bound: Option<i64>) {
        self.forgets = true;
        let timeline = &self.maker.timeline;
        for start in std::mem::take(&mut self.unsent) {
            windows.entry(timeline.window(start).start).or_default();
        }
        // A tick that is not over may still get another reading.
        let now = self.rules.now().saturating_sub(timeline.phase);
        let full = now.saturating_sub(timeline.period()).saturating_add(1);
        (self.maker.timeline.horizon, self.maker.timeline.most) = (horizon.min(full), i64::MAX);
        self.walk.begin(windows, bound);
    }

    /// Returns the next window that was made; `None` if more rows are needed, or none is left.
    pub(super) fn next_made(&mut self) -> Result<Option<Closed>, FillError> {
        let begin = Instant::now();
        if std::mem::take(&mut self.forgets) {
            self.maker.timeline.forget(self.rules.now())?;
        }
        let made = self.walk.next(&mut self.maker)?;
        for (report, outcome) in std::mem::take(&mut self.maker.outcomes) {
            self.note(&report, outcome);
        }
        let Some(made) = made else { return Ok(None) };
        let closed = self.closed(made, begin);
        if let Some(kept) = self.maker.timeline.kept.as_ref().filter(|kept| kept.pretends()) {
            // Nothing is sent: the window counts as if it were.
            let facts = closed.window.joined.as_deref();
            for start in facts.into_iter().flat_map(|facts| &facts.obsolete) {
                kept.remove(&self.maker.timeline.name, *start)?;
            }
            if let Some(window) = facts.and_then(|facts| facts.kept.as_ref()) {
                kept.put(&self.maker.timeline.name, window)?;
            }
        }
        Ok(Some(closed))
    }

    fn closed(&self, made: Made, begin: Instant) -> Closed {
        let Made { window, part, facts, ends } = made;
        let timeline = &self.maker.timeline;
        let channels = timeline.rules.len() as u16;
        let row = |tick: u32| {
            let value = |channel| timeline.layout.value(channel, window.number(channel, tick)?);
            Zeroizing::new((0..channels).map(value).collect())
        };
        let clear = if self.rules.keep_clear { (0..part.ticks()).map(row).collect() } else { Vec::new() };
        let later = |at: i64| at.saturating_add(timeline.phase);
        let window = ClosedWindow {
            packed: window.close(),
            started_at: later(ends.0),
            ended_at: later(ends.1),
            until: later(part.until),
            pack_time: begin.elapsed(),
            clear,
            joined: Some(Box::new(facts)),
        };
        Closed { stream: self.stream, window }
    }
}
