//! The open windows of one stream: assigns readings to slots, and counts those left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::{Clock, Cut, Layout, LeftOut, Reading, Reason};

use super::closed::{ClosedWindow, FillError};
use super::open::{OpenWindow, Times};
use super::{Closed, Rules};
use crate::source::{Row, now};
use crate::spool::{ChannelTotals, Totals};

/// Maximum number of missing readings after the last reading that are not yet assigned to a window.
const LONGEST_TAIL: usize = 1 << 16;
/// A row may be this far ahead of this machine's clock: one day, in milliseconds.
const AHEAD: i64 = 86_400_000;

pub(super) struct StreamWindows {
    /// The stream's position in the profile.
    stream: usize,
    layout: Layout,
    cut: Cut,
    /// For each of the stream's channels, its position in a row.
    columns: Arc<[usize]>,
    rules: Rules,
    /// The end of the last window that an earlier run sent.
    sent_until: Option<i64>,
    /// Open windows, keyed by their start.
    open: BTreeMap<i64, OpenWindow>,
    /// The latest end of any window that this run has closed.
    closed_until: i64,
    /// For each channel, readings left out that no open window counts: the next window to close does.
    pending: Vec<LeftOut>,
    /// The time of the latest reading taken.
    latest: i64,
    /// Missing readings after `latest`: time, channel, reason. Only for sources that end.
    tail: Vec<(i64, u16, Reason)>,
    /// Counts of this run.
    totals: Totals,
    /// The times of the first and the last reading sent.
    span: Option<(i64, i64)>,
}

impl StreamWindows {
    pub(super) fn new(
        stream: usize,
        layout: Layout,
        cut: Cut,
        columns: Vec<usize>,
        rules: Rules,
        sent_until: Option<i64>,
    ) -> Self {
        let channels = layout.channels();
        let pending = vec![LeftOut::default(); channels.len()];
        let named = channels.iter().map(|channel| (channel.name.clone(), ChannelTotals::default()));
        let totals = Totals { windows: 0, channels: named.collect() };
        Self {
            stream,
            layout,
            cut,
            columns: columns.into(),
            rules,
            sent_until,
            open: BTreeMap::new(),
            closed_until: i64::MIN,
            pending,
            latest: i64::MIN,
            tail: Vec::new(),
            totals,
            span: None,
        }
    }

    pub(super) fn stream(&self) -> usize {
        self.stream
    }

    /// Returns the counts of this run, and the times of its first and last reading.
    pub(super) fn counts(&self) -> (&Totals, Option<(i64, i64)>) {
        (&self.totals, self.span)
    }

    pub(super) fn count_sent(&mut self, sent: &ClosedWindow) {
        self.totals.windows += 1;
        for (channel, present) in self.layout.channels().iter().zip(&sent.packed.present) {
            if let Some(totals) = self.totals.channels.get_mut(&channel.name) {
                totals.readings += u64::from(*present);
            }
        }
        let (first, last) = self.span.unwrap_or((sent.started_at, sent.ended_at));
        self.span = Some((first.min(sent.started_at), last.max(sent.ended_at)));
    }

    /// Counts rows without a usable time, as one reading of each channel.
    pub(super) fn leave_out_rows(&mut self, rows: &LeftOut) {
        for (reason, count) in rows.iter() {
            for channel in 0..self.pending.len() {
                self.count_left_out(channel, reason, count);
                self.pending[channel].add(reason, count);
            }
        }
    }

    /// Takes a row. Adds the windows that it closes to `closed`.
    pub(super) fn take(
        &mut self,
        row: &Row,
        clock: &Clock,
        closed: &mut Vec<Closed>,
    ) -> Result<(), FillError> {
        let (at, columns) = (row.at, Arc::clone(&self.columns));
        let value = |column: &usize| row.values.get(*column).copied().flatten();
        let missing = |column: &usize| row.missing.get(*column).copied().flatten().unwrap_or(Reason::Empty);
        let any = columns.iter().any(|column| value(column).is_some());
        let place = self.place(at, any, clock, closed)?;
        if any && matches!(place, Place::Open(_)) && at > self.latest {
            self.latest = at;
        }
        for (channel, column) in columns.iter().enumerate() {
            let reason = match (value(column), place) {
                (Some(value), Place::Open(start)) => self.put(start, at, channel, value)?,
                (Some(_), Place::AlreadySent) => Some(Reason::AlreadySent),
                (Some(_), Place::Late) => Some(Reason::Late),
                (Some(_), Place::Future) => Some(Reason::Future),
                // An earlier run has counted it.
                (None, Place::AlreadySent) => None,
                (None, _) => Some(missing(column)),
                (Some(_), Place::Nowhere) => None,
            };
            let Some(reason) = reason else { continue };
            self.count_left_out(channel, reason, 1);
            let after_last = !self.rules.paced && at > self.latest && value(column).is_none();
            if after_last && !matches!(place, Place::Late | Place::Future) {
                self.tail.push((at, channel as u16, reason));
            } else {
                self.leave_out(at, channel, reason);
            }
        }
        if self.tail.len() > LONGEST_TAIL {
            self.count_tail();
        }
        Ok(())
    }

    /// Closes every window. The newest one with a reading is cut short after its last reading.
    pub(super) fn finish(&mut self, closed: &mut Vec<Closed>) {
        if self.rules.paced {
            self.count_tail();
        }
        let newest = self.open.values().rev().find(|window| window.has_readings()).map(OpenWindow::start);
        while let Some((start, window)) = self.open.pop_first() {
            closed.extend(self.close(window, Some(start) == newest));
        }
    }

    /// Finds the window of a row; opens a new one if necessary and the row has a reading for it.
    fn place(
        &mut self,
        at: i64,
        any: bool,
        clock: &Clock,
        closed: &mut Vec<Closed>,
    ) -> Result<Place, FillError> {
        if self.sent_until.is_some_and(|until| at < until) {
            return Ok(Place::AlreadySent);
        }
        if !self.rules.future && at > now().saturating_add(AHEAD) {
            return Ok(Place::Future);
        }
        if let Some((start, window)) = self.open.range(..=at).next_back()
            && window.holds(at)
        {
            let start = *start;
            if any && at > self.latest {
                self.count_tail();
            }
            return Ok(Place::Open(start));
        }
        let full = self.open.len() >= self.rules.open;
        let before_open = self.open.first_key_value().is_some_and(|(start, _)| at < *start);
        if at < self.closed_until || (full && before_open) {
            return Ok(Place::Late);
        }
        if !any && !self.rules.paced {
            return Ok(Place::Nowhere);
        }
        let (begin, end) = self.cut.window(clock, at);
        let start = self.next_start(begin);
        if at < start {
            return Ok(Place::AlreadySent);
        }
        let length = self.cut.ticks_between(start, end);
        let times = Times { start, end };
        let window = OpenWindow::new(&self.layout, times, self.cut.period, length, self.rules.keep_clear)?;
        self.open.insert(start, window);
        if any && at > self.latest {
            // Count before closing: the missing readings belong to the windows that are open now.
            self.count_tail();
        }
        if full && let Some((_, oldest)) = self.open.pop_first() {
            closed.extend(self.close(oldest, false));
        }
        Ok(Place::Open(start))
    }

    /// Returns the start of the window whose span begins at `begin`: its first tick that was not sent.
    fn next_start(&self, begin: i64) -> i64 {
        let sent = self.sent_until.map_or(0, |until| until.saturating_sub(begin)).max(0);
        let period = i64::from(self.cut.period.max(1));
        let ticks = sent / period + i64::from(sent % period > 0);
        begin.saturating_add(ticks.saturating_mul(period))
    }

    fn put(&mut self, start: i64, at: i64, channel: usize, value: f64) -> Result<Option<Reason>, FillError> {
        let Some(window) = self.open.get_mut(&start) else { return Ok(None) };
        let channel = channel as u16;
        if self.rules.sampled && window.has(channel, at) {
            return Ok(None);
        }
        window.put(&Reading { at, channel, value })
    }

    /// Counts a reading that is left out: in the open window of its time, else in the next window to close.
    fn leave_out(&mut self, at: i64, channel: usize, reason: Reason) {
        let window = self.open.range_mut(..=at).next_back().map(|(_, window)| window);
        match window.filter(|window| window.holds(at)) {
            Some(window) => window.leave_out(channel as u16, reason, 1),
            None => self.pending[channel].add(reason, 1),
        }
    }

    fn count_tail(&mut self) {
        for (at, channel, reason) in std::mem::take(&mut self.tail) {
            self.leave_out(at, channel.into(), reason);
        }
    }

    fn count_left_out(&mut self, channel: usize, reason: Reason, count: u64) {
        let name = &self.layout.channels()[channel].name;
        if let Some(totals) = self.totals.channels.get_mut(name) {
            totals.left_out.add(reason, count);
        }
    }

    /// Closes a window. A window without any reading is not sent, and the next one takes over its counts of readings
    /// left out.
    fn close(&mut self, mut window: OpenWindow, cut_short: bool) -> Option<Closed> {
        self.closed_until = self.closed_until.max(window.end());
        if !window.has_readings() {
            let empty = window.close(false);
            for (pending, left_out) in self.pending.iter_mut().zip(&empty.packed.left_out) {
                pending.merge(left_out);
            }
            return None;
        }
        for (channel, pending) in self.pending.iter_mut().enumerate() {
            let pending = std::mem::take(pending);
            pending.iter().for_each(|(reason, count)| window.leave_out(channel as u16, reason, count));
        }
        Some(Closed { stream: self.stream, window: window.close(cut_short) })
    }
}

/// Assignment of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The open window with this start.
    Open(i64),
    /// A window that an earlier run has sent.
    AlreadySent,
    /// Before the open windows, or in a closed one.
    Late,
    /// Too far ahead of this machine's clock.
    Future,
    /// No window: the row has no reading for the stream.
    Nowhere,
}
