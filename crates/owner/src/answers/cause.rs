//! Finds the cause of an answer without a value, in words, with the way out.

use sotto_pack::Clock;

use super::answer::Row;
use super::empty::{Cause, Empty};
use crate::language::{Duration, DurationUnit, Period};
use crate::question::Question;
use crate::windows::{Aside, Between, DeviceWindows};

/// The facts by which the cause is found.
pub(super) struct Facts<'f> {
    pub(super) question: &'f Question,
    pub(super) devices: &'f [DeviceWindows],
    pub(super) between: Between,
    /// The time of the last reading before windows were cut to the time of the question.
    pub(super) last: Option<i64>,
    pub(super) clock: &'f Clock,
    /// The present time by this machine's clock.
    pub(super) now: i64,
}

/// Returns why an answer with these rows has no value; None if it has one, or readings of which none can be computed.
pub(super) fn why(rows: &[Row], facts: &Facts<'_>) -> Option<Empty> {
    // Of an earlier group, a row says itself why it has no value, unless the answer has no windows at all.
    let no_windows = facts.devices.iter().all(|device| device.windows.is_empty());
    let is_told = |row: &Row| row.why.is_some() && !no_windows;
    let is_empty = |row: &Row| row.value.is_none() && row.count == 0 && !is_told(row) && !row.held_back;
    if !rows.iter().all(is_empty) {
        return None;
    }
    let (cause, reason) = facts.cause();
    Some(Empty { cause, exit_code: cause.exit_code(), reason })
}

impl Facts<'_> {
    fn cause(&self) -> (Cause, String) {
        if self.devices.iter().any(|device| !device.windows.is_empty()) {
            return (Cause::NoReading, self.no_reading());
        }
        let no_secret = |device: &&DeviceWindows| !device.has_secret && device.aside.unreadable > 0;
        if let Some(device) = self.devices.iter().find(no_secret) {
            return (Cause::NoSecret, no_secret_of(device));
        }
        if let Some((channel, unit)) = self.devices.iter().find_map(|device| device.other_unit.as_ref()) {
            return (Cause::OtherUnit, other_unit(channel, unit));
        }
        let left_out = |device: &DeviceWindows| {
            let Aside { unreadable, earlier, other_scheme, lost, deleted, .. } = device.aside;
            unreadable + earlier + other_scheme + lost + deleted > 0 || !device.undeclared.is_empty()
        };
        if self.devices.iter().any(left_out) {
            return (
                Cause::LeftOut,
                "no window of this time can be used, for the reason that the note tells".into(),
            );
        }
        let spans = self.devices.iter().filter_map(|device| device.elsewhere);
        match spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))) {
            None => (Cause::NothingArrived, self.nothing_arrived()),
            Some((first, last)) if self.between.overlaps(first, last) => {
                (Cause::NoReading, self.no_reading())
            }
            Some(span) => (Cause::OtherTime, self.other_time(span)),
        }
    }

    fn devices(&self) -> String {
        self.devices.iter().map(|device| device.shown.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn channels(&self) -> String {
        self.question.channels().into_iter().collect::<Vec<_>>().join(", ")
    }

    fn nothing_arrived(&self) -> String {
        let (devices, channels) = (self.devices(), self.channels());
        if self.devices.iter().any(|device| device.forgotten > 0) {
            return format!(
                "every window of {devices} with {channels} was deleted with `sotto forget`: `sotto status` shows what there is"
            );
        }
        format!(
            "no window with {channels} has arrived from {devices}: start the agent with the device's bundle (`sotto-agent run --bundle \
             {0}.bundle --csv FILE`); \
             if it runs, `sotto-agent status --bundle {0}.bundle` on the device shows what waits there and why",
            self.devices.first().map_or("DEVICE", |device| device.device.as_str())
        )
    }

    fn other_time(&self, (first, last): (i64, i64)) -> String {
        let (first, last) = (self.minute(first), self.minute(last));
        let ahead = match self.between.since {
            Some(since) if since > self.now => "; this time is ahead of this machine's clock",
            _ => "",
        };
        format!(
            "readings of {} lie from {first} to {last}, none in the time of the question{ahead}: ask for a time with readings, or write \
             `over 1d`, which without --now counts back from the newest window",
            self.devices()
        )
    }

    fn no_reading(&self) -> String {
        let channels = self.channels();
        let begin = self.between.since.zip(self.last).filter(|(since, last)| last < since);
        let (Period::Over(_), Some((_, last)), Some(until)) =
            (&self.question.period, begin, self.between.until)
        else {
            return format!(
                "no reading of {channels} lies in the time of the question, though windows do: `sotto status` shows from when to when \
                 there are some, `count({}) by hour` where",
                self.question.channels().into_iter().next().unwrap_or_default()
            );
        };
        let hours = until.saturating_sub(last).unsigned_abs().div_ceil(3_600_000);
        let reaches = Duration::new(u32::try_from(hours).unwrap_or(u32::MAX), DurationUnit::Hour);
        format!(
            "the newest window ends at {}, and the last reading of {channels} is at {}, before this time: `over {reaches}` reaches it",
            self.minute(until),
            self.minute(last)
        )
    }

    fn minute(&self, at: i64) -> String {
        let text = self.clock.rfc3339(at);
        text.get(..16).unwrap_or(&text).replace('T', " ")
    }
}

fn no_secret_of(device: &DeviceWindows) -> String {
    let (name, shown) = (&device.device, &device.shown);
    format!(
        "secrets/{name}.key is missing, without which no window of {shown} can be opened: `sotto device adopt {name}.bundle` brings it back \
         from a bundle, `sotto restore FILE` from a backup; without a copy the readings of {shown} are lost"
    )
}

pub(super) fn other_unit(channel: &str, (before, now): &(String, String)) -> String {
    let named = |unit: &str| if unit.is_empty() { "none".to_owned() } else { unit.to_owned() };
    format!(
        "the unit of {channel} is {} in sotto.toml, and was {} when these windows were sent: write unit = \"{before}\" again, and declare a \
         channel of another name for the new unit",
        named(now),
        named(before)
    )
}
