//! Waiting for the next tick.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::stop::Stop;

/// Gives ticks at `start + k · period`. Ticks that pass while nobody waits are left out.
#[derive(Debug)]
pub(crate) struct Pace {
    period: i64,
    last: Option<i64>,
    stop: Stop,
}

impl Pace {
    /// Of a period in milliseconds, at least 1.
    pub(crate) fn new(period: u32, stop: Stop) -> Self {
        Self { period: i64::from(period.max(1)), last: None, stop }
    }

    /// Waits for the next tick and gives its time; `None` when a stop was asked for. The first is now.
    pub(crate) fn tick(&mut self) -> Option<i64> {
        let Some(last) = self.last else {
            self.last = Some(now());
            return self.last;
        };
        let due = last + self.period;
        // A clock that was set back does not make us wait longer than a period.
        let wait = (due - now()).clamp(0, self.period);
        if self.stop.wait(Duration::from_millis(wait.unsigned_abs())) {
            return None;
        }
        let missed = ((now() - due) / self.period).max(0);
        self.last = Some(due + missed * self.period);
        self.last
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_on_a_grid_and_missed_ones_are_left_out() {
        let stop = Stop::new();
        let mut pace = Pace::new(20, stop.clone());
        let first = pace.tick().unwrap();
        let second = pace.tick().unwrap();
        assert!(second > first && (second - first) % 20 == 0);
        std::thread::sleep(Duration::from_millis(70));
        let third = pace.tick().unwrap();
        assert!(third >= second + 60 && (third - first) % 20 == 0, "{first} {second} {third}");
        stop.ask();
        assert_eq!(pace.tick(), None);
    }
}
