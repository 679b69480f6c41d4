//! The windows of a question's devices, grouped by the clock.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Clock, LeftOut};

use super::able;
use super::answer::Complete;
use super::evidence::LogsThen;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::gathered::Need;
use crate::language::By;
use crate::orders::Orders;
use crate::question::Asked;
use crate::windows::{
    self, Between, DeviceWindows, Group, Grouping, Groups, Needed, Preceding, RowTime, Segments, StoredWindow,
};

/// Milliseconds before a time in which the readings before it are looked for first: 40 days.
const PRECEDING: i64 = 40 * 86_400_000;

/// The devices of a question with their windows, and the groups of the answer.
pub(super) struct Listed {
    pub(super) devices: Vec<DeviceWindows>,
    /// The rows of the answer, and the times that they are made of.
    pub(super) segments: Segments,
    /// Number of rows before the first one that is shown.
    pub(super) before: usize,
    /// The time of the first row that is shown before that of the question, if groups before it count.
    pub(super) gap: Option<Group>,
    /// Number of groups without windows that are left out.
    pub(super) hidden: u64,
    /// For each of these times, the end of the last tick with a reading of any device.
    pub(super) ends: Vec<i64>,
    /// The time of the question.
    pub(super) between: Between,
    /// The beginning of the first group, shown or not. Windows before it have the readings that others follow.
    pub(super) begins: Option<i64>,
    /// The instant of the last reading before windows were cut to it.
    pub(super) last: Option<i64>,
}

impl Listed {
    /// Returns the windows of a device, without those before the first group, which come first.
    pub(super) fn windows<'l>(&self, device: &'l DeviceWindows) -> &'l [StoredWindow] {
        let is_before = |window: &&StoredWindow| self.begins.is_some_and(|begins| window.to() <= begins);
        let before = device.windows.iter().take_while(is_before).count();
        &device.windows[before..]
    }
}

/// Lists the windows of a question's devices, and groups them by the clock. `runs` allows entries of several windows, if the
/// question takes them.
pub(super) fn listed(
    orders: &Orders<'_>,
    asked: &Asked<'_>,
    (as_of, runs): (Option<&LogsThen>, bool),
    clock: &Clock,
) -> Result<Listed, OwnerError> {
    let question = asked.question;
    let mut between = Between::of(question, clock)?;
    // Averages of groups need those before the first row, which are not shown.
    let fetched = |between: Between| between.with_groups_before(clock, question.by, asked.groups_before());
    let around = Between::around(&fetched(between));
    let mut devices = windows_of(orders, asked, around, (as_of, runs && takes_runs(asked)))?;
    let last = windows::last_reading(&question.channels(), devices.iter().flat_map(|device| &device.windows));
    between.back_from_newest(question, &devices, clock);
    let parts = fetched(between);
    // Without a beginning all windows are listed: those before the time, too.
    let preceding = around.since.is_none().then(|| Preceding::of(&parts, &devices, &followed(asked)));
    Between::keep(&parts, &mut devices);
    let gap = Between::gap(&parts);
    let all = || devices.iter().flat_map(|device| &device.windows);
    let too_many = || {
        OwnerError::Unanswerable(
            "the answer would have more than 100,000 groups: ask for a shorter time".to_owned(),
        )
    };
    let groups = windows::groups(clock, question.by, all(), between);
    let Groups { groups, hidden } = groups.ok_or_else(too_many)?;
    // Readings follow each other also where the ones before do not count.
    let follows = !followed(asked).is_empty();
    let mut segments = Segments::new(clock, question, groups, follows).ok_or_else(too_many)?;
    let listing = (orders, as_of, preceding);
    add_preceding(listing, (asked, clock), &parts, &mut devices, &mut segments)?;
    let is_before = |row: &&RowTime| between.since.is_some_and(|since| row.group.to <= since);
    let before = segments.rows.iter().take_while(is_before).count();
    let stored = devices.iter().flat_map(|device| &device.windows);
    let ends = windows::last_readings(&segments.times, Grouping::of(question), stored);
    let begins = parts.first().and_then(|part| part.since);
    Ok(Listed { devices, segments, before, gap, hidden, ends, between, begins, last })
}

/// Returns the channels whose readings follow each other in the calls of a question.
pub(super) fn followed(asked: &Asked<'_>) -> BTreeSet<String> {
    asked.needs().filter_map(|(_, need)| need.follows().cloned()).collect()
}

/// Adds the readings before these parts of a question's time from which increases and changes count: those given, or those of
/// windows that are listed for them.
pub(super) fn add_preceding(
    (orders, as_of, known): (&Orders<'_>, Option<&LogsThen>, Option<Preceding>),
    (asked, clock): (&Asked<'_>, &Clock),
    parts: &[Between],
    devices: &mut [DeviceWindows],
    segments: &mut Segments,
) -> Result<(), OwnerError> {
    let channels = followed(asked);
    let since = parts.first().zip(parts.last()).and_then(|(first, last)| first.since.zip(last.since));
    let Some((first, until)) = since.filter(|_| !channels.is_empty()) else { return Ok(()) };
    let is_empty = devices.iter().all(|device| device.windows.is_empty());
    if is_empty || Grouping::of(asked.question) != Grouping::Times {
        return Ok(());
    }
    let find = |since| {
        let listed = windows_of(orders, asked, Between { since, until: Some(until) }, (as_of, false))?;
        Ok::<_, OwnerError>(Preceding::of(parts, &listed, &channels))
    };
    let preceding = match known {
        Some(known) => known,
        // The last readings are near, but for devices that were silent.
        None => match find(Some(first.saturating_sub(PRECEDING)))? {
            near if near.is_complete(devices) => near,
            _ => find(None)?,
        },
    };
    preceding.add_to((clock, asked.question), parts, devices, segments);
    Ok(())
}

/// Returns true if the windows of a question that follow each other may be one entry of a list: it needs sums of them, or values
/// that each of them holds, whatever came before.
fn takes_runs(asked: &Asked<'_>) -> bool {
    let takes = |need: &Need| match need {
        Need::Moments { .. } | Need::Distribution { .. } => true,
        Need::Windows { .. } => need.follows().is_none(),
        Need::Pair(_)
        | Need::Weighted { .. }
        | Need::Readings { .. }
        | Need::Reals { .. }
        | Need::Decided(_) => false,
    };
    let question = asked.question;
    question.by != Some(By::Window)
        && question.tariffs().is_empty()
        && asked.needs().all(|(_, need)| takes(need))
}

/// Lists the windows of a question's devices between two times; with `runs` those that follow each other may be one entry.
pub(super) fn windows_of(
    orders: &Orders<'_>,
    asked: &Asked<'_>,
    between: Between,
    (as_of, runs): (Option<&LogsThen>, bool),
) -> Result<Vec<DeviceWindows>, OwnerError> {
    let (plant, question) = (orders.plant, asked.question);
    let records = able::devices_of(plant, question)?;
    let needed = Needed::of(question).in_runs(runs);
    let mut devices = Vec::with_capacity(records.len());
    for (name, record) in &records {
        let limited = as_of.map(|logs| needed.as_of(logs.get(name).cloned().unwrap_or_default()));
        let found = windows::list(orders, record, between, limited.as_ref().unwrap_or(&needed));
        let found = found.map_err(|error| shown(plant, error))?;
        if found.windows.is_empty() && found.aside == windows::Aside::default() {
            // The cloud may not know the device yet.
            tracing::debug!(device = name, "no windows");
        }
        devices.push(found);
    }
    able::can_answer(plant, question, &records)?;
    Ok(devices)
}

/// Returns the newest of each stream that has windows in the answer.
pub(super) fn complete(devices: &[DeviceWindows], clock: &Clock) -> Vec<Complete> {
    let mut all = Vec::new();
    for device in devices {
        let used: BTreeSet<&str> = device.windows.iter().map(|window| &*window.stream).collect();
        let newest = device.complete.iter().filter(|(stream, _)| used.contains(stream.as_str()));
        all.extend(newest.map(|(stream, (number, until))| Complete {
            device: device.shown.clone(),
            stream: stream.clone(),
            number: *number,
            until: clock.rfc3339(*until),
            gaps: device.aside.gaps() > 0,
        }));
    }
    all
}

/// Returns the readings that devices left out of a question's channels.
pub(super) fn left_out(listed: &Listed, needed: &BTreeSet<String>) -> BTreeMap<String, LeftOut> {
    let mut all: BTreeMap<String, LeftOut> = BTreeMap::new();
    let of_device = |device| windows::left_out(listed.windows(device));
    for (channel, counts) in listed.devices.iter().flat_map(of_device) {
        if needed.contains(&channel) {
            all.entry(channel).or_default().merge(&counts);
        }
    }
    all
}

/// Returns an error with the name that its device has in `sotto.toml`.
pub(super) fn shown(plant: &Plant, mut error: OwnerError) -> OwnerError {
    let device = match &mut error {
        OwnerError::CannotCarry { device } => Some(device),
        OwnerError::Lie(lie) => lie.device_mut(),
        _ => None,
    };
    if let Some(device) = device {
        *device = plant.shown_device(device).to_owned();
    }
    error
}
