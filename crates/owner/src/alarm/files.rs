//! The files of alarms: `alarms/state/NAME.json`, `alarms/alarms.jsonl`, all with mode 0600.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::machine::Machine;
use super::round;
use super::round::what;
use crate::declared;
use crate::declared::{Declared, Plant, edit};
use crate::error::{OwnerError, io};
use crate::files::{make_folder, pretty, random, read_json, remove_if_there, write_private};

/// The folder of alarms in the plant's folder.
pub(super) const FOLDER: &str = "alarms";

const STATE: &str = "state";

const JOURNAL: &str = "alarms.jsonl";

/// Bytes of the journal's end that are searched for an event.
const SEARCHED: u64 = 1 << 20;

/// The state of an alarm about one device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DeviceState {
    pub(super) machine: Machine,
    /// Ids of recent windows that were asked for, whatever the answer was.
    pub(super) asked: BTreeSet<String>,
    /// The reason why windows could not be evaluated in the last round.
    #[serde(default)]
    pub(super) failing: Option<String>,
}

/// The stored state of an alarm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    version: u32,
    /// The definition that the states follow from; another one starts anew.
    definition: String,
    /// Random digits in the names of events, so that a new alarm of the same name has other ones.
    pub(super) tag: String,
    pub(super) devices: BTreeMap<String, DeviceState>,
    /// Events that are not in the journal and the outbox yet.
    pub(super) unposted: Vec<Event>,
}

/// The state of an alarm, for people.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let (unit, range, every) = ("°C".into(), "-20..120".parse()?, "5m".parse()?);
/// # let boiler = sotto_owner::edit::NewChannel { unit, range, resolution: 0.1, every, comparable: false };
/// # plant.edit(|settings| sotto_owner::edit::add_channel(settings, "boiler", &boiler))?;
/// # let hot = sotto_owner::alarm::AlarmSettings::new("boiler > 80");
/// # plant.edit(|settings| sotto_owner::edit::add_alarm(settings, "hot", &hot))?;
/// use sotto_owner::alarm::{AlarmStatus, DeviceAlarm};
///
/// let status: AlarmStatus = plant.alarm_status("hot")?; // `plant` has an alarm hot, and no device yet
/// let devices: &[DeviceAlarm] = &status.devices;
/// assert!(devices.is_empty() && status.events.is_empty());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct AlarmStatus {
    /// The alarm.
    pub alarm: String,
    /// The condition.
    pub when: String,
    /// The alarm's devices.
    pub devices: Vec<DeviceAlarm>,
    /// The last events, oldest first.
    pub events: Vec<Event>,
}

/// The state of an alarm about one device, for people.
///
/// Example: [`AlarmStatus`]
#[derive(Clone, Debug, Serialize)]
pub struct DeviceAlarm {
    /// The device.
    pub device: String,
    /// Start of the window that raised the alarm, as RFC 3339; None while it is quiet.
    pub raised_since: Option<String>,
    /// Number of consecutive windows that count towards the next change.
    pub run: u32,
    /// Number of windows needed for it.
    pub needed: u32,
    /// End of the last window that was evaluated.
    pub last: Option<String>,
    /// The last value in words.
    pub value: Option<String>,
    /// The reason why windows could not be evaluated in the last round.
    pub failing: Option<String>,
}

pub(crate) fn alarm_file(plant: &Plant, name: &str) -> PathBuf {
    plant.path(FOLDER).join(STATE).join(format!("{name}.json"))
}

pub(crate) fn make_alarm_folders(plant: &Plant) -> Result<(), OwnerError> {
    make_folder(&plant.path(FOLDER), true)?;
    make_folder(&plant.path(FOLDER).join(STATE), true)
}

/// Returns the stored state of an alarm; a new one if there is none, or if it is of another definition.
pub(crate) fn stored_alarm(plant: &Plant, name: &str, declared: &Declared) -> Result<Stored, OwnerError> {
    let definition = serde_json::to_string(&(
        declared.alarm.to_string(),
        declared.clear(),
        declared.settings.clear_after,
        &declared.settings.since,
    ));
    let definition = definition.unwrap_or_default();
    let path = alarm_file(plant, name);
    let known: Option<Stored> = if path.exists() { Some(read_json(&path)?) } else { None };
    match known {
        Some(known) if known.definition == definition => Ok(known),
        other => Ok(Stored {
            version: 1,
            definition,
            tag: hex::encode(random::<4>()?),
            devices: BTreeMap::new(),
            unposted: other.map(|other| other.unposted).unwrap_or_default(),
        }),
    }
}

pub(crate) fn store_alarm(plant: &Plant, name: &str, stored: &Stored) -> Result<(), OwnerError> {
    write_private(&alarm_file(plant, name), &pretty(stored)?)
}

/// Removes an alarm from `sotto.toml`, its state, and its events that wait for a sink.
pub(crate) fn remove_alarm(plant: &mut Plant, name: &str) -> Result<(), OwnerError> {
    plant.edit(|document| edit::remove_alarm(document, name))?;
    remove_if_there(&alarm_file(plant, name))
}

/// Appends an event to the journal, if it is not there.
pub(crate) fn journal(plant: &Plant, event: &Event) -> Result<(), OwnerError> {
    if journal_end(plant)?.iter().any(|known| known.id == event.id) {
        return Ok(());
    }
    let path = plant.path(FOLDER).join(JOURNAL);
    let line = serde_json::to_string(event)
        .map_err(|error| OwnerError::Damaged { path: path.clone(), reason: error.to_string() })?;
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = || {
        let mut file = options.open(&path)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_all()
    };
    written().map_err(io(&path))
}

/// Returns the events at the end of the journal, oldest first.
fn journal_end(plant: &Plant) -> Result<Vec<Event>, OwnerError> {
    let path = plant.path(FOLDER).join(JOURNAL);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let read = || {
        let mut file = File::open(&path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SEARCHED)))?;
        let mut bytes = Vec::new();
        file.take(SEARCHED).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text: String = read().map_err(io(&path))?;
    // The first line may be cut, the last one half written.
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Returns the state of an alarm about each of its devices, and its last 10 events.
pub(crate) fn alarm_status(plant: &Plant, name: &str) -> Result<AlarmStatus, OwnerError> {
    let declared = declared::alarm(plant, name)?;
    let (clock, rule) = (plant.settings().clock()?, declared.rule());
    let mut devices = Vec::new();
    let stored = stored_alarm(plant, name, &declared)?;
    for device in round::alarm_devices(plant, &declared)? {
        let state = stored.devices.get(&device).cloned().unwrap_or_default();
        let raised = state.machine.raised_since(rule);
        let last = state.machine.last();
        devices.push(DeviceAlarm {
            raised_since: raised.map(|at| clock.rfc3339(at)),
            run: state.machine.run(rule),
            needed: if raised.is_some() { rule.clear_after } else { rule.windows },
            last: last.map(|seen| clock.rfc3339(seen.to)),
            value: last.map(|seen| what(&declared, plant, seen, declared.alarm.limit)),
            failing: state.failing,
            device,
        });
    }
    let mut events = journal_end(plant)?;
    events.retain(|event| event.alarm == name);
    let old = events.len().saturating_sub(10);
    Ok(AlarmStatus {
        alarm: name.to_owned(),
        when: declared.alarm.to_string(),
        devices,
        events: events.split_off(old),
    })
}
