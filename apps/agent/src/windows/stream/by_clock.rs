//! Windows that close because their time is over, and pieces of the window for now.

use sotto_pack::Clock;

use super::StreamWindows;
use crate::windows::Closed;
use crate::windows::closed::{ClosedWindow, FillError};
use crate::windows::open::OpenWindow;
use crate::windows::ticks::over;
use crate::windows::timer::Moment;

impl StreamWindows {
    /// Closes the windows that begin before a time.
    pub(super) fn close_before(&mut self, start: i64, closed: &mut Vec<Closed>) {
        let behind = self.open.split_off(&start);
        for window in std::mem::replace(&mut self.open, behind).into_values() {
            closed.extend(self.close(*window, false));
        }
    }

    /// Closes windows whose time, and a period more, is over if no reading came for a while. Makes a piece of the window for
    /// now if it is due.
    pub(in crate::windows) fn pass_time(
        &mut self,
        moment: Moment,
        clock: &Clock,
        closed: &mut Vec<Closed>,
    ) -> Result<(), FillError> {
        let period = i64::from(self.cut.period.ceil());
        let is_idle = self.idle.is_over(moment.now, period);
        let reached = moment.source.saturating_sub(self.ticks.phase);
        let newest = self.open.last_key_value().map(|(_, window)| window.end());
        if is_idle && newest.is_some_and(|end| end.saturating_add(period) <= reached) {
            self.close_before(i64::MAX, closed);
        }
        if moment.is_piece { self.piece(moment.now, clock, closed) } else { Ok(()) }
    }

    /// Makes a piece of the window for now, up to the last tick that is over. A window before it closes.
    fn piece(&mut self, now: i64, clock: &Clock, closed: &mut Vec<Closed>) -> Result<(), FillError> {
        let Some(until) = over(self.cut, clock, now.saturating_sub(self.ticks.phase)) else { return Ok(()) };
        if until <= self.closed_until.max(self.sent.continues.unwrap_or(i64::MIN)) {
            return Ok(());
        }
        let times = self.times(until - 1, clock);
        if !self.open.contains_key(&times.start) {
            self.close_before(i64::MAX, closed);
            let length = self.cut.ticks_between(times.start, times.end);
            let window =
                OpenWindow::new(&self.layout, times, self.cut.period, length, self.rules.keep_clear)?;
            self.open.insert(times.start, Box::new(window));
        }
        self.close_before(times.start, closed);
        let piece = self.open.get_mut(&times.start).map_or(Ok(None), |window| window.piece(until))?;
        let (stream, phase) = (self.stream, self.ticks.phase);
        closed.extend(piece.map(|piece| Closed { stream, window: shifted(piece, phase) }));
        Ok(())
    }
}

/// Returns a window whose ticks are later than the clock's by a phase.
pub(super) fn shifted(mut window: ClosedWindow, phase: i64) -> ClosedWindow {
    window.packed.start = window.packed.start.saturating_add(phase);
    window.until = window.until.saturating_add(phase);
    if let Some(facts) = &mut window.joined {
        for runs in facts.cleared.values_mut() {
            *runs = runs.shifted(phase);
        }
    }
    window
}
