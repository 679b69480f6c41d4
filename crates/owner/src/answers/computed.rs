//! The results of a question's devices.

use std::collections::{BTreeMap, HashMap};

use sotto_wire::Digest;

use super::fetch;
use super::listed::Listed;
use super::rows::Column;
use crate::error::{FaultyWindow, OwnerError};
use crate::gathered::Tally;
use crate::language::Devices;
use crate::question::Asked;
use crate::windows::{self, DeviceWindows, Segments};
use crate::work::{CameDown, Computed, Computer, DeviceWork, OnProgress};

/// The results of all devices.
#[derive(Default)]
pub(super) struct Done {
    /// The tallies of each device, in the order of the list.
    pub(super) by_device: Vec<Vec<Tally>>,
    /// Bytes of the windows used, by leaf.
    pub(super) used: HashMap<Digest, u64>,
    /// Number of windows used, by device.
    pub(super) took_part: BTreeMap<String, u64>,
    /// Windows left out by the fault of their device, by device.
    pub(super) faulty: BTreeMap<String, Vec<FaultyWindow>>,
    /// The readings that came down for calls that need them, by device.
    pub(super) came_down: BTreeMap<String, CameDown>,
}

/// Computes a question on the windows of all devices.
pub(super) fn computed(
    asked: &Asked<'_>,
    listed: &mut Listed,
    computer: &mut Computer<'_>,
    progress: OnProgress<'_>,
) -> Result<Done, OwnerError> {
    let Listed { devices, segments, ends, .. } = listed;
    fetch::within(asked, devices, (&segments.times, ends), computer)?;
    let total: u64 = devices.iter().map(|device| device.windows.len() as u64).sum();
    let mut done = Done::default();
    let (mut finished, mut not_carried) = (0, None);
    for device in devices {
        let mut tell = |now: u64, _: u64| {
            finished += now;
            progress(finished.min(total), total);
        };
        let work = DeviceWork { asked, groups: &segments.times, ends, device };
        let tallied = work.tallies(computer, &mut tell)?;
        let Computed { tallies, used, fetched, came_down } = tallied.computed;
        if !used.is_empty() {
            done.took_part.insert(device.shown.clone(), used.len() as u64);
        }
        done.used.extend(used);
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
    /// Returns a column for each device, or one for all devices together.
    pub(super) fn columns(self, listed: &Listed, grouping: Devices) -> Vec<Column> {
        let segments = &listed.segments;
        let columns = match grouping {
            Devices::Each => {
                let names = listed.devices.iter().map(|device| Some(device.shown.clone()));
                let column = |(device, tallies)| Column { device, tallies };
                names.zip(self.by_device).map(column).collect()
            }
            Devices::Across => {
                let mut all = vec![Tally::default(); segments.times.len()];
                for tallies in &self.by_device {
                    all.iter_mut().zip(tallies).for_each(|(all, tally)| all.merge(tally));
                }
                vec![Column { device: None, tallies: all }]
            }
        };
        let rows = |column: Column| Column { tallies: in_rows(segments, column.tallies), ..column };
        columns.into_iter().map(rows).collect()
    }
}

/// Adds the tallies of the times that a row is made of.
fn in_rows(segments: &Segments, tallies: Vec<Tally>) -> Vec<Tally> {
    if segments.is_whole() {
        return tallies;
    }
    let mut rows = vec![Tally::default(); segments.rows.len()];
    for (tally, row) in tallies.iter().zip(&segments.row_of) {
        if let Some(row) = row {
            rows[*row].merge(tally);
        }
    }
    rows
}

/// Returns the windows of a device that an answer counts, by stream, as runs of numbers.
pub(super) fn counted(
    device: &DeviceWindows,
    used: &HashMap<Digest, u64>,
) -> BTreeMap<String, Vec<(u64, u32)>> {
    let mut numbers: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for window in device.windows.iter().filter(|window| used.contains_key(&window.leaf)) {
        numbers.entry(&window.stream).or_default().push(window.sequence);
    }
    let runs = |(stream, mut numbers): (&str, Vec<u64>)| {
        numbers.sort_unstable();
        // A window of which parts are used comes once for each.
        numbers.dedup();
        (stream.to_owned(), windows::runs(numbers))
    };
    numbers.into_iter().map(runs).collect()
}
