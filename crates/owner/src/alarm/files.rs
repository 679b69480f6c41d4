//! The files of alarms: `alarms/state/NAME.json`, `alarms/alarms.jsonl`, all with mode 0600. Commands have `alarms/mutes/NAME.json`
//! of their own, as the process that watches writes the states.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::forgotten::Forgotten;
use super::lasting::Lasting;
use super::machine::AlarmState;
use super::silence::Silences;
use crate::declared::{Declared, Plant, Watched};
use crate::error::{OwnerError, io};
use crate::files::{self, make_folder, pretty, random, read_json, remove_if_there, write_private};

/// The folder of alarms in the plant's folder.
pub(super) const FOLDER: &str = "alarms";

const STATE: &str = "state";

const JOURNAL: &str = "alarms.jsonl";

/// Bytes of the journal's end that are searched for an event.
const SEARCHED: u64 = 1 << 20;

/// Deletes the partial files of a process that was killed. The caller holds the lock of the alarms.
pub(super) fn remove_left_over(plant: &Plant) -> Result<(), OwnerError> {
    let folder = plant.path(FOLDER);
    files::remove_left_over(&folder)?;
    files::remove_left_over(&folder.join(STATE))
}

/// The state of an alarm about one device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DeviceState {
    pub(super) machine: AlarmState,
    /// Recent windows that were asked for, whatever the answer was: their leaves, in hexadecimal.
    pub(super) asked: BTreeSet<String>,
    /// The reason why windows could not be evaluated in the last round.
    #[serde(default)]
    pub(super) failing: Option<String>,
    /// True if the reason is that nothing could be asked for: another one stays until windows are evaluated.
    #[serde(default)]
    pub(super) unasked: bool,
    /// Number of windows that were missing in the last round; None before the first.
    #[serde(default)]
    pub(super) gaps: Option<u64>,
    /// Number of events of failures, which their names carry.
    #[serde(default)]
    pub(super) failures: u32,
    /// Number of rounds in a row in which the cloud could not be reached.
    #[serde(default)]
    pub(super) away: u32,
    /// Late windows for a time of which nothing is kept any more.
    #[serde(default)]
    pub(super) forgotten: Forgotten,
    /// The times without readings, if the alarm is on them.
    #[serde(default)]
    pub(super) silences: Silences,
    /// Reminders of an alarm that lasts; None in states of earlier versions.
    #[serde(default)]
    pub(super) lasting: Option<Lasting>,
}

impl DeviceState {
    /// Returns the start of the window or of the silence that raised the alarm; None while it is quiet.
    pub(super) fn raised(&self, declared: &Declared) -> Option<i64> {
        match &declared.watched {
            Watched::Limit(of) => self.machine.raised_since(of.rule()),
            Watched::Silence(_) => self.silences.lasts_since,
        }
    }
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

fn alarm_file(plant: &Plant, name: &str) -> PathBuf {
    plant.path(FOLDER).join(STATE).join(format!("{name}.json"))
}

pub(super) fn make_alarm_folders(plant: &Plant) -> Result<(), OwnerError> {
    make_folder(&plant.path(FOLDER), true)?;
    make_folder(&plant.path(FOLDER).join(STATE), true)
}

/// Returns the definition that an alarm's state, mutes and acknowledgements belong to: another alarm of its name has none of them.
pub(super) fn definition(declared: &Declared) -> String {
    let clear = match &declared.watched {
        Watched::Limit(of) => of.clear,
        Watched::Silence(_) => 0.0,
    };
    let text = declared.to_string();
    let definition =
        serde_json::to_string(&(text, clear, declared.settings.clear_after, &declared.settings.since));
    definition.unwrap_or_default()
}

/// Returns the stored state of an alarm; a new one if there is none, or if it is of another definition.
pub(super) fn stored_alarm(plant: &Plant, name: &str, declared: &Declared) -> Result<Stored, OwnerError> {
    let definition = definition(declared);
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

pub(super) fn store_alarm(plant: &Plant, name: &str, stored: &Stored) -> Result<(), OwnerError> {
    write_private(&alarm_file(plant, name), &pretty(stored)?)
}

/// Removes the state of an alarm.
pub(super) fn remove_state(plant: &Plant, name: &str) -> Result<(), OwnerError> {
    remove_if_there(&alarm_file(plant, name))
}

/// Appends an event to the journal, if it is not there.
pub(super) fn journal(plant: &Plant, event: &Event) -> Result<(), OwnerError> {
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
pub(super) fn journal_end(plant: &Plant) -> Result<Vec<Event>, OwnerError> {
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
