//! Waits for the next tick.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::stop::Stop;

/// Ticks at `start + k · period`. Ticks that pass while nobody waits are skipped.
#[derive(Debug)]
pub(crate) struct Pace {
    period: i64,
    last: Option<i64>,
    stop: Stop,
}

impl Pace {
    /// Creates a pace with a period in milliseconds, at least 1.
    pub(crate) fn new(period: u32, stop: Stop) -> Self {
        Self { period: i64::from(period.max(1)), last: None, stop }
    }

    /// Waits for the next tick and returns its time (ms since 1970); `None` if a stop was requested. The first tick is
    /// now.
    pub(crate) fn tick(&mut self) -> Option<i64> {
        let Some(last) = self.last else {
            self.last = Some(now());
            return self.last;
        };
        let due = last + self.period;
        // If the clock was set back, wait at most one period.
        let wait = (due - now()).clamp(0, self.period);
        if self.stop.wait(Duration::from_millis(wait.unsigned_abs())) {
            return None;
        }
        let missed = ((now() - due) / self.period).max(0);
        self.last = Some(due + missed * self.period);
        self.last
    }
}

/// Returns the present time in milliseconds since 1970.
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
