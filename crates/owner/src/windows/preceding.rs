//! The readings before the time of a question: increases and changes count from them.

use std::collections::BTreeSet;

use sotto_pack::Clock;

use super::segments::Segments;
use super::time::Between;
use super::window::{DeviceWindows, StoredWindow};
use crate::question::Question;
use crate::streams::Kind;

/// The last readings before the parts of a question's time, each alone in its window.
#[derive(Debug, Default)]
pub(crate) struct Preceding {
    /// The windows of each device.
    by_device: Vec<Vec<StoredWindow>>,
}

impl Preceding {
    /// Finds the last reading of each channel of each device before each of these parts. `devices` has the windows before the
    /// last part.
    pub(crate) fn of(parts: &[Between], devices: &[DeviceWindows], channels: &BTreeSet<String>) -> Self {
        let of_device = |device: &DeviceWindows| {
            let of_part = |since| windows_before(&device.windows, channels, since);
            parts.iter().filter_map(|part| part.since).flat_map(of_part).collect()
        };
        Self { by_device: devices.iter().map(of_device).collect() }
    }

    /// Returns true if each of these devices has a reading before the time, unless it has no window.
    pub(crate) fn is_complete(&self, devices: &[DeviceWindows]) -> bool {
        let with_windows =
            devices.iter().zip(&self.by_device).filter(|(device, _)| !device.windows.is_empty());
        with_windows.into_iter().all(|(_, before)| !before.is_empty())
    }

    /// Adds the windows to those of the devices, which are in the same order and have those of the parts.
    pub(crate) fn add_to(
        self,
        of: (&Clock, &Question),
        parts: &[Between],
        devices: &mut [DeviceWindows],
        segments: &mut Segments,
    ) {
        let first = self.by_device.iter().flatten().map(StoredWindow::from).min();
        let Some(first) = first else { return };
        segments.leave_out_around(of, parts, first);
        for (device, before) in devices.iter_mut().zip(self.by_device) {
            let is_there = |window: &StoredWindow| {
                let same = |other: &&StoredWindow| other.identity == window.identity;
                device.windows.iter().filter(same).any(|other| other.ticks().contains(&window.ticks().start))
            };
            let new: Vec<StoredWindow> = before.into_iter().filter(|window| !is_there(window)).collect();
            device.windows.splice(0..0, new);
        }
    }
}

/// Returns the windows with the last reading of each channel before a time: whole, if one window before it has all of them.
fn windows_before<'w>(
    windows: &'w [StoredWindow],
    channels: &BTreeSet<String>,
    since: i64,
) -> Vec<StoredWindow> {
    let last_of = |name: &String| {
        let of = |window: &'w StoredWindow| Some((window.last_before(window.channel(name)?, since)?, window));
        let all = windows.iter().filter(|window| window.kind() == Some(Kind::Exact)).filter_map(of);
        all.max_by_key(|(tick, window)| window.instant(*tick))
    };
    let mut last: Vec<(u32, &StoredWindow)> = channels.iter().filter_map(last_of).collect();
    let Some((_, first)) = last.first() else { return Vec::new() };
    if first.to() <= since && last.iter().all(|(_, window)| window.identity == first.identity) {
        return vec![(*first).clone()];
    }
    last.sort_by_key(|(tick, window)| (window.identity, *tick));
    last.dedup_by_key(|(tick, window)| (window.identity, *tick));
    last.into_iter().map(|(tick, window)| StoredWindow { ticks: tick..tick + 1, ..window.clone() }).collect()
}
