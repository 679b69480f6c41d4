//! Points from a collector to the intake, again until they are durable.

use std::fmt::Display;
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
    let taken = until_durable(sender, site, || site.intake.keep(points, sender));
    if let Some(taken) = taken {
        tracing::debug!(sender, readings = taken.readings, unclaimed = taken.unclaimed, "taken");
    }
    taken.is_some() || site.seen.is_some()
}

/// Calls `take` until it succeeds; `None` if a stop came before. `check` counts, and keeps nothing: it calls once.
pub(super) fn until_durable<T, E: Display>(
    sender: &str,
    site: &Site,
    mut take: impl FnMut() -> Result<T, E>,
) -> Option<T> {
    let mut backoff = Backoff::new();
    loop {
        match take() {
            Ok(taken) => return Some(taken),
            Err(_) if site.seen.is_some() => return None,
            Err(error) => {
                let wait = backoff.next(None).max(Duration::from_secs(1));
                tell(format!("sotto-agent: {sender}: {error}; the next attempt is in {} s", wait.as_secs()));
                if site.stop.wait(wait) {
                    return None;
                }
            }
        }
    }
}
