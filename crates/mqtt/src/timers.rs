//! Timers of the protocol: the next question to the broker, and the limit of its answer.

use std::time::{Duration, Instant};

use mqtt_protocol_core::mqtt::connection::TimerKind;

/// The times at which timers fire.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    ping: Option<Instant>,
    answer: Option<Instant>,
}

impl Timers {
    fn of(&mut self, kind: TimerKind) -> Option<&mut Option<Instant>> {
        match kind {
            TimerKind::PingreqSend => Some(&mut self.ping),
            TimerKind::PingrespRecv => Some(&mut self.answer),
            // A broker's.
            TimerKind::PingreqRecv => None,
        }
    }

    pub(crate) fn set(&mut self, kind: TimerKind, milliseconds: u64) {
        if let Some(at) = self.of(kind) {
            *at = Instant::now().checked_add(Duration::from_millis(milliseconds));
        }
    }

    pub(crate) fn cancel(&mut self, kind: TimerKind) {
        if let Some(at) = self.of(kind) {
            *at = None;
        }
    }

    /// Returns a timer whose time has come, and cancels it.
    pub(crate) fn due(&mut self) -> Option<TimerKind> {
        let now = Instant::now();
        let kind = [TimerKind::PingrespRecv, TimerKind::PingreqSend]
            .into_iter()
            .find(|kind| self.of(*kind).is_some_and(|at| at.is_some_and(|at| at <= now)))?;
        self.cancel(kind);
        Some(kind)
    }

    /// Returns the time until the next timer fires.
    pub(crate) fn next(&self) -> Option<Duration> {
        let next = self.ping.into_iter().chain(self.answer).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }
}
