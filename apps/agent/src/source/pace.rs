//! Waits for the next tick.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sotto_pack::Period;

use crate::stop::Stop;

/// Ticks at `start + k · period`. Ticks that pass while nobody waits are skipped.
#[derive(Debug)]
pub(crate) struct Pace {
    period: Period,
    /// The time of the first tick, and the number of the last one.
    last: Option<(i64, i64)>,
    stop: Stop,
}

impl Pace {
    /// Creates a pace.
    pub(crate) fn new(period: Period, stop: Stop) -> Self {
        Self { period, last: None, stop }
    }

    /// Waits for the next tick and returns its time (ms since 1970); `None` if a stop was requested. The first tick is
    /// now.
    pub(crate) fn tick(&mut self) -> Option<i64> {
        let Some((first, last)) = self.last else {
            let first = now();
            self.last = Some((first, 0));
            return Some(first);
        };
        let due = self.period.at(first, last + 1);
        // If the clock was set back, wait at most one period.
        let wait = (due - now()).clamp(0, self.period.ceil().into());
        if self.stop.wait(Duration::from_millis(wait.unsigned_abs())) {
            return None;
        }
        let tick = self.period.tick_at(now() - first).max(last + 1);
        self.last = Some((first, tick));
        Some(self.period.at(first, tick))
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
        let mut pace = Pace::new(Period::from_milliseconds(20), stop.clone());
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
