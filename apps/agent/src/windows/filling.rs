//! The windows of a stream, however they are filled.

use sotto_pack::{Clock, LeftOut};

use super::closed::{ClosedWindow, FillError};
use super::joined::{JoinedWindows, Lacks};
use super::lost::FirstLost;
use super::stream::StreamWindows;
use super::timer::Moment;
use super::{Closed, ReadRow, Taken};

/// The windows of a stream.
pub(super) enum Filling {
    /// A reading changes its own tick alone.
    Plain(Box<StreamWindows>),
    /// A reading may change other ticks, or windows come in the place of others.
    Joined(Box<JoinedWindows>),
}

impl Filling {
    pub(super) fn stream(&self) -> usize {
        match self {
            Self::Plain(windows) => windows.stream(),
            Self::Joined(windows) => windows.stream(),
        }
    }

    pub(super) fn taken(&self) -> Taken {
        let ((totals, span), phase, other_values) = match self {
            Self::Plain(windows) => (windows.counts(), windows.phase(), &[][..]),
            Self::Joined(windows) => (windows.counts(), windows.phase(), windows.other_values()),
        };
        let (stream, other_values) = (self.stream(), other_values.to_vec());
        Taken { stream, totals: totals.clone(), span, phase, other_values }
    }

    pub(super) fn oldest_mark(&self) -> Option<u64> {
        match self {
            Self::Plain(windows) => windows.oldest_mark(),
            Self::Joined(windows) => windows.oldest_mark(),
        }
    }

    pub(super) fn count_sent(&mut self, sent: &ClosedWindow) {
        match self {
            Self::Plain(windows) => windows.count_sent(sent),
            Self::Joined(windows) => windows.count_sent(sent),
        }
    }

    pub(super) fn leave_out_rows(&mut self, rows: &LeftOut) {
        match self {
            Self::Plain(windows) => windows.leave_out_rows(rows),
            Self::Joined(windows) => windows.leave_out_rows(rows),
        }
    }

    /// Takes a row. Adds the windows that it closes to `closed`, and lost readings to `lost`.
    pub(super) fn take(
        &mut self,
        read: ReadRow<'_>,
        clock: &Clock,
        closed: &mut Vec<Closed>,
        lost: &mut FirstLost,
    ) -> Result<(), FillError> {
        match self {
            Self::Plain(windows) => {
                windows.take(read, clock, closed)?;
                windows
                    .off_grid()
                    .for_each(|channel| lost.note(read.place, &channel, sotto_pack::Reason::OffGrid));
            }
            Self::Joined(windows) => windows.take(read),
        }
        Ok(())
    }

    /// Ends a pass over the source. Returns true if the source has to be read again.
    pub(super) fn end_pass(&mut self, closed: &mut Vec<Closed>) -> bool {
        match self {
            Self::Plain(windows) => windows.end_pass(closed),
            Self::Joined(windows) => windows.end_pass(),
        }
    }

    pub(super) fn is_joined(&self) -> bool {
        matches!(self, Self::Joined(_))
    }

    /// Returns true if its windows take no memory any more: earlier passes have made all of them.
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Self::Plain(windows) if windows.is_done())
    }

    /// Lets further readings wait for their window, if it has such.
    pub(super) fn give(&mut self, reports: usize) {
        if let Self::Joined(windows) = self {
            windows.give(reports);
        }
    }

    /// Closes every window at a stop.
    pub(super) fn finish(&mut self, closed: &mut Vec<Closed>) {
        match self {
            Self::Plain(windows) => windows.finish(closed),
            Self::Joined(windows) => windows.finish(false),
        }
    }

    /// Closes windows whose time is over, and makes pieces of open ones if they are due.
    pub(super) fn pass_time(
        &mut self,
        moment: Moment,
        clock: &Clock,
        closed: &mut Vec<Closed>,
    ) -> Result<(), FillError> {
        match self {
            Self::Plain(windows) => windows.pass_time(moment, clock, closed),
            Self::Joined(windows) => {
                windows.pass_time(moment);
                Ok(())
            }
        }
    }

    /// Returns the next window that was made of the rows so far.
    pub(super) fn next_made(&mut self) -> Result<Option<Closed>, FillError> {
        match self {
            Self::Plain(_) => Ok(None),
            Self::Joined(windows) => windows.next_made(),
        }
    }

    /// Iterates over the names of its channels, for a stream whose readings are kept.
    pub(super) fn channels(&self) -> impl Iterator<Item = &str> {
        let joined = match self {
            Self::Plain(_) => None,
            Self::Joined(windows) => Some(windows.channels()),
        };
        joined.into_iter().flatten()
    }

    pub(super) fn first_lost(&self) -> Option<&FirstLost> {
        match self {
            Self::Plain(_) => None,
            Self::Joined(windows) => Some(windows.first_lost()),
        }
    }

    /// Returns the ticks that a correction lacks.
    pub(super) fn lacks(&self) -> Option<&Lacks> {
        match self {
            Self::Plain(_) => None,
            Self::Joined(windows) => windows.lacks(),
        }
    }
}
