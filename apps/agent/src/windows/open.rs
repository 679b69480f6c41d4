//! An open window of a stream.

use std::time::{Duration, Instant};

use sotto_pack::{Layout, Reading, Reason, Window};
use zeroize::Zeroizing;

use super::closed::{ClosedWindow, FillError};

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
    period: i64,
    length: u32,
    /// For each channel and tick, the milliseconds from the start of the tick to its reading.
    offsets: Vec<u32>,
    /// The times of the first and the last reading.
    span: Option<(i64, i64)>,
    pack_time: Duration,
    /// The number of the last row of its time.
    pub(super) last_row: u64,
    /// True if a later window was open before it.
    pub(super) is_behind: bool,
    /// The readings tick by tick, if the clear log is on.
    clear: Option<Vec<Zeroizing<Vec<Option<f64>>>>>,
}

impl OpenWindow {
    /// Creates a window of `length` ticks, `period` milliseconds apart. The end of its time may shorten the last tick.
    pub(super) fn new(
        layout: &Layout,
        times: Times,
        period: u32,
        length: u32,
        keep_clear: bool,
    ) -> Result<Self, FillError> {
        let window = Window::spanning(layout.clone(), times.start, period, length)?;
        let channels = layout.channels().len();
        let clear = keep_clear.then(|| vec![Zeroizing::new(vec![None; channels]); length as usize]);
        Ok(Self {
            window,
            times,
            period: period.into(),
            length,
            offsets: vec![0; channels * length as usize],
            span: None,
            pack_time: Duration::ZERO,
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

    pub(super) fn has_readings(&self) -> bool {
        self.span.is_some()
    }

    pub(super) fn leave_out(&mut self, channel: u16, reason: Reason, count: u64) {
        self.window.leave_out(channel, reason, count);
    }

    /// Puts a reading into the slot of its time, or returns the reason why it is left out.
    pub(super) fn put(&mut self, reading: &Reading) -> Result<Option<Reason>, FillError> {
        let Reading { at, channel, value } = *reading;
        let (tick, offset) = self.slot(at);
        let Some(declared) = self.window.layout().channels().get(usize::from(channel)) else {
            return Ok(None);
        };
        if !(declared.minimum..=declared.maximum).contains(&value) {
            return Ok(Some(Reason::OutOfRange));
        }
        let place = usize::from(channel) * self.length as usize + tick as usize;
        if self.window.contains(channel, tick) {
            let same = self.offsets[place] == offset;
            return Ok(Some(if same { Reason::Duplicate } else { Reason::OffGrid }));
        }
        let begin = Instant::now();
        self.window.push(reading)?;
        self.pack_time += begin.elapsed();
        self.offsets[place] = offset;
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
        if let Some(clear) = &mut self.clear {
            clear[tick as usize][usize::from(channel)] = Some(value);
        }
        Ok(None)
    }

    /// Returns the window with its readings. If cut short, it covers the ticks up to the last one with a reading.
    pub(super) fn close(self, cut_short: bool) -> ClosedWindow {
        let Times { start, end } = self.times;
        let filled = self.window.filled();
        let (mut packed, mut clear) = (self.window.close(), self.clear.unwrap_or_default());
        if cut_short {
            packed.length = filled.max(1);
            clear.truncate(packed.length as usize);
        }
        let (started_at, ended_at) = self.span.unwrap_or((start, start));
        let until = start.saturating_add(self.period * i64::from(packed.length)).min(end);
        ClosedWindow { packed, started_at, ended_at, until, pack_time: self.pack_time, clear }
    }

    /// Returns the tick of a time within the window, and the milliseconds since the start of the tick.
    fn slot(&self, at: i64) -> (u32, u32) {
        let since = at.saturating_sub(self.times.start).max(0);
        // No truncation: a window has fewer than 2^32 ticks, each shorter than 2^32 ms.
        ((since / self.period) as u32, (since % self.period) as u32)
    }
}
