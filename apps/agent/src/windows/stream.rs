//! The open windows of one stream: assigns readings to slots, and counts those left out.

mod by_clock;

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::{Clock, Cut, Layout, LeftOut, Reading, Reason};

use super::closed::{ClosedWindow, FillError};
use super::open::{OpenWindow, Times};
use super::pass::{Excess, Pass};
use super::sent::SentTicks;
use super::ticks::TickRules;
use super::timer::Idle;
use super::{Closed, ReadRow, Rules};
use crate::spool::{ChannelTotals, Totals};

/// Maximum number of missing readings after the last reading that are not yet assigned to a window.
const LONGEST_TAIL: usize = 1 << 16;
/// Readings of ticks with several that all open windows keep apart, at most: some 32 MB.
const MOST_SEVERAL: usize = 2 << 20;

/// The position in a row of a channel that the source lacks: no row has a cell there.
pub(super) const ABSENT: usize = usize::MAX;

pub(super) struct StreamWindows {
    /// The stream's position in the profile.
    stream: usize,
    layout: Layout,
    cut: Cut,
    /// For each of the stream's channels, its position in a row, or [`ABSENT`].
    columns: Arc<[usize]>,
    rules: Rules,
    ticks: TickRules,
    sent: SentTicks,
    pass: Pass,
    /// Number of rows so far.
    rows: u64,
    /// The fates of the cells of a row, kept to save the allocation.
    takes: Vec<Take>,
    /// Open windows, keyed by their start.
    open: BTreeMap<i64, Box<OpenWindow>>,
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
    /// The channels of the last row whose reading is off the grid.
    off_grid: Vec<u16>,
    idle: Idle,
    /// The end of the last window that was closed.
    closed_until: i64,
}

impl StreamWindows {
    pub(super) fn new(
        stream: usize,
        layout: Layout,
        cut: Cut,
        columns: Vec<usize>,
        rules: Rules,
        (ticks, sent): (TickRules, SentTicks),
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
            idle: Idle::new(&rules.now),
            closed_until: i64::MIN,
            rules,
            ticks,
            sent,
            pass: Pass::first(),
            rows: 0,
            takes: Vec::new(),
            open: BTreeMap::new(),
            pending,
            latest: i64::MIN,
            tail: Vec::new(),
            totals,
            span: None,
            off_grid: Vec::new(),
        }
    }

    pub(super) fn stream(&self) -> usize {
        self.stream
    }

    /// Returns the milliseconds by which the ticks are later than those of the clock.
    pub(super) fn phase(&self) -> i64 {
        self.ticks.phase + self.cut.phase()
    }

    /// Returns the counts of this run, and the times of its first and last reading.
    pub(super) fn counts(&self) -> (&Totals, Option<(i64, i64)>) {
        (&self.totals, self.span)
    }

    /// Returns the least mark of the rows in windows that are open; `None` if none has a row.
    pub(super) fn oldest_mark(&self) -> Option<u64> {
        let marks = self.open.values().filter(|window| window.has_readings()).map(|window| window.mark);
        marks.min()
    }

    /// Takes the channels of the last row whose reading is off the grid.
    pub(super) fn off_grid(&mut self) -> impl Iterator<Item = String> {
        let name = |channel: u16| self.layout.channels()[usize::from(channel)].name.clone();
        std::mem::take(&mut self.off_grid).into_iter().map(name)
    }

    pub(super) fn count_sent(&mut self, sent: &ClosedWindow) {
        let facts = sent.joined.as_deref();
        self.totals.windows += u64::from(facts.is_none_or(|facts| !facts.provisional));
        for (number, channel) in self.layout.channels().iter().enumerate() {
            let readings = match facts {
                // The others are in a piece that was counted.
                Some(facts) => facts.readings.get(number).copied().unwrap_or_default(),
                None => sent.packed.present[number].into(),
            };
            if let Some(totals) = self.totals.channels.get_mut(&channel.name) {
                totals.readings += readings;
            }
        }
        let has_readings = sent.packed.present.iter().any(|present| *present > 0);
        if !has_readings || facts.is_some_and(|facts| facts.provisional) {
            return;
        }
        let (first, last) = self.span.unwrap_or((sent.started_at, sent.ended_at));
        self.span = Some((first.min(sent.started_at), last.max(sent.ended_at)));
    }

    /// Counts rows without a usable time, as one reading of each channel that the source has.
    pub(super) fn leave_out_rows(&mut self, rows: &LeftOut) {
        let columns = Arc::clone(&self.columns);
        for (reason, count) in rows.iter() {
            for (channel, _) in columns.iter().enumerate().filter(|(_, column)| **column != ABSENT) {
                self.count_left_out(channel, reason, count);
                self.pending[channel].add(reason, count);
            }
        }
    }

    /// Takes a row. Adds the windows that it closes to `closed`.
    pub(super) fn take(
        &mut self,
        read: ReadRow<'_>,
        clock: &Clock,
        closed: &mut Vec<Closed>,
    ) -> Result<(), FillError> {
        self.rows += 1;
        self.ticks.times(read.row.at).try_for_each(|at| self.take_at(at, read, clock, closed))
    }

    /// Takes the readings of a row whose time on the clock's ticks is `at`.
    fn take_at(
        &mut self,
        at: i64,
        ReadRow { row, is_ahead, mark, .. }: ReadRow<'_>,
        clock: &Clock,
        closed: &mut Vec<Closed>,
    ) -> Result<(), FillError> {
        if at < self.pass.from {
            return Ok(());
        }
        let columns = Arc::clone(&self.columns);
        let value = |column: &usize| row.values.get(*column).copied().flatten();
        // An earlier run or pass may have counted what it left out of this time.
        let earlier = self.sent.continues.is_some_and(|until| at < until) || self.pass.was_closed_early(at);
        let mut takes = std::mem::take(&mut self.takes);
        let take = |(channel, column): (usize, &usize)| match value(column) {
            _ if self.ticks.on_clock(channel, row.at) != at => Take::Other,
            None => Take::Nothing,
            Some(_) if self.sent.has(channel, at) => Take::Sent,
            Some(_) if is_ahead => Take::Future,
            Some(value) if earlier && !self.in_range(channel, value) => Take::Counted,
            Some(_) => Take::Reading,
        };
        takes.clear();
        takes.extend(columns.iter().enumerate().map(take));
        let any = takes.contains(&Take::Reading);
        if any {
            self.idle.take();
        }
        let place = if at >= self.pass.to {
            Place::NextPass
        } else if is_ahead {
            Place::Nowhere
        } else {
            self.place(at, any, earlier, clock, closed)?
        };
        if any && at > self.latest {
            self.count_tail();
            self.latest = at;
        }
        for (channel, (column, take)) in columns.iter().zip(&takes).enumerate() {
            match (take, place) {
                (Take::Reading, Place::Open(start)) => {
                    let reading =
                        value(column).map(|value| Reading { at: row.at, channel: channel as u16, value });
                    reading.map_or(Ok(()), |reading| self.put(start, (at, mark), &reading))?;
                }
                (Take::Other, _) | (Take::Reading, Place::NextPass | Place::Nowhere) => {}
                // The first pass has counted what no window takes.
                _ if !self.pass.is_first => {}
                (Take::Sent, _) => self.leave_out(at, channel, Reason::AlreadySent),
                (Take::Future, _) => self.leave_out(at, channel, Reason::Future),
                (Take::Counted, _) => self.count_left_out(channel, Reason::OutOfRange, 1),
                (Take::Nothing, _) if earlier => {}
                (Take::Nothing, _) => {
                    // Without a reason the row is not about the channel.
                    let Some(reason) = row.missing.get(*column).copied().flatten() else { continue };
                    if at > self.latest && !self.rules.paced && !is_ahead {
                        self.count_left_out(channel, reason, 1);
                        self.tail.push((at, channel as u16, reason));
                    } else {
                        self.leave_out(at, channel, reason);
                    }
                }
            }
        }
        self.takes = takes;
        if self.tail.len() > LONGEST_TAIL {
            self.count_tail();
        }
        Ok(())
    }

    /// Ends a pass over the source: closes every window. Returns true if the source has to be read again.
    pub(super) fn end_pass(&mut self, closed: &mut Vec<Closed>) -> bool {
        if self.pass.to == i64::MAX {
            self.finish(closed);
        } else {
            while let Some((_, window)) = self.open.pop_first() {
                closed.extend(self.close(*window, false));
            }
        }
        self.pass.next()
    }

    /// Returns true if no later pass has a row for its windows.
    pub(super) fn is_done(&self) -> bool {
        self.pass.from == i64::MAX
    }

    /// Closes every window. The newest one with a reading is cut short after its last reading, unless earlier runs have
    /// sent beyond it: a supplement has the span of the window that it completes.
    pub(super) fn finish(&mut self, closed: &mut Vec<Closed>) {
        if self.rules.paced {
            self.count_tail();
        }
        let is_sent = |window: &&OpenWindow| window.has_readings() || window.has_pieces();
        let newest = self.open.values().rev().map(Box::as_ref).find(is_sent).map(OpenWindow::start);
        while let Some((start, window)) = self.open.pop_first() {
            let goes_on = self.sent.continues.is_none_or(|until| until < window.end());
            closed.extend(self.close(*window, Some(start) == newest && goes_on));
        }
    }

    fn in_range(&self, channel: usize, value: f64) -> bool {
        let channel = self.layout.channels().get(channel);
        channel.is_some_and(|channel| (channel.minimum..=channel.maximum).contains(&value))
    }

    /// Finds the window of a row; opens a new one if necessary and the row has a reading for it.
    fn place(
        &mut self,
        at: i64,
        any: bool,
        earlier: bool,
        clock: &Clock,
        closed: &mut Vec<Closed>,
    ) -> Result<Place, FillError> {
        if let Some((start, window)) = self.open.range_mut(..=at).next_back()
            && window.holds(at)
        {
            window.last_row = self.rows;
            return Ok(Place::Open(*start));
        }
        let newest = self.open.last_key_value().map(|(start, _)| *start);
        let is_now = self.rules.paced && !earlier && newest.is_none_or(|newest| at > newest);
        if !any && !is_now {
            return Ok(Place::Nowhere);
        }
        let times = self.times(at, clock);
        let length = self.cut.ticks_between(times.start, times.end);
        let mut window =
            OpenWindow::new(&self.layout, times, self.cut.period, length, self.rules.keep_clear)?;
        window.last_row = self.rows;
        window.is_behind = newest.is_some_and(|newest| at < newest);
        self.open.insert(times.start, Box::new(window));
        if any && at > self.latest {
            // Count before closing: the missing readings belong to the windows that are open now.
            self.count_tail();
        }
        if self.rules.paced {
            let is_newest = newest.is_none_or(|newest| times.start > newest);
            self.close_paced(times.start, is_newest, closed);
            return Ok(Place::Open(times.start));
        }
        match self.pass.excess(times.start, &self.open, self.budget()) {
            Excess::None => {}
            Excess::Oldest => {
                if let Some((start, oldest)) = self.open.pop_first() {
                    self.pass.closed_early(start, oldest.end());
                    closed.extend(self.close(*oldest, false));
                }
            }
            Excess::Newest => self.drop_newest(),
        }
        Ok(if at < self.pass.to { Place::Open(times.start) } else { Place::NextPass })
    }

    /// Returns the number of windows that may be open.
    fn budget(&self) -> usize {
        let several: usize = self.open.values().map(|window| window.several()).sum();
        if several > MOST_SEVERAL {
            (self.open.len() - 1).max(2).min(self.rules.open)
        } else {
            self.rules.open
        }
    }

    /// Returns the time of the window for a reading. Within the clock's span in which earlier runs ended, there is one
    /// window for what they left out, and another that goes on behind them.
    fn times(&self, at: i64, clock: &Clock) -> Times {
        let (start, end) = self.cut.window(clock, at);
        match self.sent.continues.filter(|until| (start + 1..end).contains(until)) {
            Some(until) if at < until => Times { start, end: until },
            Some(until) => Times { start: until, end },
            None => Times { start, end },
        }
    }

    /// Closes windows of a source whose rows arrive over time. A new window for now closes all before it; a late one
    /// takes the place of the late one that has had no row for longest.
    fn close_paced(&mut self, opened: i64, is_newest: bool, closed: &mut Vec<Closed>) {
        if is_newest {
            self.close_before(opened, closed);
        } else if self.open.len() > self.rules.open {
            let late = self.open.iter().rev().skip(1).filter(|(start, _)| **start != opened);
            let idle = late.min_by_key(|(_, window)| window.last_row).map(|(start, _)| *start);
            let window = idle.and_then(|start| self.open.remove(&start));
            closed.extend(window.and_then(|window| self.close(*window, false)));
        }
    }

    /// Drops the newest window, which the next pass fills. What no window would take is counted once.
    fn drop_newest(&mut self) {
        let Some((start, window)) = self.open.pop_last() else { return };
        self.pass.to = start;
        for (pending, left_out) in self.pending.iter_mut().zip(&window.close(false).packed.left_out) {
            let counted = left_out.iter().filter(|(reason, _)| !is_of_slot(*reason));
            counted.for_each(|(reason, count)| pending.add(reason, count));
        }
    }

    /// Puts a reading into its slot, or leaves it out.
    fn put(&mut self, start: i64, (at, mark): (i64, u64), reading: &Reading) -> Result<(), FillError> {
        let Some(window) = self.open.get_mut(&start) else { return Ok(()) };
        window.mark = window.mark.min(mark);
        if self.rules.sampled && window.has(reading.channel, at) {
            return Ok(());
        }
        // Counted in the totals when the window closes: a window that is dropped is filled again.
        if let Some(reason) = window.put(at, reading)? {
            window.leave_out(reading.channel, reason, 1);
            if reason == Reason::OffGrid {
                self.off_grid.push(reading.channel);
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, at: i64, channel: usize, reason: Reason) {
        self.count_left_out(channel, reason, 1);
        self.assign(at, channel, reason);
    }

    /// Counts a reading that is left out in the open window of its time, else in the next window to close.
    fn assign(&mut self, at: i64, channel: usize, reason: Reason) {
        let window = self.open.range_mut(..=at).next_back().map(|(_, window)| window);
        match window.filter(|window| window.holds(at)) {
            Some(window) => window.leave_out(channel as u16, reason, 1),
            None => self.pending[channel].add(reason, 1),
        }
    }

    fn count_tail(&mut self) {
        for (at, channel, reason) in std::mem::take(&mut self.tail) {
            self.assign(at, channel.into(), reason);
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
    fn close(&mut self, window: OpenWindow, cut_short: bool) -> Option<Closed> {
        let (has_readings, has_pieces) = (window.has_readings(), window.has_pieces());
        self.closed_until = self.closed_until.max(window.end());
        let window = window.close(cut_short && (has_readings || has_pieces));
        let mut window = by_clock::shifted(window, self.ticks.phase);
        for channel in 0..window.packed.left_out.len() {
            let of_slots: Vec<(Reason, u64)> =
                window.packed.left_out[channel].iter().filter(|(reason, _)| is_of_slot(*reason)).collect();
            of_slots.into_iter().for_each(|(reason, count)| self.count_left_out(channel, reason, count));
        }
        for (pending, left_out) in self.pending.iter_mut().zip(&mut window.packed.left_out) {
            left_out.merge(&std::mem::take(pending));
            if !has_readings && !has_pieces {
                *pending = std::mem::take(left_out);
            }
        }
        if !has_readings && !has_pieces {
            return None;
        }
        self.sent.add(&window.packed, window.until);
        Some(Closed { stream: self.stream, window })
    }
}

/// Returns true for a reason that only the window of a reading tells.
fn is_of_slot(reason: Reason) -> bool {
    matches!(reason, Reason::OutOfRange | Reason::Duplicate | Reason::OffGrid)
}

/// The fate of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Take {
    /// It is for another tick than the rest of its row: a report among samples, or the other way round.
    Other,
    /// It holds no reading.
    Nothing,
    /// Its tick is sent.
    Sent,
    /// It is too far ahead of this machine's clock.
    Future,
    /// Its value is out of range, and an earlier run may have counted it in a window.
    Counted,
    /// A window takes it.
    Reading,
}

/// Assignment of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The open window with this start.
    Open(i64),
    /// A window of the next pass.
    NextPass,
    /// No window: the row has no reading for the stream.
    Nowhere,
}
