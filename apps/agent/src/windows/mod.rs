//! Rows to windows that follow the clock of the plant.
//!
//! One pass over a source feeds all streams whose channels it has. Each stream has windows of its own: from [`sotto_pack::Cut`],
//! with its own period and channels. For each reading of a row, in this order:
//!
//! 1. A row before the end of the last window that an earlier run sent is left out as *already sent*; its missing readings are not
//!    counted again.
//! 2. A row more than a day ahead of this machine's clock is left out as *in the future*: a window there would make every later row
//!    *already sent*.
//! 3. A row before the open windows, or in one that this run has closed, is left out as *late*.
//! 4. A row in no open window opens the one that holds it. With 64 windows open (1 if rows come as time passes), the oldest is
//!    closed. In a source that ends, a row without any reading for the stream opens none.
//! 5. A missing reading counts with its own reason; a value outside the channel's range (or NaN) as *out of range*.
//! 6. A reading takes the slot whose interval [start + i·period, start + (i + 1)·period) holds its time. If the slot is taken, it is a
//!    *duplicate* if the times are equal, else *off the grid*.
//!
//! A window counts the readings left out of it, and those left out of no window since the one closed before it. A window without any
//! reading is not sent: its counts go into the next one.
//!
//! At the end of the source, or at a stop, all windows are closed. The newest one with a reading is cut short after its last
//! reading, and the next run begins a window there. So every slot is in one window at most, and a file that has grown goes on where
//! it ended. Missing readings after the last reading are in the report of the run, and not in the window: the next run reads them
//! again.

mod open;
mod order;
mod stream;

use std::collections::VecDeque;

use sotto_pack::{Channel, Clock};

use crate::collect::{CollectError, Collected, End};
use crate::progress::Progress;
use crate::source::{Source, SourceError};
use crate::spool::{Cuts, Totals};
use crate::stop::Stop;
use crate::streams::Stream;
use order::InOrder;
use stream::StreamWindows;

/// Most windows of a stream that a source which ends keeps open.
const MOST_OPEN: usize = 64;
/// Most slots of all windows that are open for the sake of order.
const MOST_SLOTS: usize = 4 << 20;

/// How the windows of a stream are filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The most windows that are open at a time, at least 1.
    pub(crate) open: usize,
    /// True if rows come as time passes.
    pub(crate) paced: bool,
    /// True if the agent itself asks for a reading, and more often than the stream needs one: the first of a slot is taken and the
    /// others are passed over, uncounted.
    pub(crate) sampled: bool,
    /// True if the readings are asked for in the clear as well.
    pub(crate) keep_clear: bool,
    /// True if times in the future are taken.
    pub(crate) future: bool,
}

/// A closed window.
pub struct Closed {
    /// The position of its stream.
    pub stream: usize,
    /// The window.
    pub collected: Collected,
    /// When it ends: where the next window of the stream may begin. Milliseconds since 1970.
    pub until: i64,
}

/// The counts of a run for one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The position of the stream.
    pub stream: usize,
    /// Windows, readings, and readings left out.
    pub totals: Totals,
    /// The times of the first and the last reading taken.
    pub span: Option<(i64, i64)>,
}

/// Fills the windows of all streams from one source.
pub struct Windows {
    source: InOrder,
    clock: Clock,
    streams: Vec<StreamWindows>,
    stop: Stop,
    end: Option<End>,
    /// Each stream gives one window.
    once: bool,
    given: Vec<bool>,
    closed: VecDeque<Closed>,
    channels: Vec<Channel>,
    rows: u64,
    windows: u64,
    progress: Progress,
}

/// Options of [`Windows`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Each stream gives one window, then no more.
    pub once: bool,
    /// The readings are asked for in the clear as well.
    pub keep_clear: bool,
    /// The period in milliseconds at which the agent itself asks the source for a row; `None` if the source decides.
    pub own_period: Option<u32>,
    /// Times more than a day ahead of this machine's clock are taken; otherwise they are left out.
    pub future: bool,
}

impl Windows {
    /// Fills the windows of those streams all of whose channels the source has. `sent_until` gives the end of the last window of a
    /// stream that an earlier run sent.
    #[must_use]
    pub fn new(
        source: Box<dyn Source>,
        streams: &[Stream],
        cuts: &Cuts,
        sent_until: impl Fn(&str) -> Option<i64>,
        stop: Stop,
        options: &Options,
    ) -> Self {
        let (channels, paced) = (source.channels().to_vec(), source.paced());
        let slots = streams.iter().map(|stream| stream.layout.slots()).sum::<usize>().max(1);
        let open = if paced { 1 } else { (MOST_SLOTS / slots).clamp(2, MOST_OPEN) };
        let windows = |(position, stream): (usize, &Stream)| {
            let cut = cuts.of(&stream.name)?;
            let of = |wanted: &Channel| channels.iter().position(|channel| channel.name == wanted.name);
            let columns: Option<Vec<usize>> = stream.layout.channels().iter().map(of).collect();
            let sampled = options.own_period.is_some_and(|own| own < cut.period);
            let (keep_clear, future) = (options.keep_clear, options.future);
            let rules = Rules { open, paced, sampled, keep_clear, future };
            let until = sent_until(&stream.name);
            Some(StreamWindows::new(position, stream.layout.clone(), cut, columns?, rules, until))
        };
        let streams: Vec<StreamWindows> = streams.iter().enumerate().filter_map(windows).collect();
        Self {
            source: InOrder::new(source),
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
            progress: Progress::on_terminal(),
        }
    }

    /// The channels of the source.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Rows with a time that were read.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Why there are no more windows, once there are none.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The position of a stream that has not given a window; `None` if all have.
    #[must_use]
    pub fn without_window(&self) -> Option<usize> {
        let missing = self.given.iter().position(|given| !given)?;
        Some(self.streams[missing].stream())
    }

    /// Counts of this run, of each stream that is fed.
    #[must_use]
    pub fn taken(&self) -> Vec<Taken> {
        let taken = |stream: &StreamWindows| {
            let (totals, span) = stream.counts();
            Taken { stream: stream.stream(), totals: totals.clone(), span }
        };
        self.streams.iter().map(taken).collect()
    }

    /// The next window that is closed, in the order in which they are closed; the windows of a stream in order of time. `None` when
    /// there are no more.
    ///
    /// # Errors
    /// [`CollectError`] when the source cannot be read.
    pub fn next_closed(&mut self) -> Result<Option<Closed>, CollectError> {
        loop {
            while let Some(closed) = self.closed.pop_front() {
                let mut fed = self.streams.iter_mut().zip(&mut self.given);
                let Some((stream, given)) = fed.find(|(stream, _)| stream.stream() == closed.stream) else {
                    continue;
                };
                let again = std::mem::replace(given, true);
                if !(self.once && again) {
                    self.windows += 1;
                    stream.count_sent(&closed.collected);
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

    /// Reads one row, or finds that there are no more.
    fn read(&mut self) -> Result<(), CollectError> {
        let row =
            if self.stop.is_asked() { Err(SourceError::Stopped) } else { self.source.next_row(&self.stop) };
        let without_time = self.source.source().take_left_out();
        if !without_time.is_empty() {
            let rows = per_channel(&without_time, self.channels.len());
            self.streams.iter_mut().for_each(|stream| stream.leave_out_rows(&rows));
        }
        let mut closed = Vec::new();
        match row {
            Ok(row) => {
                self.rows += 1;
                self.progress.rows(self.rows, self.windows);
                for (stream, given) in self.streams.iter_mut().zip(&self.given) {
                    if !(self.once && *given) {
                        stream.take(&row, &self.clock, &mut closed)?;
                    }
                }
            }
            Err(SourceError::Ended) => self.end = Some(End::Source),
            Err(SourceError::Stopped) => self.end = Some(End::Stop),
            Err(error) => return Err(CollectError::Source(error)),
        }
        if self.end.is_some() {
            self.streams.iter_mut().for_each(|stream| stream.finish(&mut closed));
        }
        self.closed.extend(closed);
        Ok(())
    }
}

/// Rows from counts of readings, one of each channel.
fn per_channel(readings: &sotto_pack::LeftOut, channels: usize) -> sotto_pack::LeftOut {
    let mut rows = sotto_pack::LeftOut::default();
    readings.iter().for_each(|(reason, count)| rows.add(reason, count.div_ceil(channels.max(1) as u64)));
    rows
}

#[cfg(test)]
mod tests;
