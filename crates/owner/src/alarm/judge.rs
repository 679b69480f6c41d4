//! One alarm about one device: its new windows, and their verdicts.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::Channel;

use super::files::DeviceState;
use super::judged_streams::JudgedStreams;
use super::seen::{Seen, Verdict};
use crate::answers::{Row, by_window, on_faulty};
use crate::declared::{Declared, OnLimit, Plant};
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;
use crate::gathered::Channels as _;
use crate::language::QuestionError;
use crate::windows::{DeviceWindows, Group, StoredWindow, moment, unit_is};
use crate::work::Computer;

/// Returns the enrolled devices that an alarm is about: those that measure all its channels.
pub(crate) fn alarm_devices(plant: &Plant, declared: &Declared) -> Result<Vec<String>, OwnerError> {
    let mut devices = devices::enrolled(plant)?;
    devices.retain(|name, _| is_about(plant, declared, name));
    Ok(devices.into_keys().collect())
}

/// Returns true if an alarm is about a declared device, enrolled or not.
pub(super) fn is_about(plant: &Plant, declared: &Declared, device: &str) -> bool {
    let named = declared.only().is_none_or(|only| only.iter().any(|name| name == device));
    let measured = plant.settings().devices.get(device);
    let channels = declared.channels();
    named && measured.is_some_and(|device| channels.iter().all(|name| device.channels.contains(name)))
}

/// Returns the time from which an alarm looks: windows that are over by then are none of its.
pub(crate) fn alarm_since(plant: &Plant, declared: &Declared) -> Result<i64, OwnerError> {
    let Some(since) = &declared.settings.since else { return Ok(i64::MIN) };
    let clock = plant.settings().clock()?;
    let when = since.parse().map_err(|error: QuestionError| OwnerError::Question(error.to_string()))?;
    moment(&when, &clock)
}

/// Largest number of windows of a device that a round takes for an alarm; the others follow in the next rounds.
const MOST: usize = 20_000;

/// A device's windows that an alarm looks at.
pub(super) struct OfAlarm<'w> {
    /// Those with the units of `sotto.toml`.
    pub(super) windows: Vec<&'w StoredWindow>,
    /// The reason why the alarm does not see the newest readings.
    pub(super) unseen: Option<String>,
}

/// Returns a device's windows that an alarm looks at.
pub(super) fn of_alarm<'w>(
    plant: &Plant,
    on: &OnLimit,
    since: i64,
    record: &DeviceRecord,
    listed: &'w DeviceWindows,
) -> OfAlarm<'w> {
    let (channels, streams) = (on.question.channels(), JudgedStreams::of(plant, on, record));
    let is_of = |window: &&StoredWindow| {
        let has_all = channels.iter().all(|name| window.channel(name).is_some());
        window.group().to > since && streams.has(window) && has_all
    };
    let all = || listed.windows.iter().filter(is_of);
    let other_unit = |window: &&StoredWindow| {
        let own = window.layout().channels().iter().filter(|channel| channels.contains(&channel.name));
        own.into_iter().find(|channel| !unit_is(plant, channel)).cloned()
    };
    let newest = all().max_by_key(|window| window.to()).and_then(|window| other_unit(&window));
    let unseen = streams.latest_has_none().then(|| apart(&listed.shown, &channels));
    let unseen = unseen.or_else(|| newest.map(|channel| of_other_unit(plant, &listed.shown, &channel)));
    OfAlarm { windows: all().filter(|window| other_unit(window).is_none()).collect(), unseen }
}

fn apart(device: &str, channels: &BTreeSet<String>) -> String {
    let names = channels.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    format!(
        "no stream of the latest bundle of {device} has {names}, so that no window can be judged: `sotto device renew {device}` makes a \
         bundle for the alarm"
    )
}

fn of_other_unit(plant: &Plant, device: &str, channel: &Channel) -> String {
    let (name, before) = (&channel.name, &channel.unit);
    let now = plant.settings().unit(name);
    format!(
        "the newest window of {device} has {name} in the unit \"{before}\", and sotto.toml says \"{now}\": write unit = \"{before}\" again, \
         or make a bundle for the new unit with `sotto device renew {device}`"
    )
}

/// Returns the windows that an alarm has not asked for yet, and those of the same time: late readings, and pieces of a window
/// that is still open, come in windows of their own. The number beside them is that of late windows for a time of which the
/// alarm keeps nothing: they are put aside. Depends on which windows arrived, never on an answer.
pub(super) fn new_windows(
    all: Vec<&StoredWindow>,
    since: i64,
    listed: &DeviceWindows,
    state: &mut DeviceState,
) -> (DeviceWindows, u64) {
    let looks_from = state.machine.looks_from();
    let from = looks_from.unwrap_or(i64::MIN);
    let numbers = all.iter().map(|window| (&*window.stream, window.sequence, window.group().from));
    let late = state.forgotten.take(numbers, looks_from);
    let is_wanted = |window: &&StoredWindow| window.group().from >= from && window.group().to > since;
    let wanted: Vec<&StoredWindow> = all.into_iter().filter(is_wanted).collect();
    let there: BTreeSet<String> = wanted.iter().map(|window| window.name()).collect();
    state.asked.retain(|name| there.contains(name));
    let is_new = |window: &&&StoredWindow| !state.asked.contains(&window.name());
    let times: BTreeSet<Group> =
        wanted.iter().filter(is_new).take(MOST).map(|window| window.group()).collect();
    let new = wanted.into_iter().filter(|window| times.contains(&window.group()));
    let new = DeviceWindows {
        device: listed.device.clone(),
        shown: listed.shown.clone(),
        windows: new.cloned().collect(),
        specs: listed.specs.clone(),
        has_secret: listed.has_secret,
        twice: listed.twice.clone(),
        aside: listed.aside,
        received: listed.received,
        unordered: BTreeMap::new(),
        elsewhere: None,
        first_reading: listed.first_reading,
        forgotten: 0,
        other_unit: None,
        undeclared: BTreeMap::new(),
        logs: BTreeMap::new(),
        roots: BTreeMap::new(),
        complete: BTreeMap::new(),
    };
    (new, late)
}

/// The verdicts on new windows.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) seen: Vec<Seen>,
    /// Number of windows that were encrypted for other questions and cannot be evaluated.
    pub(super) not_carried: usize,
    /// Number of windows whose readings were fetched, as they carry no suitable counts.
    pub(super) fetched: u64,
    /// The windows that their device's fault leaves undecided, in words.
    pub(super) faulty: Option<String>,
    /// Windows that are missing between others, if the alarm is on coverage.
    pub(super) missing: Vec<Seen>,
}

/// Evaluates an alarm on windows of one device.
pub(super) fn judge(
    plant: &Plant,
    on: &OnLimit,
    device: &DeviceWindows,
    computer: &mut Computer<'_>,
) -> Result<Judged, OwnerError> {
    let found = by_window(plant, &on.question, device, computer)?;
    let twice = |window: &StoredWindow| window.stream_of_sums().is_some_and(|stream| device.is_twice(stream));
    let used_twice = device.windows.iter().any(twice).then(|| {
        let name = &device.shown;
        format!("{name} encrypted two windows under one pad number, so its sums prove nothing: `sotto device renew {name}` gives it new keys")
    });
    let faulty = (!found.faulty.is_empty()).then(|| on_faulty(&device.shown, &found.faulty)).or(used_twice);
    let (not_carried, fetched) = (found.not_carried, found.fetched);
    let mut judged = Judged { not_carried, fetched, faulty, ..Judged::default() };
    let open: BTreeSet<Group> =
        device.windows.iter().filter(|window| window.is_provisional()).map(StoredWindow::group).collect();
    for (window, rows) in &found.windows {
        judged.seen.push(match rows {
            Some(rows) if !twice(window) && open.contains(&window.group()) => seen(on, window, rows).so_far(),
            Some(rows) if !twice(window) => seen(on, window, rows),
            _ => undecided(window),
        });
    }
    judged.seen = one_a_time(judged.seen);
    Ok(judged)
}

/// Several windows of one time have one result. If one of them is undecided, the others may raise the alarm, and end none.
fn one_a_time(mut all: Vec<Seen>) -> Vec<Seen> {
    let is_open = |seen: &Seen| seen.value.is_none();
    all.sort_by_key(|seen| (seen.from, seen.to, is_open(seen)));
    let mut ones: Vec<Seen> = Vec::with_capacity(all.len());
    for seen in all {
        match ones.last_mut().filter(|last| (last.from, last.to) == (seen.from, seen.to)) {
            Some(last) if is_open(&seen) && !is_open(last) => *last = last.clone().so_far(),
            Some(_) => {}
            None => ones.push(seen),
        }
    }
    ones
}

fn seen(on: &OnLimit, window: &StoredWindow, rows: &[Row]) -> Seen {
    let (first, second) = (rows.first(), rows.get(1).or(rows.first()));
    let verdict = |row: Option<&Row>, limit: f64| {
        let value = row.and_then(|row| Some((row.value?, row.bound?)));
        let of = |(value, bound)| Verdict::of(&on.alarm.probe(limit), value, bound);
        value.map_or(Verdict::Undecided, of)
    };
    let Group { from, to } = window.group();
    Seen {
        from,
        to,
        readings: rows.iter().map(|row| row.count).max().unwrap_or_default(),
        over: verdict(first, on.alarm.limit),
        near: verdict(second, on.clear),
        value: first.and_then(|row| row.value),
        bound: first.and_then(|row| row.bound),
        partial: false,
    }
}

/// Returns a time without a window, in milliseconds since 1970.
pub(super) fn nothing(at: i64) -> Seen {
    let (over, near) = (Verdict::Undecided, Verdict::Undecided);
    Seen { from: at, to: at, readings: 0, over, near, value: None, bound: None, partial: false }
}

/// Returns a window that was asked for and has no value.
pub(super) fn undecided(window: &StoredWindow) -> Seen {
    let Group { from, to } = window.group();
    Seen {
        from,
        to,
        readings: window.description.readings(),
        over: Verdict::Undecided,
        near: Verdict::Undecided,
        value: None,
        bound: None,
        partial: false,
    }
}

#[cfg(test)]
mod tests;
