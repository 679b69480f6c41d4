//! Reads rows into windows, and closes those whose time is over.

use super::closed::{End, FillError};
use super::filling::Filling;
use super::joined::Lacks;
use super::lost::FirstLost;
use super::timer::Timer;
use super::{ReadRow, Windows};
use crate::source::SourceError;

/// The outcome of a look at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A row, the end of the source, or a time at which something was due.
    Something,
    /// The source has no row now.
    Nothing,
}

impl Windows {
    /// Reads a correction to its end, and then from its beginning again: nothing is sent of one that lacks readings.
    pub(super) fn check_correction(&mut self) -> Result<(), FillError> {
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
    pub(super) fn read(&mut self) -> Result<Read, FillError> {
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
            return Ok(Read::Something);
        }
        let row = match (self.stop.is_asked(), &self.timer) {
            (true, _) => Err(SourceError::Stopped),
            (false, None) => self.source.next_row(),
            (false, Some(timer)) => match self.source.next_row_before(timer.due()) {
                Ok(None) => return Ok(Read::Something),
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
                    mark: self.source.mark(),
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
            Err(SourceError::Waiting) => return Ok(Read::Nothing),
            Err(error) => return Err(FillError::Source(error)),
        }
        self.closed.extend(closed);
        Ok(Read::Something)
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
}

/// Converts counts of readings, one per channel, to counts of rows.
fn per_channel(readings: &sotto_pack::LeftOut, channels: usize) -> sotto_pack::LeftOut {
    let mut rows = sotto_pack::LeftOut::default();
    readings.iter().for_each(|(reason, count)| rows.add(reason, count.div_ceil(channels.max(1) as u64)));
    rows
}
