//! Windows that are made because their time is over, and pieces of the window for now.

use super::JoinedWindows;
use super::timeline::Timeline;
use crate::windows::ticks::over;
use crate::windows::timer::Moment;

impl JoinedWindows {
    /// Makes the windows that end by a time.
    pub(super) fn close_before(&mut self, start: i64) {
        let mut windows = self.pending.take_before(start);
        for open in self.maker.pieces.over(start) {
            windows.entry(open).or_default();
        }
        self.begin(windows, start, Some(start));
    }

    /// Makes the windows whose time, and a period more, is over; of an old series if no reading came for a while. Makes a piece
    /// of the window for now if it is due.
    pub(in crate::windows) fn pass_time(&mut self, moment: Moment) {
        let Timeline { phase, cut, clock, .. } = &self.maker.timeline;
        let period = self.maker.timeline.period();
        let is_idle = self.idle.is_over(moment.now, period);
        self.is_live = moment.is_live;
        if moment.is_piece {
            let until = over(*cut, clock, moment.now.saturating_sub(*phase));
            until.into_iter().for_each(|until| self.piece(until));
            return;
        }
        let reached = moment.source.saturating_sub(*phase).saturating_sub(period);
        let start = self.maker.timeline.window(reached).start;
        if (is_idle || self.is_live) && start > self.closed_until {
            self.closed_until = start;
            self.close_before(start);
            self.walk.fill_tail();
        }
    }

    /// Makes a piece of the window for now, up to the end of a tick, and the windows before it.
    fn piece(&mut self, until: i64) {
        let sent = self.maker.timeline.sent_end().max(self.maker.timeline.continues.unwrap_or(i64::MIN));
        let window = self.maker.timeline.window(until - 1);
        let mut windows = self.pending.take_until(until);
        for open in self.maker.pieces.over(window.start) {
            windows.entry(open).or_default();
        }
        if sent < until {
            windows.entry(window.start).or_default();
        }
        self.begin(windows, until, Some(until));
        self.maker.timeline.most = until;
    }
}
