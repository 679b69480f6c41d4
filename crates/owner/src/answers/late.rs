//! Streams whose windows are overdue.

use std::collections::BTreeMap;

use serde::Serialize;
use sotto_pack::{Span, StreamProfile};

use crate::declared::Plant;
use crate::devices::DeviceRecord;
use crate::windows::StoredWindow;

/// A stream whose next window is overdue.
///
/// Example: [`DeviceStatus`](crate::DeviceStatus)
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LateStream {
    /// The stream's name.
    pub stream: String,
    /// End of its newest window, in milliseconds since 1970.
    pub newest_ms: i64,
    /// The most time that one of its windows covers, in milliseconds.
    pub window_ms: i64,
}

/// Returns true if a window is overdue: two of a stream's could have been sent since its newest ended.
fn is_late(newest: i64, length: i64, now: i64) -> bool {
    now.saturating_sub(newest) > length.saturating_mul(2)
}

/// The streams of the bundle that a device uses.
pub(super) struct Sending<'r> {
    profiles: &'r [StreamProfile],
    /// The ends of the newest windows, by stream.
    newest: BTreeMap<&'r str, i64>,
}

impl<'r> Sending<'r> {
    pub(super) fn of(record: &'r DeviceRecord, windows: &'r [StoredWindow]) -> Self {
        let used = windows.iter().map(|window| window.bundle).max();
        let bundle = used.and_then(|bundle| record.bundles.get(bundle));
        let mut newest: BTreeMap<&str, i64> = BTreeMap::new();
        for window in windows.iter().filter(|window| Some(window.bundle) == used) {
            let end = newest.entry(&window.stream).or_insert(i64::MIN);
            *end = window.to().max(*end);
        }
        Self { profiles: bundle.map_or(&[], |bundle| &bundle.streams), newest }
    }

    /// Returns the stream whose windows are overdue by the largest multiple of their length.
    pub(super) fn late(&self, now: i64) -> Option<LateStream> {
        let late = self.profiles.iter().filter_map(|profile| {
            let (newest_ms, window_ms) = (*self.newest.get(profile.stream.as_str())?, window_of(profile)?);
            let late = LateStream { stream: profile.stream.clone(), newest_ms, window_ms };
            is_late(newest_ms, window_ms, now).then_some(late)
        });
        late.max_by_key(|late| now.saturating_sub(late.newest_ms) / late.window_ms)
    }

    /// Returns the length of the shortest windows with a channel, by its name in `sotto.toml`.
    pub(super) fn shortest_of(&self, plant: &Plant, channel: &str) -> Option<i64> {
        let has = |profile: &&StreamProfile| {
            profile.channels.iter().any(|own| plant.settings().shown_channel(&own.name) == channel)
        };
        self.profiles.iter().filter(has).filter_map(window_of).min()
    }
}

/// Returns the most time that a window of a stream covers, in milliseconds.
fn window_of(profile: &StreamProfile) -> Option<i64> {
    const HOUR: i64 = 3_600_000;
    let span = match profile.span? {
        Span::Hour => HOUR,
        // In a time zone, a day may have 25 hours.
        Span::Day => 25 * HOUR,
        Span::Week => 169 * HOUR,
        Span::Month => (31 * 24 + 1) * HOUR,
    };
    let ticks = profile.period_ms?.after(profile.ticks.into());
    Some(ticks.min(span).max(1))
}

#[cfg(test)]
mod tests {
    use sotto_pack::Encoding;

    use super::*;

    #[test]
    fn a_device_is_late_when_two_windows_could_have_come() {
        let hour = 3_600_000;
        for (now, late) in
            [(0, false), (2 * hour, false), (2 * hour + 1, true), (-hour, false), (i64::MAX, true)]
        {
            assert_eq!(is_late(0, hour, now), late, "{now}");
        }
        assert!(!is_late(i64::MIN, i64::MAX, 0));
    }

    #[test]
    fn a_device_is_late_when_one_of_its_streams_is() {
        let hour = 3_600_000;
        let profile = |stream: &str, span, ticks| StreamProfile {
            stream: stream.to_owned(),
            parameters: String::new(),
            encoding: Encoding::Resolution,
            ticks,
            period_ms: Some(sotto_pack::Period::from_milliseconds(300_000)),
            span: Some(span),
            channels: Vec::new(),
            sums: Vec::new(),
            rounded: false,
            compact: None,
            slots: None,
            envelope: 1,
            public: false,
            absolute: false,
        };
        let profiles = [
            profile("days", Span::Day, 400),
            profile("hours", Span::Hour, 12),
            profile("short", Span::Hour, 4),
        ];
        assert_eq!(profiles.each_ref().map(window_of), [Some(25 * hour), Some(hour), Some(hour / 3)]);
        let late = |ends: [i64; 2], now: i64| {
            let newest = BTreeMap::from([("days", ends[0] * hour), ("hours", ends[1] * hour)]);
            let sending = Sending { profiles: &profiles, newest };
            sending.late(now * hour).map(|late| (late.stream, late.newest_ms / hour))
        };
        assert_eq!(late([0, 12], 14), None);
        assert_eq!(late([0, 12], 15), Some(("hours".to_owned(), 12)), "the day is not over");
        assert_eq!(late([0, 50], 51), Some(("days".to_owned(), 0)));
        assert_eq!(late([0, 12], 60), Some(("hours".to_owned(), 12)), "by 48 windows, rather than by 2");
    }
}
