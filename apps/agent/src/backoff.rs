//! How long to wait before the next attempt.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// Doubles from 0.1 s to 30 s; of that, a random part between half and all, so that devices do not come back together.
#[derive(Debug)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { failures: 0 }
    }

    /// The next wait: at least what the cloud asked for, never more than 30 s.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures += 1;
        doubled.mul_f64(0.5 + 0.5 * random_part()).max(asked.unwrap_or_default()).min(LONGEST)
    }
}

/// From 0 to 1; 1 when the system has no randomness.
fn random_part() -> f64 {
    fn draw(mut rng: impl sotto_ring::SecretRng) -> f64 {
        f64::from(rng.next_u32()) / f64::from(u32::MAX)
    }
    sotto_ring::secure_rng().map_or(1.0, draw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let mut backoff = Backoff::new();
        for failures in 0..20 {
            let full = FIRST.saturating_mul(1 << failures.min(10)).min(LONGEST);
            let wait = backoff.next(None);
            assert!(wait >= full / 2 && wait <= full, "{failures}: {wait:?}");
        }
    }

    #[test]
    fn the_cloud_is_given_the_time_it_asks_for() {
        let asked = Duration::from_secs(7);
        assert_eq!(Backoff::new().next(Some(asked)), asked);
        assert_eq!(Backoff::new().next(Some(Duration::from_secs(7000))), LONGEST);
    }
}
