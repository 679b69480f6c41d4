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
//! The ticks of a stream are those of the clock, shifted by its *phase*: the time after them at which the sensor reports. Where
//! they are absolute ([`sotto_pack::Grid`]), windows are cut by the shifted ones, else by those of the clock.
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
//! If rows arrive over time, windows also close once their time and a period more is over and no reading came for a
//! while. Pieces of windows that are still open, if they are wanted, are sent at multiples of their interval by the clock;
//! the whole window then comes in their place.
//!
//! At the end of the source, or at a stop, all windows are closed. The newest one with a reading is cut short after its
//! last reading, and the next run begins a window there: a file that has grown continues where it ended. Missing
//! readings after the last reading are in the report of the run but not in the window: the next run reads them again.

mod ahead;
mod begin;
mod closed;
mod counts;
mod fed;
mod filling;
mod joined;
mod lost;
mod open;
mod options;
mod pass;
mod pieces;
mod present;
mod read;
mod sent;
mod several;
mod stream;
mod ticks;
mod timer;

use std::collections::VecDeque;

use sotto_pack::{Channel, Clock, LeftOut};

pub(crate) use closed::in_the_place_of;
pub use closed::{ClosedWindow, End, FillError, JoinedFacts};
pub use joined::Lacks;
pub use lost::{FirstLost, LostReading, RowPlace, is_lost};
pub use options::Options;
pub use present::Present;

use crate::progress::Progress;
use crate::source::{Row, Source};
use crate::spool::Totals;
use crate::stop::Stop;
use ahead::Ahead;
use filling::Filling;
use read::Read;
use timer::Timer;

/// Maximum number of open windows of a stream, if rows arrive over time: one for now, the others for late readings.
const MOST_PACED: usize = 64;
/// Maximum number of slots of all open windows: some 12 bytes each.
const MOST_SLOTS: usize = 4 << 20;
/// Maximum number of readings of joined streams that wait for their window: some 25 bytes each.
const MOST_REPORTS: usize = 1 << 19;
/// A window takes the memory of this many slots beside its own.
const OVERHEAD: usize = 128;

/// Rules by which the windows of a stream are filled.
#[derive(Clone, Debug)]
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
    /// Maximum number of readings of a joined stream that wait for their window.
    pub(crate) reports: usize,
    /// The present time.
    pub(crate) now: Present,
}

impl Rules {
    /// Returns the present time in milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.now.get()
    }
}

/// A closed window of a stream.
pub struct Closed {
    /// The index of the stream.
    pub stream: usize,
    /// Its readings and times.
    pub window: ClosedWindow,
}

/// The state of windows whose source does not block.
pub enum Polled {
    /// A window was closed.
    Closed(Box<Closed>),
    /// No row waits. Something may be due without one at this time, in milliseconds since 1970.
    Waiting(i64),
    /// There are no more windows.
    Ended,
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
    /// The milliseconds by which the ticks are later than those of the clock.
    pub phase: i64,
    /// For each channel, the readings whose tick or time has another value that was sent. Empty for a stream whose
    /// readings are not kept.
    pub other_values: Vec<u64>,
}

/// Finite values with a valid time that end in no window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// Their number by reason. *Already sent* ones have another value than the one that was sent.
    pub by_reason: LeftOut,
    /// The first of them.
    pub first: FirstLost,
}

/// A row of the source.
#[derive(Clone, Copy)]
struct ReadRow<'r> {
    row: &'r Row,
    place: RowPlace,
    /// True if its time is too far ahead of the clock.
    is_ahead: bool,
    /// See [`Source::mark`].
    mark: u64,
}

/// Fills the windows of all streams from one source.
pub struct Windows {
    source: Box<dyn Source>,
    clock: Clock,
    streams: Vec<Filling>,
    /// Makes the streams anew for the second reading of a source that corrects; `None` unless it is read for the first
    /// time.
    anew: Option<Box<dyn Fn() -> Vec<Filling> + Send>>,
    allow_missing: bool,
    ahead: Ahead,
    /// For a source whose rows arrive over time.
    timer: Option<Timer>,
    lost: FirstLost,
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
    /// Number of readings of each joined stream whose memory other streams take, until their windows are made.
    spare: usize,
    progress: Progress,
}

impl Windows {
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

    /// Returns the least mark of the rows whose readings are in windows that are open; `None` if none is.
    #[must_use]
    pub fn oldest_mark(&self) -> Option<u64> {
        self.streams.iter().filter_map(Filling::oldest_mark).min()
    }

    /// Returns the mark of the last row that was read.
    #[must_use]
    pub fn last_mark(&self) -> u64 {
        self.source.mark()
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

    /// Returns facts about the files that were read.
    #[must_use]
    pub fn files(&self) -> Vec<crate::source::FileFacts> {
        self.source.facts()
    }

    /// Returns the next closed window, in the order of closing; `None` if there are no more. The windows of a file in
    /// order are in order of time.
    ///
    /// # Errors
    /// [`FillError`] if the source cannot be read.
    pub fn next_closed(&mut self) -> Result<Option<Closed>, FillError> {
        loop {
            match self.poll()? {
                Polled::Closed(closed) => return Ok(Some(*closed)),
                Polled::Waiting(_) => {}
                Polled::Ended => return Ok(None),
            }
        }
    }

    /// Like [`Windows::next_closed`], but returns [`Polled::Waiting`] once the source has no row now: it takes at most
    /// `rows` rows, and looks again at once after as many.
    ///
    /// # Errors
    /// [`FillError`] if the source cannot be read.
    pub fn poll_rows(&mut self, rows: u64) -> Result<Polled, FillError> {
        let until = self.rows.saturating_add(rows);
        self.poll_while(|windows| windows.rows < until)
    }

    fn poll(&mut self) -> Result<Polled, FillError> {
        self.poll_while(|_| true)
    }

    fn poll_while(&mut self, goes_on: impl Fn(&Self) -> bool) -> Result<Polled, FillError> {
        loop {
            if self.anew.is_some() {
                self.check_correction()?;
            }
            while let Some(closed) = self.closed.pop_front() {
                let mut fed = self.streams.iter_mut().zip(&mut self.given);
                let Some((stream, given)) = fed.find(|(stream, _)| stream.stream() == closed.stream) else {
                    continue;
                };
                let again = std::mem::replace(given, true);
                if !(self.once && again) {
                    self.windows += 1;
                    stream.count_sent(&closed.window);
                    return Ok(Polled::Closed(Box::new(closed)));
                }
            }
            if let Some(made) = self.next_made()? {
                self.closed.push_back(made);
                continue;
            }
            if self.end.is_some() || (self.once && self.given.iter().all(|given| *given)) {
                self.progress.end();
                return Ok(Polled::Ended);
            }
            if !goes_on(self) {
                return Ok(Polled::Waiting(i64::MIN));
            }
            if self.read()? == Read::Nothing && self.closed.is_empty() {
                return Ok(Polled::Waiting(self.timer.as_ref().map_or(i64::MAX, Timer::due)));
            }
        }
    }

    /// Returns the next window of a joined stream.
    fn next_made(&mut self) -> Result<Option<Closed>, FillError> {
        for (stream, given) in self.streams.iter_mut().zip(&self.given) {
            if self.once && *given {
                continue;
            }
            if let Some(made) = stream.next_made()? {
                return Ok(Some(made));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
