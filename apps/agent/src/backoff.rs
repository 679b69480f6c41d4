//! Waiting time before the next attempt.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// Exponential backoff from 0.1 s to 30 s. The wait is a random part, half to all, so that devices do not return in
/// step.
#[derive(Debug)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { failures: 0 }
    }

    /// Returns the next wait: at least the time `asked` by the cloud, at most 30 s.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures += 1;
        doubled.mul_f64(0.5 + 0.5 * random_part()).max(asked.unwrap_or_default()).min(LONGEST)
    }
}

/// Returns a random number in 0 … 1, or 1 if the system gives no randomness.
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
