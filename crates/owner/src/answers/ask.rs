//! Answering a question: list windows, group them by the clock, let the cloud sum them, decrypt the sums.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use sotto_api::reason::BODY_DROPPED;
use sotto_cloud_client::{Cloud, CloudError};
use sotto_pack::{Clock, LeftOut};
use sotto_wire::Digest;

use super::answer::{Answer, Complete, VERSION};
use super::cause::{self, Facts};
use super::evidence::LogsThen;
use super::rows::{Column, rows};
use super::{joint, notes};
use crate::declared::Plant;
use crate::declared::settings::Settings;
use crate::devices::DeviceRecord;
use crate::error::{FaultyWindow, OwnerError};
use crate::functions::Call;
use crate::gathered::Tally;
use crate::language::Devices;
use crate::lie::Lie;
use crate::question::{Asked, ExactScheme, Question};
use crate::streams::Kind;
use crate::windows::{Between, DeviceWindows, Group, Groups, Needed};
use crate::work::{Computed, Computer, DeviceWork, OnProgress};
use crate::{declared, devices, windows};

/// The devices of a question with their windows, and the groups of the answer.
struct Listed {
    devices: Vec<DeviceWindows>,
    groups: Vec<Group>,
    /// Number of groups without windows that are left out.
    hidden: u64,
    /// For each group, the end of the last tick with a reading of any device.
    ends: Vec<i64>,
    /// The time of the question.
    between: Between,
    /// The instant of the last reading before windows were cut to it.
    last: Option<i64>,
}

/// The results of all devices.
#[derive(Default)]
struct Done {
    /// The tallies of each device, in the order of the list.
    by_device: Vec<Vec<Tally>>,
    /// Bytes of the windows used, by leaf.
    used: HashMap<Digest, u64>,
    /// Number of windows used, by device.
    took_part: BTreeMap<String, u64>,
    /// Windows left out by the fault of their device, by device.
    faulty: BTreeMap<String, Vec<FaultyWindow>>,
}

/// Answers a question from the windows stored in the cloud.
///
/// `as_of` has the logs as they were when an earlier answer was given: later windows count for nothing.
pub(crate) fn ask(
    plant: &Plant,
    question: &Question,
    as_of: Option<&LogsThen>,
    progress: OnProgress<'_>,
) -> Result<Answer, OwnerError> {
    match ask_once(plant, question, as_of, progress) {
        // A window came in the place of its pieces meanwhile: the log has it now. A shared answer takes its results of the
        // flooding budget once.
        Err(OwnerError::Cloud(CloudError::Refused { kind, .. }))
            if as_of.is_none() && !question.shared && kind.ends_with(BODY_DROPPED) =>
        {
            ask_once(plant, question, as_of, progress)
        }
        // Another computer of the owner may have deleted it.
        Err(OwnerError::Lie(Lie::MissingWindow { .. })) if windows::learn_orders(plant, &plant.cloud()?)? => {
            ask_once(plant, question, as_of, progress)
        }
        answered => answered,
    }
}

fn ask_once(
    plant: &Plant,
    question: &Question,
    as_of: Option<&LogsThen>,
    progress: OnProgress<'_>,
) -> Result<Answer, OwnerError> {
    let begin = Instant::now();
    let (cloud, clock) = (plant.cloud()?, plant.settings().clock()?);
    let asked = Asked::new(question);
    let mut listed = listed(plant, question, as_of, &cloud, &clock)?;
    let known = cloud.devices().collect::<Result<Vec<_>, _>>()?;
    let twice = windows::mark_twice(plant, &known, listed.devices.iter_mut())?;
    let mut computer = Computer::new(plant, &cloud, question.shared)?;
    let mut done =
        computed(&asked, &mut listed, &mut computer, progress).map_err(|error| shown(plant, error))?;
    let needed = question.channels();
    let mut notes: Vec<String> = declared::not_pinned(plant).into_iter().collect();
    notes.extend(notes::on_windows(&listed.devices, question.scheme, notes::Lacks::of(&asked)));
    notes.extend(done.faulty.iter().map(|(device, windows)| notes::on_faulty(device, windows)));
    notes.extend(joint::on_partners_apart(&asked, &listed.devices));
    notes.extend(notes::on_hidden(&listed.groups, listed.hidden, question.by, &clock));
    notes.extend(notes::on_cut_ticks(&listed.groups, question.by, &listed.devices));
    notes.extend(notes::on_removed(plant, &clock, &done.took_part));
    notes.extend(notes::on_unknown(plant, &cloud, &known)?);
    notes.extend(twice.iter().map(|(_, note)| note.clone()));
    notes.extend(notes::on_undecided(&asked, done.by_device.iter()));
    let left_out = left_out(&listed.devices, &needed);
    let logs = listed.devices.iter().map(|device| (device.device.clone(), device.logs.clone())).collect();
    let (used, took_part) = (std::mem::take(&mut done.used), std::mem::take(&mut done.took_part));
    let faulty = done.faulty.iter().map(|(device, windows)| (device.clone(), windows.len() as u64)).collect();
    let columns = done.columns(&listed, question.grouping);
    let rows = rows(&asked, &listed.groups, &columns, plant.settings());
    let facts = Facts {
        question,
        devices: &listed.devices,
        between: listed.between,
        last: listed.last,
        clock: &clock,
        now: jiff::Timestamp::now().as_millisecond(),
    };
    let empty = cause::why(&rows, &facts);
    let Computer { spent, mut evidence, .. } = computer;
    let roots = |device: &DeviceWindows| {
        device.roots.iter().map(|(stream, root)| (stream.clone(), hex::encode(root))).collect()
    };
    evidence.roots = listed.devices.iter().map(|device| (device.device.clone(), roots(device))).collect();
    evidence.windows =
        listed.devices.iter().map(|device| (device.device.clone(), counted(device, &used))).collect();
    let repeated: BTreeSet<&String> = evidence.work.iter().flat_map(|work| &work.inputs).collect();
    let bytes = used.iter().filter(|(leaf, _)| !repeated.is_empty() && repeated.contains(&hex::encode(leaf)));
    let repeat_bytes = bytes.map(|(_, bytes)| bytes).sum();
    Ok(Answer {
        version: VERSION,
        question: question.to_string(),
        scheme: question.scheme,
        rows: rows.into_iter().map(|row| row.dated(&clock)).collect(),
        bytes_up: used.values().sum(),
        bytes_down: spent.bytes_down,
        seconds: begin.elapsed().as_secs_f64(),
        windows: used.len() as u64,
        jobs: spent.jobs,
        evaluate_us: spent.evaluate_us,
        steps: spent.steps,
        schemes: spent.schemes,
        took_part,
        faulty,
        unchecked: twice.into_iter().map(|(device, _)| device).collect(),
        holds_unchecked: false,
        repeat_bytes,
        flooded: spent.flooded,
        left_out,
        logs,
        complete: complete(&listed.devices, &clock),
        empty,
        notes,
        time_zone: clock.name().to_owned(),
        phases: spent.phases,
        repeated: None,
        evidence,
    })
}

/// Returns the windows of a device that an answer counts, by stream, as runs of numbers.
fn counted(device: &DeviceWindows, used: &HashMap<Digest, u64>) -> BTreeMap<String, Vec<(u64, u32)>> {
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

/// Returns the newest of each stream that has windows in the answer.
fn complete(devices: &[DeviceWindows], clock: &Clock) -> Vec<Complete> {
    let mut all = Vec::new();
    for device in devices {
        let used: BTreeSet<&str> = device.windows.iter().map(|window| window.stream.as_str()).collect();
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

/// Lists the windows of a question's devices, and groups them by the clock.
fn listed(
    plant: &Plant,
    question: &Question,
    as_of: Option<&LogsThen>,
    cloud: &Cloud,
    clock: &Clock,
) -> Result<Listed, OwnerError> {
    let records = devices_of(plant, question)?;
    let mut between = Between::of(question, clock)?;
    let needed = Needed::of(question);
    let mut devices = Vec::with_capacity(records.len());
    for (name, record) in &records {
        let limited = as_of.map(|logs| needed.as_of(logs.get(name).cloned().unwrap_or_default()));
        let found = windows::list(plant, cloud, record, between, limited.as_ref().unwrap_or(&needed));
        let found = found.map_err(|error| shown(plant, error))?;
        if found.windows.is_empty() && found.aside == windows::Aside::default() {
            // The cloud may not know the device yet.
            tracing::debug!(device = name, "no windows");
        }
        devices.push(found);
    }
    let last = windows::last_reading(&question.channels(), devices.iter().flat_map(|device| &device.windows));
    between.back_from_newest(question, &mut devices, clock);
    let all = || devices.iter().flat_map(|device| &device.windows);
    let Groups { groups, hidden } = windows::groups(clock, question.by, all(), between).ok_or_else(|| {
        OwnerError::Unanswerable(
            "the answer would have more than 100,000 groups: ask for a shorter time".to_owned(),
        )
    })?;
    can_answer(plant.settings(), question, &records)?;
    let ends = windows::last_readings(&groups, question.by, all());
    Ok(Listed { devices, groups, hidden, ends, between, last })
}

/// Computes a question on the windows of all devices.
fn computed(
    asked: &Asked<'_>,
    listed: &mut Listed,
    computer: &mut Computer<'_>,
    progress: OnProgress<'_>,
) -> Result<Done, OwnerError> {
    let Listed { devices, groups, ends, .. } = listed;
    let total: u64 = devices.iter().map(|device| device.windows.len() as u64).sum();
    let mut done = Done::default();
    let (mut finished, mut not_carried) = (0, None);
    for device in devices {
        let mut tell = |now: u64, _: u64| {
            finished += now;
            progress(finished.min(total), total);
        };
        let work = DeviceWork { asked, groups, ends, device };
        let tallied = work.tallies(computer, &mut tell)?;
        let Computed { tallies, used, fetched } = tallied.computed;
        if !used.is_empty() {
            done.took_part.insert(device.shown.clone(), used.len() as u64);
        }
        done.used.extend(used);
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

/// Returns an error with the name that its device has in `sotto.toml`.
fn shown(plant: &Plant, mut error: OwnerError) -> OwnerError {
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

impl Done {
    /// Returns a column for each device, or one for all devices together.
    fn columns(self, listed: &Listed, grouping: Devices) -> Vec<Column> {
        match grouping {
            Devices::Each => {
                let names = listed.devices.iter().map(|device| Some(device.shown.clone()));
                let column = |(device, tallies)| Column { device, tallies };
                names.zip(self.by_device).map(column).collect()
            }
            Devices::Across => {
                let mut all = vec![Tally::default(); listed.groups.len()];
                for tallies in &self.by_device {
                    all.iter_mut().zip(tallies).for_each(|(all, tally)| all.merge(tally));
                }
                vec![Column { device: None, tallies: all }]
            }
        }
    }
}

/// Returns the readings that devices left out of a question's channels.
fn left_out(devices: &[DeviceWindows], needed: &BTreeSet<String>) -> BTreeMap<String, LeftOut> {
    let mut all: BTreeMap<String, LeftOut> = BTreeMap::new();
    for (channel, counts) in devices.iter().flat_map(|device| windows::left_out(&device.windows)) {
        if needed.contains(&channel) {
            all.entry(channel).or_default().merge(&counts);
        }
    }
    all
}

/// Returns true if a bundle of the device sends the stream that a call needs, under the scheme that the question states.
fn sends(settings: &Settings, record: &DeviceRecord, question: &Question, call: &Call) -> bool {
    let kind = Kind::of(&call.needs());
    let scheme = question.scheme.filter(|_| kind == Kind::Exact);
    record.bundles.iter().flat_map(|bundle| &bundle.streams).any(|stream| {
        let has = |name: &&str| {
            stream.channels.iter().any(|channel| settings.shown_channel(&channel.name) == *name)
        };
        let stated = |scheme: ExactScheme| {
            devices::spec_of(stream).is_ok_and(|spec| spec.is_some_and(|spec| spec.scheme == scheme.id()))
        };
        Kind::of_profile(stream) == Some(kind) && call.channels().iter().all(has) && scheme.is_none_or(stated)
    })
}

fn unsent(question: &Question, call: &Call, device: &str) -> String {
    match question.scheme.filter(|_| Kind::of(&call.needs()) == Kind::Exact) {
        Some(scheme) => format!(
            "{call}: no device sends its readings under {scheme}, which the question states (scheme = \"{}\"). Declare it so with `sotto question add NAME '…' --scheme {}`, and give a device a new bundle with `sotto device renew {device}`; or ask without a scheme",
            scheme.word(),
            scheme.word()
        ),
        None => format!(
            "{call}: no device sends the stream that it needs. Declare the question with `sotto question add NAME '…'`, and give a device a new bundle with `sotto device renew {device}`"
        ),
    }
}

/// Refuses a question with a call that no device can answer.
fn can_answer(
    settings: &Settings,
    question: &Question,
    devices: &BTreeMap<String, DeviceRecord>,
) -> Result<(), OwnerError> {
    for call in question.calls() {
        if !devices.values().any(|record| sends(settings, record, question, call)) {
            let device = devices.keys().next().map_or("NAME", String::as_str);
            return Err(OwnerError::Unanswerable(unsent(question, call, device)));
        }
    }
    Ok(())
}

/// Returns the devices that send a channel of the question.
fn devices_of(plant: &Plant, question: &Question) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
    let mut devices = devices::with_removed(plant)?;
    let mut named = question.only.iter().flatten();
    if let Some(device) = named.find(|name| !devices.contains_key(*name)) {
        return Err(OwnerError::NotEnrolled(format!(
            "device {device} is not enrolled yet: enrol it with `sotto device add {device}`"
        )));
    }
    devices.retain(|name, record| {
        let named = question.only.as_ref().is_none_or(|only| only.contains(name));
        named && question.calls().any(|call| sends(plant.settings(), record, question, call))
    });
    if devices.is_empty() {
        return Err(nobody_sends(plant, question)?);
    }
    Ok(devices)
}

/// Explains why no device answers a question: none measures its channels, or none sends the required stream.
fn nobody_sends(plant: &Plant, question: &Question) -> Result<OwnerError, OwnerError> {
    let channels = question.channels();
    let enrolled = devices::enrolled(plant)?;
    let measures = |(name, _): &(&String, &DeviceRecord)| {
        let device = plant.settings().devices.get(*name);
        device.is_some_and(|device| device.channels.iter().any(|channel| channels.contains(channel)))
    };
    let Some((device, _)) = enrolled.iter().find(measures) else {
        let channels: Vec<String> = channels.into_iter().collect();
        return Ok(OwnerError::NotEnrolled(format!(
            "no device was enrolled that measures {}: add one with `sotto device add NAME --channels {}`",
            channels.join(" or "),
            channels.join(",")
        )));
    };
    let unsent = question.calls().next().map(|call| unsent(question, call, device));
    Ok(OwnerError::Unanswerable(unsent.unwrap_or_default()))
}
