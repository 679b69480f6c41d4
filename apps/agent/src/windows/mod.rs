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
mod closed;
mod fed;
mod filling;
mod joined;
mod lost;
mod open;
mod options;
mod pass;
mod pieces;
mod present;
mod sent;
mod several;
mod stream;
mod ticks;
mod timer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sotto_pack::{Channel, ChannelKind, Clock, LeftOut, Reason};

pub(crate) use closed::in_the_place_of;
pub use closed::{ClosedWindow, End, FillError, JoinedFacts};
pub use joined::Lacks;
pub use lost::{FirstLost, LostReading, RowPlace, is_lost};
pub use options::Options;
pub use present::Present;

use crate::progress::Progress;
use crate::source::{Row, Source, SourceError};
use crate::spool::kept::Kept;
use crate::spool::{Cuts, Sent, Totals};
use crate::stop::Stop;
use crate::streams::Stream;
use ahead::Ahead;
use fed::{StreamFacts, later, phase};
use filling::Filling;
use ticks::TickRules;
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
}

/// Fills the windows of all streams from one source.
pub struct Windows {
    source: Box<dyn Source>,
    clock: Clock,
    streams: Vec<Filling>,
    /// Makes the streams anew for the second reading of a source that corrects; `None` unless it is read for the first
    /// time.
    anew: Option<Box<dyn Fn() -> Vec<Filling>>>,
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
        let is_joined = |stream: &&Stream| options.correct || stream.is_joined();
        let joined = streams.iter().filter(is_joined).count().max(1);
        let reports = (options.most_reports.unwrap_or(MOST_REPORTS) / joined).max(1);
        let others = streams.iter().filter(|stream| !is_joined(stream)).map(|stream| stream.layout.slots());
        // A reading that waits takes the memory of two slots.
        let spare = open.saturating_mul(others.sum()) / 2 / joined;
        let facts = |(position, stream): (usize, &Stream)| {
            let cut = cuts.of(&stream.name)?;
            let of = |wanted: &Channel| channels.iter().position(|channel| channel.name == wanted.name);
            let columns: Vec<Option<usize>> = stream.layout.channels().iter().map(of).collect();
            let has = |column: &Option<usize>| column.is_some();
            let is_fed = if options.correct { columns.iter().any(has) } else { columns.iter().all(has) };
            let sampled = options.own_period.is_some_and(|own| own < cut.period);
            let (keep_clear, now) = (options.keep_clear, options.now.clone());
            let rules = Rules { open, paced, sampled, keep_clear, reports, now };
            let sent = sent(&stream.name);
            let (cut, phase) = later(cut, phase(stream, cut, cuts.clock(), &sent, options));
            let ticks = TickRules::new(stream.layout.channels(), cut, phase);
            let (name, layout, is_joined) = (stream.name.clone(), stream.layout.clone(), stream.is_joined());
            is_fed.then_some(StreamFacts {
                position,
                name,
                layout,
                is_joined,
                cut,
                columns,
                rules,
                ticks,
                sent,
            })
        };
        let facts: Vec<StreamFacts> = streams.iter().enumerate().filter_map(facts).collect();
        let shortest = facts.iter().map(|facts| facts.cut.period).min().unwrap_or(1);
        let timer = paced.then(|| Timer::new(options, shortest.into()));
        let (kept, clock, correct) = (options.kept.clone(), cuts.clock().clone(), options.correct);
        let make = move |kept: Option<Arc<Kept>>| -> Vec<Filling> {
            facts.iter().map(|facts| facts.filling(&clock, kept.as_ref(), correct)).collect()
        };
        // A correction is made in memory first, to see what it lacks.
        let first = if correct { kept.as_ref().map(|kept| Arc::new(kept.in_memory())) } else { kept.clone() };
        let streams = make(first);
        Self {
            source,
            clock: cuts.clock().clone(),
            given: vec![false; streams.len()],
            streams,
            anew: correct.then(|| Box::new(move || make(kept.clone())) as Box<dyn Fn() -> Vec<Filling>>),
            allow_missing: options.allow_missing,
            ahead: Ahead::new(options),
            timer,
            lost: FirstLost::default(),
            stop,
            end: None,
            once: options.once,
            closed: VecDeque::new(),
            channels,
            rows: 0,
            windows: 0,
            passes: 1,
            again: false,
            spare,
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
        self.streams.iter().map(Filling::taken).collect()
    }

    /// Returns the readings of this run that are lost. A reading counts once, whatever streams have its channel.
    #[must_use]
    pub fn lost(&self) -> Lost {
        let mut lost = Lost { first: self.lost.clone(), ..Lost::default() };
        let mut most: BTreeMap<(String, Reason), u64> = BTreeMap::new();
        for stream in &self.streams {
            let Taken { totals, other_values, .. } = stream.taken();
            let mut add = |channel: &str, reason, count: u64| {
                let all = most.entry((channel.to_owned(), reason)).or_default();
                *all = count.max(*all);
            };
            for (channel, totals) in &totals.channels {
                let has_states = self.channels.iter().any(|own| own.name == *channel && has_states(own));
                let is_lost = |reason| is_lost(reason) || has_states && reason == Reason::Text;
                let lost = totals.left_out.iter().filter(|(reason, _)| is_lost(*reason));
                lost.for_each(|(reason, count)| add(channel, reason, count));
            }
            for (channel, count) in stream.channels().zip(&other_values) {
                add(channel, Reason::AlreadySent, *count);
            }
            let first = stream.first_lost().into_iter().flat_map(FirstLost::iter);
            first.for_each(|reading| lost.first.note(reading.row, &reading.channel, reading.reason));
        }
        most.into_iter().for_each(|((_, reason), count)| lost.by_reason.add(reason, count));
        lost
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
                    return Ok(Some(closed));
                }
            }
            if let Some(made) = self.next_made()? {
                self.closed.push_back(made);
                continue;
            }
            if self.end.is_some() || (self.once && self.given.iter().all(|given| *given)) {
                self.progress.end();
                return Ok(None);
            }
            self.read()?;
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

    /// Reads a correction to its end, and then from its beginning again: nothing is sent of one that lacks readings.
    fn check_correction(&mut self) -> Result<(), FillError> {
        loop {
            if self.next_made()?.is_some() {
                continue;
            }
            if self.end.is_some() {
                break;
            }
            self.read()?;
        }
        let Some(anew) = self.anew.take() else { return Ok(()) };
        if self.end == Some(End::Stop) {
            return Ok(());
        }
        let mut lacks = Lacks::default();
        self.streams.iter().filter_map(Filling::lacks).for_each(|other| lacks.merge(other));
        if lacks.is_refused(self.allow_missing) {
            return Err(FillError::Lacks(lacks.words(&self.clock)));
        }
        self.streams = anew();
        self.source.restart().map_err(FillError::Source)?;
        (self.end, self.rows, self.passes, self.again) = (None, 0, 1, false);
        self.lost = FirstLost::default();
        self.closed.clear();
        Ok(())
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
        if self.pass_time()? {
            return Ok(());
        }
        let row = match (self.stop.is_asked(), &self.timer) {
            (true, _) => Err(SourceError::Stopped),
            (false, None) => self.source.next_row(),
            (false, Some(timer)) => match self.source.next_row_before(timer.due()) {
                Ok(None) => return Ok(()),
                Ok(Some(row)) => Ok(row),
                Err(error) => Err(error),
            },
        };
        let without_time = self.source.take_left_out();
        if self.passes == 1 && !without_time.is_empty() {
            let rows = per_channel(&without_time, self.channels.len());
            self.streams.iter_mut().for_each(|stream| stream.leave_out_rows(&rows));
        }
        let mut closed = Vec::new();
        match row {
            Ok(row) => {
                self.rows += u64::from(self.passes == 1);
                self.timer.iter_mut().for_each(|timer| timer.note(row.at));
                self.progress.rows(self.rows, self.windows);
                let read = ReadRow {
                    row: &row,
                    place: self.source.place(),
                    is_ahead: self.ahead.leaves_out(row.at),
                };
                self.note_lost(read);
                for (stream, given) in self.streams.iter_mut().zip(&self.given) {
                    if !(self.once && *given) {
                        stream.take(read, &self.clock, &mut closed, &mut self.lost)?;
                    }
                }
            }
            Err(SourceError::Ended) => {
                for stream in &mut self.streams {
                    self.again |= stream.end_pass(&mut closed);
                }
                if self.streams.iter().all(|stream| stream.is_done() || stream.is_joined()) {
                    let spare = std::mem::take(&mut self.spare);
                    self.streams.iter_mut().for_each(|stream| stream.give(spare));
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

    /// Closes windows whose time is over, and makes pieces of open ones, where that is due. Returns true if it was.
    fn pass_time(&mut self) -> Result<bool, FillError> {
        let Some(moment) = self.timer.as_mut().and_then(Timer::moment) else { return Ok(false) };
        let mut closed = Vec::new();
        for (stream, given) in self.streams.iter_mut().zip(&self.given) {
            if !(self.once && *given) {
                stream.pass_time(moment, &self.clock, &mut closed)?;
            }
        }
        self.closed.extend(closed);
        Ok(true)
    }

    /// Notes values of a row that no stream takes.
    fn note_lost(&mut self, ReadRow { row, place, is_ahead }: ReadRow<'_>) {
        for (at, channel) in self.channels.iter().enumerate() {
            let Some(value) = row.values.get(at).copied().flatten() else {
                // A word that is none of the states.
                if row.missing.get(at) == Some(&Some(Reason::Text)) && has_states(channel) {
                    self.lost.note(place, &channel.name, Reason::Text);
                }
                continue;
            };
            if !(channel.minimum..=channel.maximum).contains(&value) {
                self.lost.note(place, &channel.name, Reason::OutOfRange);
            } else if is_ahead {
                self.lost.note(place, &channel.name, Reason::Future);
            }
        }
    }
}

fn has_states(channel: &Channel) -> bool {
    matches!(channel.kind, ChannelKind::State(_))
}

/// Converts counts of readings, one per channel, to counts of rows.
fn per_channel(readings: &sotto_pack::LeftOut, channels: usize) -> sotto_pack::LeftOut {
    let mut rows = sotto_pack::LeftOut::default();
    readings.iter().for_each(|(reason, count)| rows.add(reason, count.div_ceil(channels.max(1) as u64)));
    rows
}

#[cfg(test)]
mod tests;
