//! An open window of a stream.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sotto_pack::{Layout, Period, Reading, Reason, Several, Window};
use zeroize::Zeroizing;

use super::closed::{ClosedWindow, FillError, JoinedFacts};
use super::pieces::Pieces;
use super::several::{Fixed, FixedPoint, Readings};

/// The time that a window covers, in milliseconds since 1970: `start ≤ time < end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// A window that takes readings in any order.
pub(super) struct OpenWindow {
    window: Window,
    times: Times,
    period: Period,
    length: u32,
    /// For each channel and tick, the milliseconds from the start of the tick to its reading.
    offsets: Vec<u32>,
    /// For each channel and tick, what rounding took from its reading: a fraction of a step in fixed point.
    fractions: Vec<i16>,
    fixed: FixedPoint,
    /// The readings of ticks with several, by channel and tick.
    several: HashMap<(u16, u32), Readings>,
    /// The number of readings in `several` that take memory.
    kept: usize,
    /// The times of the first and the last reading.
    span: Option<(i64, i64)>,
    pack_time: Duration,
    /// The readings that were sent in pieces.
    pieces: Option<Pieces>,
    /// The least mark of the rows that were placed in it.
    pub(super) mark: u64,
    /// The number of the last row of its time.
    pub(super) last_row: u64,
    /// True if a later window was open before it.
    pub(super) is_behind: bool,
    /// The readings tick by tick, if the clear log is on.
    clear: Option<Vec<Zeroizing<Vec<Option<f64>>>>>,
}

impl OpenWindow {
    /// Creates a window of `length` ticks, `period` apart. The end of its time may shorten the last tick.
    pub(super) fn new(
        layout: &Layout,
        times: Times,
        period: Period,
        length: u32,
        keep_clear: bool,
    ) -> Result<Self, FillError> {
        let window = Window::spanning(layout.clone(), times.start, period, length)?;
        let channels = layout.channels().len();
        let fixed = FixedPoint::of(layout);
        let clear = keep_clear.then(|| vec![Zeroizing::new(vec![None; channels]); length as usize]);
        Ok(Self {
            window,
            times,
            period,
            length,
            offsets: vec![0; channels * length as usize],
            fractions: vec![0; channels * length as usize],
            fixed,
            several: HashMap::new(),
            kept: 0,
            span: None,
            pack_time: Duration::ZERO,
            pieces: None,
            mark: u64::MAX,
            last_row: 0,
            is_behind: false,
            clear,
        })
    }

    pub(super) fn start(&self) -> i64 {
        self.times.start
    }

    pub(super) fn end(&self) -> i64 {
        self.times.end
    }

    pub(super) fn holds(&self, at: i64) -> bool {
        (self.times.start..self.times.end).contains(&at)
    }

    /// Returns true if the channel already has a reading in the slot of this time.
    pub(super) fn has(&self, channel: u16, at: i64) -> bool {
        self.window.contains(channel, self.slot(at).0)
    }

    /// Returns the number of readings of ticks with several that take memory.
    pub(super) fn several(&self) -> usize {
        self.kept
    }

    pub(super) fn has_pieces(&self) -> bool {
        self.pieces.is_some()
    }

    pub(super) fn has_readings(&self) -> bool {
        self.span.is_some()
    }

    pub(super) fn leave_out(&mut self, channel: u16, reason: Reason, count: u64) {
        self.window.leave_out(channel, reason, count);
    }

    /// Puts a reading into the slot of a time on the clock's ticks, or returns the reason why it is left out.
    pub(super) fn put(&mut self, on_clock: i64, reading: &Reading) -> Result<Option<Reason>, FillError> {
        let Reading { at, channel, value } = *reading;
        let (tick, offset) = self.slot(on_clock);
        let Some(declared) = self.window.layout().channels().get(usize::from(channel)) else {
            return Ok(None);
        };
        if !(declared.minimum..=declared.maximum).contains(&value) {
            return Ok(Some(Reason::OutOfRange));
        }
        let several = declared.kind.rules().several();
        let place = usize::from(channel) * self.length as usize + tick as usize;
        let fixed = self.fixed.fixed(self.window.layout().unrounded(channel, value).unwrap_or_default());
        if self.window.contains(channel, tick) {
            if several == Several::Refuse {
                let same = self.offsets[place] == offset;
                return Ok(Some(if same { Reason::Duplicate } else { Reason::OffGrid }));
            }
            let first = (self.offsets[place], self.at(channel, tick, self.fractions[place]));
            let readings = self.several.entry((channel, tick)).or_insert_with(|| Readings::of(first));
            let before = readings.kept();
            if !readings.add((offset, fixed)) {
                return Ok(Some(Reason::Duplicate));
            }
            self.kept += readings.kept() - before;
        } else {
            let begin = Instant::now();
            self.window.push(&Reading { at: on_clock, ..*reading })?;
            self.pack_time += begin.elapsed();
            self.offsets[place] = offset;
            self.fractions[place] = self.fixed.fraction(fixed);
        }
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
        if let Some(clear) = &mut self.clear {
            clear[tick as usize][usize::from(channel)] = Some(value);
        }
        Ok(None)
    }

    /// Returns the reading of a tick: the number of its slot, and what rounding took from it.
    fn at(&self, channel: u16, tick: u32, fraction: i16) -> Fixed {
        self.fixed.joined(self.window.number(channel, tick).unwrap_or_default(), fraction)
    }

    /// Merges the readings of ticks with several. A merged number outside the channel's range is left out with all its
    /// readings.
    fn merge(&mut self) {
        for ((channel, tick), readings) in std::mem::take(&mut self.several) {
            let merged = self.merged(channel, &readings);
            let number = merged.map(|merged| self.fixed.number(merged));
            let value = number.and_then(|number| self.window.layout().value(channel, number));
            let fits =
                merged.is_some_and(|merged| self.window.set(channel, tick, self.fixed.unrounded(merged)));
            if !fits {
                self.window.remove(channel, tick);
                self.window.leave_out(channel, Reason::OutOfRange, readings.count());
            }
            if let Some(clear) = &mut self.clear {
                clear[tick as usize][usize::from(channel)] = value.filter(|_| fits);
            }
        }
    }

    /// Returns the reading of a tick with several; `None` if it is outside the channel's range.
    fn merged(&self, channel: u16, readings: &Readings) -> Option<Fixed> {
        let layout = self.window.layout();
        let declared = layout.channels().get(usize::from(channel))?;
        let number = |value: f64| layout.unrounded(channel, value).map(|number| self.fixed.fixed(number));
        let merged = readings.merged(declared.kind.rules().several(), number(0.0).unwrap_or_default());
        let fits = number(declared.minimum)? <= merged && merged <= number(declared.maximum)?;
        fits.then_some(merged)
    }

    /// Returns the reading of a tick so far, as a number before rounding.
    fn unrounded(&self, channel: u16, tick: u32) -> Option<f64> {
        let place = usize::from(channel) * self.length as usize + tick as usize;
        let reading = match self.several.get(&(channel, tick)) {
            Some(readings) => self.merged(channel, readings)?,
            None => {
                let number = self.window.number(channel, tick)?;
                self.fixed.joined(number, self.fractions.get(place).copied().unwrap_or_default())
            }
        };
        Some(self.fixed.unrounded(reading))
    }

    /// Returns a piece that ends at a tick's beginning: the readings so far that no piece has. `None` if no tick is over
    /// since the last piece.
    pub(super) fn piece(&mut self, until: i64) -> Result<Option<ClosedWindow>, FillError> {
        let Times { start, end } = self.times;
        let (mut pieces, until) = (self.pieces.take().unwrap_or_default(), until.min(end));
        let to = u32::try_from(self.period.ticks_in(until.saturating_sub(start)))
            .unwrap_or(u32::MAX)
            .min(self.length);
        if to <= pieces.to {
            self.pieces = Some(pieces).filter(|pieces| pieces.to > 0);
            return Ok(None);
        }
        let layout = self.window.layout().clone();
        let channels = layout.channels().len() as u16;
        let ticks = (0..channels).flat_map(|channel| (0..to).map(move |tick| (channel, tick)));
        let is_new = |(channel, tick): &(u16, u32)| {
            !pieces.has(*channel, *tick) && self.unrounded(*channel, *tick).is_some()
        };
        let new: Vec<(u16, u32)> = ticks.filter(is_new).collect();
        let from = new.iter().map(|(_, tick)| *tick).min().map_or(pieces.to, |first| first.min(pieces.to));
        // A window begins with a cycle.
        let from = self.period.whole_cycles(from);
        let at = |tick: u32| self.period.at(start, tick);
        let mut window = Window::spanning(layout, at(from), self.period, to - from)?;
        let mut readings = vec![0; channels.into()];
        for (channel, tick) in &new {
            let number = self.unrounded(*channel, *tick);
            if number.is_some_and(|number| window.set(*channel, tick - from, number)) {
                readings[usize::from(*channel)] += 1;
                pieces.insert(*channel, *tick);
            }
        }
        pieces.to = to;
        self.pieces = Some(pieces);
        let facts = JoinedFacts { readings, provisional: true, ..JoinedFacts::default() };
        let last = new.iter().map(|(_, tick)| at(*tick + 1) - 1).max();
        Ok(Some(ClosedWindow {
            packed: window.close(),
            started_at: new.iter().map(|(_, tick)| at(*tick)).min().unwrap_or(at(from)),
            ended_at: last.unwrap_or(at(from)),
            until: at(to).min(end),
            pack_time: Duration::ZERO,
            clear: Vec::new(),
            joined: Some(Box::new(facts)),
        }))
    }

    /// Returns the window with its readings. If cut short, it covers the ticks up to the last one with a reading.
    pub(super) fn close(mut self, cut_short: bool) -> ClosedWindow {
        self.merge();
        let Times { start, end } = self.times;
        // Behind its last piece, too: the next run goes on there.
        let filled = self.window.filled().max(self.pieces.as_ref().map_or(0, |pieces| pieces.to));
        let (mut packed, mut clear) = (self.window.close(), self.clear.unwrap_or_default());
        if cut_short {
            packed.length = filled.max(1);
            clear.truncate(packed.length as usize);
        }
        let (started_at, ended_at) = self.span.unwrap_or((start, start));
        let until = self.period.at(start, packed.length).min(end);
        let joined = self.pieces.map(|pieces| Box::new(pieces.facts(&packed)));
        ClosedWindow { packed, started_at, ended_at, until, pack_time: self.pack_time, clear, joined }
    }

    /// Returns the tick of a time within the window, and the milliseconds since the start of the tick.
    fn slot(&self, at: i64) -> (u32, u32) {
        let since = at.saturating_sub(self.times.start).max(0);
        let tick = self.period.tick_at(since);
        // No truncation: a window has fewer than 2^32 ticks, each shorter than 2^32 ms.
        (tick as u32, (since - self.period.after(tick)) as u32)
    }
}
