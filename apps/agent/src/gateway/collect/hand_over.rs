//! Points from a collector to the intake, again until they are durable.

use std::time::Duration;

use super::Site;
use crate::backoff::Backoff;
use crate::gateway::point::Point;
use crate::output::tell;

/// Hands points over. Returns false if a stop came before they were durable.
pub(super) fn hand_over(points: &[Point<'_>], sender: &str, site: &Site) -> bool {
    if points.is_empty() {
        return true;
    }
    // `check` counts, and keeps nothing.
    if site.seen.is_some() {
        let _ = site.intake.take(points, sender);
        return true;
    }
    let mut backoff = Backoff::new();
    loop {
        match site.intake.take(points, sender) {
            Ok(taken) => {
                tracing::debug!(sender, readings = taken.readings, unclaimed = taken.unclaimed, "taken");
                return true;
            }
            Err(error) => {
                let wait = backoff.next(None).max(Duration::from_secs(1));
                tell(format!("sotto-agent: {sender}: {error}; the next attempt is in {} s", wait.as_secs()));
                if site.stop.wait(wait) {
                    return false;
                }
            }
        }
    }
}
