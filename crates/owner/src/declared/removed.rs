//! Devices that are in the folder and no longer in `sotto.toml`. Their readings stay in answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::files::read_json;

/// The removal of a device, in its record.
///
/// Example: [`Enrolment`](crate::Enrolment)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// The device's name then.
    pub name: String,
    /// The time, in milliseconds since 1970.
    pub at: i64,
}

/// A device with a record and without a table in `sotto.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemovedDevice {
    /// Its name in the cloud and in the folder's files.
    pub(crate) wire: String,
    /// The time of its removal, in milliseconds since 1970. None: it was taken out of `sotto.toml` by hand.
    pub(crate) at: Option<i64>,
}

/// The part of a record that tells of the removal.
#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    removed: Option<Removal>,
}

/// Returns the devices with records in `folder` that the settings do not declare, by their last names.
pub(super) fn removed(folder: &Path, settings: &Settings) -> BTreeMap<String, RemovedDevice> {
    let mut removed = BTreeMap::new();
    // A folder that cannot be read is an error of the work that needs it.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let Some(wire) = file.to_str().and_then(|file| file.strip_suffix(".json")) else { continue };
        let is_declared = settings.devices.keys().any(|name| settings.wire_device(name) == wire);
        if is_declared || !sotto_program::is_name(wire) {
            continue;
        }
        let removal = read_json::<Record>(&entry.path()).ok().and_then(|record| record.removed);
        let at = removal.as_ref().map(|removal| removal.at);
        let last = removal.map(|removal| removal.name).filter(|name| !settings.devices.contains_key(name));
        let device = RemovedDevice { wire: wire.to_owned(), at };
        removed.insert(last.unwrap_or_else(|| wire.to_owned()), device);
    }
    removed
}
