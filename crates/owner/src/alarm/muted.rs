//! The ends of mutes: by commands and by the times of `sotto.toml`.

use super::mutes::Mutes;
use super::outbox::GIVE_UP_AFTER_MS;
use crate::declared::{self, Plant};
use crate::error::OwnerError;

/// One minute, in milliseconds: times of `sotto.toml` begin and end with one.
const MINUTE: i64 = 60_000;

/// Returns the time until which an alarm about a device is muted, in milliseconds since 1970; None if it is not muted. A mute
/// that lasts longer than events wait ends then.
pub(crate) fn muted_until(
    plant: &Plant,
    name: &str,
    device: &str,
    now: i64,
) -> Result<Option<i64>, OwnerError> {
    let declared = declared::alarm(plant, name)?;
    let (mutes, clock) = (Mutes::of(plant, name, &declared)?, plant.settings().clock()?);
    let schedule = declared.settings.schedule();
    let latest = now.saturating_add(GIVE_UP_AFTER_MS);
    let mut until = now;
    while until < latest {
        let by_time = || schedule.as_ref().is_some_and(|schedule| schedule.covers(&clock, until));
        until = match mutes.until(device, until) {
            Some(end) => end,
            None if by_time() => until - until.rem_euclid(MINUTE) + MINUTE,
            None => break,
        };
    }
    Ok((until > now).then_some(until.min(latest)))
}
