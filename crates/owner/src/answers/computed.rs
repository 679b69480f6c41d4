//! The results of a question's devices.

use std::collections::BTreeMap;

use super::listed::Listed;
use super::takes::taken;
use crate::declared::settings::Settings;
use crate::error::{FaultyWindow, OwnerError};
use crate::gathered::Tally;
use crate::question::Asked;
use crate::windows;
use crate::work::{CameDown, Computed, Computer, DeviceWork, OnProgress, Used};

/// The results of all devices.
#[derive(Default)]
pub(super) struct Done {
    /// The tallies of each device, in the order of the list.
    pub(super) by_device: Vec<Vec<Tally>>,
    /// The windows that are used, by device, of those that have any.
    pub(super) used: BTreeMap<String, Used>,
    /// Windows left out by the fault of their device, by device.
    pub(super) faulty: BTreeMap<String, Vec<FaultyWindow>>,
    /// The readings that came down for calls that need them, by device.
    pub(super) came_down: BTreeMap<String, CameDown>,
}

/// Computes a question on the windows of all devices, once `fetch::within` allows the readings that come down.
pub(super) fn computed(
    settings: &Settings,
    asked: &Asked<'_>,
    listed: &mut Listed,
    computer: &mut Computer<'_>,
    progress: OnProgress<'_>,
) -> Result<Done, OwnerError> {
    let Listed { devices, segments, ends, gap, .. } = listed;
    let total: u64 = devices.iter().map(|device| windows::number(&device.windows)).sum();
    let mut done = Done::default();
    let (mut finished, mut not_carried) = (0, None);
    for device in devices {
        let mut tell = |now: u64, _: u64| {
            finished += now;
            progress(finished.min(total), total);
        };
        let takes = taken(settings, asked, &device.shown);
        let work = DeviceWork {
            asked,
            groups: &segments.times,
            weighted: &segments.weighted,
            ends,
            gap: *gap,
            device,
            takes: &takes,
        };
        let tallied = work.tallies(computer, &mut tell)?;
        let Computed { tallies, used, fetched, came_down } = tallied.computed;
        if !used.is_empty() {
            done.used.insert(device.shown.clone(), used);
        }
        if came_down.windows > 0 {
            done.came_down.insert(device.shown.clone(), came_down);
        }
        done.by_device.push(tallies);
        if !tallied.faulty.is_empty() {
            done.faulty.insert(device.shown.clone(), tallied.faulty);
        }
        not_carried = not_carried.or(tallied.error);
        device.aside.not_carried = tallied.not_carried;
        device.aside.fetched = fetched;
    }
    match not_carried.filter(|_| done.used.is_empty()) {
        Some(error) => Err(error),
        None => Ok(done),
    }
}

impl Done {
    /// Adds the windows of earlier groups. Those of both count once.
    pub(super) fn add(&mut self, earlier: Self) {
        for (device, windows) in earlier.faulty {
            let known = self.faulty.entry(device).or_default();
            let new = |window: &FaultyWindow| known.iter().all(|known| known.identity != window.identity);
            let new: Vec<FaultyWindow> = windows.into_iter().filter(new).collect();
            known.extend(new);
        }
        for (device, used) in earlier.used {
            self.used.entry(device).or_default().extend(used);
        }
        for (device, came_down) in earlier.came_down {
            self.came_down.entry(device).or_default().add(came_down);
        }
    }

    /// Returns the number of windows that are used, by device.
    pub(super) fn took_part(&self) -> BTreeMap<String, u64> {
        self.used.iter().map(|(device, used)| (device.clone(), used.windows())).collect()
    }
}
