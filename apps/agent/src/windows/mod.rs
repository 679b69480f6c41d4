//! Fills windows that follow the clock of the plant.
//!
//! One source feeds every stream whose channels it has. Each stream has its own windows (see [`sotto_pack::Cut`]), with
//! its own period and channels. For each reading of a row, in this order:
//!
//! 1. A reading for a tick that is sent, by this run or an earlier one, is left out as *already sent*.
//! 2. A row more than a day ahead of this machine's clock is left out as *in the future*.
//! 3. A row outside all open windows opens one, wherever it lies in time: a *supplement* if an earlier window covers the
//!    time. For a source that ends, a row without any reading for the stream opens none.
//! 4. A missing reading counts with its own reason; a value outside the channel's range, or NaN, as *out of range*.
//! 5. A reading takes the slot of its tick: the nearest one for samples, the one whose interval [start + i·period, start +
//!    (i + 1)·period) contains its time for others. Several readings of a slot are merged, by the rule of the channel; a
//!    reading of the same time and value is a *duplicate*. Where they are not merged, one of another time is *off the grid*.
//!
//! The ticks of a stream are those of the clock, shifted by its *phase*: the time after them at which the sensor reports.
//!
//! So the readings that are sent do not depend on the order of rows, on their distribution over files and runs, or on
//! repetitions.
//!
//! While the rows of a file ascend, its 64 newest windows are open. Once rows run back further than that, as many are
//! open as a budget of slots holds. Beyond it the newest are dropped, and the file is read again from its beginning for
//! the rest. If rows arrive over time, one window is open for now, and up to 63 for late readings.
//!
//! A window counts the readings left out of it, and those that belong to no window and were left out since the last
//! window closed. A window without any reading is not sent: its counts go to the next one.
//!
//! At the end of the source, or at a stop, all windows are closed. The newest one with a reading is cut short after its
//! last reading, and the next run begins a window there: a file that has grown continues where it ended. Missing
//! readings after the last reading are in the report of the run but not in the window: the next run reads them again.

mod closed;
mod open;
mod pass;
mod sent;
mod several;
mod stream;
mod ticks;

use std::collections::VecDeque;

use sotto_pack::{Channel, Clock, Cut};

pub use closed::{ClosedWindow, End, FillError};

use crate::progress::Progress;
use crate::source::{Source, SourceError};
use crate::spool::{Cuts, Sent, Totals};
use crate::stop::Stop;
use crate::streams::Stream;
use sent::SentTicks;
use stream::StreamWindows;
use ticks::TickRules;

/// Maximum number of open windows of a stream, if rows arrive over time: one for now, the others for late readings.
const MOST_PACED: usize = 64;
/// Maximum number of slots of all open windows: some 12 bytes each.
const MOST_SLOTS: usize = 4 << 20;
/// A window takes the memory of this many slots beside its own.
const OVERHEAD: usize = 128;

/// Rules by which the windows of a stream are filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Maximum number of open windows, at least 2.
    pub(crate) open: usize,
    /// True if rows arrive over time.
    pub(crate) paced: bool,
    /// True if the agent polls the source more often than the stream needs: the first reading of a slot is taken, and
    /// the others are skipped without being counted.
    pub(crate) sampled: bool,
    /// True if the readings are also kept in the clear.
    pub(crate) keep_clear: bool,
    /// True if times in the future are accepted.
    pub(crate) future: bool,
}

/// A closed window of a stream.
pub struct Closed {
    /// The index of the stream.
    pub stream: usize,
    /// Its readings and times.
    pub window: ClosedWindow,
}

/// The counts of a run for one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The index of the stream.
    pub stream: usize,
    /// Counts of windows, readings, and readings left out.
    pub totals: Totals,
    /// The times of the first and the last reading taken.
    pub span: Option<(i64, i64)>,
}

/// Fills the windows of all streams from one source.
pub struct Windows {
    source: Box<dyn Source>,
    clock: Clock,
    streams: Vec<StreamWindows>,
    stop: Stop,
    end: Option<End>,
    /// True if each stream gives only one window.
    once: bool,
    given: Vec<bool>,
    closed: VecDeque<Closed>,
    channels: Vec<Channel>,
    rows: u64,
    windows: u64,
    /// Number of passes over the source that have begun.
    passes: u32,
    /// True if the source has to be read again from its beginning.
    again: bool,
    progress: Progress,
}

/// How windows are filled and closed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// True if each stream gives only one window.
    pub once: bool,
    /// True if the readings are also kept in the clear.
    pub keep_clear: bool,
    /// The period in milliseconds at which the agent polls the source; `None` if the source sets the pace.
    pub own_period: Option<u32>,
    /// True to accept times more than a day ahead of this machine's clock; otherwise such rows are left out.
    pub future: bool,
    /// Maximum number of slots of all open windows; `None` for some 50 MB.
    pub most_slots: Option<usize>,
    /// The milliseconds after the clock's ticks at which sensors report; `None`: the first rows tell.
    pub phase: Option<u32>,
    /// The times of the first rows.
    pub first_times: Vec<i64>,
}

impl Windows {
    /// Fills the windows of those streams whose channels the source has. `sent` returns the ticks that earlier runs of a
    /// stream have sent.
    #[must_use]
    pub fn new(
        source: Box<dyn Source>,
        streams: &[Stream],
        cuts: &Cuts,
        sent: impl Fn(&str) -> Sent,
        stop: Stop,
        options: &Options,
    ) -> Self {
        let (channels, paced) = (source.channels().to_vec(), source.paced());
        let slots = streams.iter().map(|stream| stream.layout.slots() + OVERHEAD).sum::<usize>().max(1);
        let open = (options.most_slots.unwrap_or(MOST_SLOTS) / slots).max(2);
        let open = if paced { open.min(MOST_PACED) } else { open };
        let windows = |(position, stream): (usize, &Stream)| {
            let cut = cuts.of(&stream.name)?;
            let of = |wanted: &Channel| channels.iter().position(|channel| channel.name == wanted.name);
            let columns: Option<Vec<usize>> = stream.layout.channels().iter().map(of).collect();
            let sampled = options.own_period.is_some_and(|own| own < cut.period);
            let (keep_clear, future) = (options.keep_clear, options.future);
            let rules = Rules { open, paced, sampled, keep_clear, future };
            let sent = sent(&stream.name);
            let phase = phase(stream, cut, cuts.clock(), &sent, options);
            let ticks = TickRules::new(stream.layout.channels(), cut.period, phase);
            let sent = SentTicks::new(sent, &stream.layout, cut, cuts.clock(), phase);
            Some(StreamWindows::new(position, stream.layout.clone(), cut, columns?, rules, (ticks, sent)))
        };
        let streams: Vec<StreamWindows> = streams.iter().enumerate().filter_map(windows).collect();
        Self {
            source,
            clock: cuts.clock().clone(),
            given: vec![false; streams.len()],
            streams,
            stop,
            end: None,
            once: options.once,
            closed: VecDeque::new(),
            channels,
            rows: 0,
            windows: 0,
            passes: 1,
            again: false,
            progress: Progress::on_terminal(),
        }
    }

    /// Returns the channels of the source.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Returns the number of rows read that have a time.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of passes over the source so far: more than one if its rows are out of order and fill more
    /// windows than fit into memory.
    #[must_use]
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Returns the reason why there are no more windows; `None` while there are.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Returns the index of a stream that has not given a window; `None` if all have.
    #[must_use]
    pub fn without_window(&self) -> Option<usize> {
        let missing = self.given.iter().position(|given| !given)?;
        Some(self.streams[missing].stream())
    }

    /// Returns the counts of this run for each stream that the source feeds.
    #[must_use]
    pub fn taken(&self) -> Vec<Taken> {
        let taken = |stream: &StreamWindows| {
            let (totals, span) = stream.counts();
            Taken { stream: stream.stream(), totals: totals.clone(), span }
        };
        self.streams.iter().map(taken).collect()
    }

    /// Returns the next closed window, in the order of closing; `None` if there are no more. The windows of a file in
    /// order are in order of time.
    ///
    /// # Errors
    /// [`FillError`] if the source cannot be read.
    pub fn next_closed(&mut self) -> Result<Option<Closed>, FillError> {
        loop {
            while let Some(closed) = self.closed.pop_front() {
                let mut fed = self.streams.iter_mut().zip(&mut self.given);
                let Some((stream, given)) = fed.find(|(stream, _)| stream.stream() == closed.stream) else {
                    continue;
                };
                let again = std::mem::replace(given, true);
                if !(self.once && again) {
                    self.windows += 1;
                    stream.count_sent(&closed.window);
                    return Ok(Some(closed));
                }
            }
            if self.end.is_some() || (self.once && self.given.iter().all(|given| *given)) {
                self.progress.end();
                return Ok(None);
            }
            self.read()?;
        }
    }

    /// Reads one row, or notes that there are no more.
    fn read(&mut self) -> Result<(), FillError> {
        if std::mem::take(&mut self.again) {
            self.passes += 1;
            let pass = self.passes;
            tracing::info!(
                pass,
                "the rows are out of order and fill more windows than fit: they are read again"
            );
            self.source.restart().map_err(FillError::Source)?;
        }
        let row = if self.stop.is_asked() { Err(SourceError::Stopped) } else { self.source.next_row() };
        let without_time = self.source.take_left_out();
        if self.passes == 1 && !without_time.is_empty() {
            let rows = per_channel(&without_time, self.channels.len());
            self.streams.iter_mut().for_each(|stream| stream.leave_out_rows(&rows));
        }
        let mut closed = Vec::new();
        match row {
            Ok(row) => {
                self.rows += u64::from(self.passes == 1);
                self.progress.rows(self.rows, self.windows);
                for (stream, given) in self.streams.iter_mut().zip(&self.given) {
                    if !(self.once && *given) {
                        stream.take(&row, &self.clock, &mut closed)?;
                    }
                }
            }
            Err(SourceError::Ended) => {
                for stream in &mut self.streams {
                    self.again |= stream.end_pass(&mut closed);
                }
                self.end = (!self.again).then_some(End::Source);
            }
            Err(SourceError::Stopped) => {
                self.streams.iter_mut().for_each(|stream| stream.finish(&mut closed));
                self.end = Some(End::Stop);
            }
            Err(error) => return Err(FillError::Source(error)),
        }
        self.closed.extend(closed);
        Ok(())
    }
}

/// Returns the phase of a stream: that of its ticks that are sent, else the one that is stated, else that of the first rows.
fn phase(stream: &Stream, cut: Cut, clock: &Clock, sent: &Sent, options: &Options) -> i64 {
    if stream.layout.channels().iter().all(|channel| !channel.kind.rules().samples()) {
        return 0;
    }
    let tick = sent.channels.values().find_map(|runs| runs.iter().next());
    match (tick, options.phase) {
        (Some((tick, _)), _) => ticks::phase_of_tick(cut, clock, tick),
        (None, Some(phase)) => i64::from(phase) % i64::from(cut.period.max(1)),
        (None, None) => ticks::phase_of_rows(cut, clock, options.first_times.iter().copied()),
    }
}

/// Converts counts of readings, one per channel, to counts of rows.
fn per_channel(readings: &sotto_pack::LeftOut, channels: usize) -> sotto_pack::LeftOut {
    let mut rows = sotto_pack::LeftOut::default();
    readings.iter().for_each(|(reason, count)| rows.add(reason, count.div_ceil(channels.max(1) as u64)));
    rows
}

#[cfg(test)]
mod tests;
