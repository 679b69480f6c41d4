//! The public part of devices: verifying keys and streams.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_pack::StreamProfile;
use sotto_rlwe::ParameterSpec;

use crate::declared::{Plant, Removal};
use crate::error::{OwnerError, io};
use crate::files::{pretty, read_json, write_whole};

/// The public part of a device, stored in `devices/NAME.json`.
///
/// Example: [`Enrolment`](crate::Enrolment)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceRecord {
    /// The version of this format: 1.
    pub version: u32,
    /// The device's name in bundles and in the cloud: its first one.
    pub device: String,
    /// The Ed25519 key that verifies its messages, in hexadecimal.
    pub verifying_key: String,
    /// The streams of every bundle made for it, the latest last.
    pub bundles: Vec<BundleRecord>,
    /// Its removal from `sotto.toml`. None while it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<Removal>,
    /// Number of writes of its registration in the cloud that this folder knows of; 0 if it knows of none. The next write
    /// is conditional on it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub generation: u64,
    /// True if the cloud does not know all of the bundles yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unregistered: bool,
    /// True if it came back from a bundle or a registration in the folder: bundles may have been made that it does not know.
    #[serde(default, skip_serializing_if = "is_false")]
    pub came_back: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl DeviceRecord {
    /// Returns true if this record has all bundles of the other one.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        self.verifying_key == other.verifying_key && other.bundles.iter().all(|bundle| self.knows(bundle))
    }

    /// Returns true if this record has the bundle.
    pub(crate) fn knows(&self, bundle: &BundleRecord) -> bool {
        self.bundles.iter().any(|other| other.is_same(bundle))
    }

    /// Returns true if a stream of the bundle has the name of a stream of the record.
    fn begins_again(&self, bundle: &BundleRecord) -> bool {
        let names = self.streams();
        bundle.streams.iter().any(|stream| names.contains(stream.stream.as_str()))
    }

    /// Adds the bundles of another copy that this one lacks, but for those whose streams have the names of its own.
    pub(super) fn merge(&mut self, others: &[BundleRecord]) -> Merged {
        let mut merged = Merged::default();
        for (number, bundle) in (1..).zip(others) {
            if self.knows(bundle) {
                continue;
            }
            if self.begins_again(bundle) {
                merged.left_out.push(number);
            } else {
                merged.added.push(number);
                self.bundles.push(bundle.clone());
            }
        }
        self.bundles.sort_by_key(|bundle| bundle.made_at);
        merged
    }

    /// Returns true if the names are such as devices and streams have: none leads out of a folder.
    pub(super) fn has_names(&self) -> bool {
        let streams = self.bundles.iter().flat_map(|bundle| &bundle.streams);
        sotto_program::is_name(&self.device)
            && streams.map(|s| &s.stream).all(|name| sotto_program::is_name(name))
    }

    /// Returns the names of the streams of all bundles, without repetition.
    pub(crate) fn streams(&self) -> std::collections::BTreeSet<&str> {
        self.bundles.iter().flat_map(|bundle| &bundle.streams).map(|stream| stream.stream.as_str()).collect()
    }
}

/// Bundles of another copy of a record, by their numbers in it, from 1.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) added: Vec<usize>,
    /// Those whose streams have the names of others.
    pub(super) left_out: Vec<usize>,
}

/// The record of a bundle.
///
/// Example: [`Enrolment`](crate::Enrolment)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleRecord {
    /// Time of its making, in milliseconds since 1970.
    pub made_at: i64,
    /// The streams that the device sends.
    pub streams: Vec<StreamProfile>,
}

impl BundleRecord {
    /// Returns true for the same bundle: made at the same time, with streams of the same names and parameters. Ranges are
    /// not compared: numbers of JSON may change in their last bit when they are read and written.
    fn is_same(&self, other: &Self) -> bool {
        let named = |one: &StreamProfile, other: &StreamProfile| {
            (&one.stream, &one.parameters, &one.sums) == (&other.stream, &other.parameters, &other.sums)
        };
        self.made_at == other.made_at
            && self.streams.len() == other.streams.len()
            && self.streams.iter().zip(&other.streams).all(|(one, other)| named(one, other))
    }
}

/// Returns the public part of a device; None if it is not enrolled.
pub(crate) fn record(plant: &Plant, name: &str) -> Result<Option<DeviceRecord>, OwnerError> {
    let path = record_path(plant, name);
    if !path.exists() {
        return Ok(None);
    }
    let read = read_json(&path).and_then(|record: DeviceRecord| {
        let reason = "a device or a stream has a name that none can have".to_owned();
        if record.has_names() { Ok(record) } else { Err(OwnerError::Damaged { path: path.clone(), reason }) }
    });
    read.map(Some).map_err(|error| match error {
        OwnerError::Damaged { path, reason } => {
            OwnerError::DamagedRecord { device: plant.wire_device(name).to_owned(), path, reason }
        }
        other => other,
    })
}

/// Returns all enrolled devices, by name.
pub(crate) fn enrolled(plant: &Plant) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
    let named = |name: &String| Ok(record(plant, name)?.map(|record| (name.clone(), record)));
    plant.settings().devices.keys().filter_map(|name| named(name).transpose()).collect()
}

/// Returns all enrolled devices and those that were removed from `sotto.toml`, by name.
pub(crate) fn with_removed(plant: &Plant) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
    let mut records = enrolled(plant)?;
    for name in plant.removed().keys() {
        records.extend(record(plant, name)?.map(|record| (name.clone(), record)));
    }
    Ok(records)
}

/// Returns all stored records, including those of devices that are no longer in `sotto.toml`.
pub(crate) fn all_records(plant: &Plant) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
    let folder = plant.path("devices");
    let mut records = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).map_err(io(&folder))? {
        let name = entry.map_err(io(&folder))?.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
        if let Some(record) = record(plant, name)? {
            records.insert(name.to_owned(), record);
        }
    }
    Ok(records)
}

/// Notes in a device's record, if there is one, that it is removed from `sotto.toml` now.
pub(crate) fn note_removal(plant: &Plant, name: &str) -> Result<(), OwnerError> {
    let at = jiff::Timestamp::now().as_millisecond();
    change(plant, name, |record| record.removed = Some(Removal { name: name.to_owned(), at }))
}

/// Changes a device's record, if there is one, as it is in the folder now.
pub(super) fn change(
    plant: &Plant,
    name: &str,
    changed: impl FnOnce(&mut DeviceRecord),
) -> Result<(), OwnerError> {
    let _lock = plant.lock_folder()?;
    let Some(mut record) = record(plant, name)? else { return Ok(()) };
    changed(&mut record);
    write_whole(&record_path(plant, name), &pretty(&record)?)
}

/// Returns a stream with the names that its channels have in `sotto.toml`.
pub(crate) fn shown(plant: &Plant, stream: &StreamProfile) -> StreamProfile {
    let mut shown = stream.clone();
    for channel in &mut shown.channels {
        channel.name = plant.settings().shown_channel(&channel.name).to_owned();
    }
    shown
}

/// Moves a device's record, if there is one, to a name of its own beside it.
pub(super) fn put_aside(plant: &Plant, name: &str) -> Result<(), OwnerError> {
    let path = record_path(plant, name);
    if !path.exists() {
        return Ok(());
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".older.{}", jiff::Timestamp::now().as_millisecond()));
    std::fs::rename(&path, &aside).map_err(io(&path))
}

pub(super) fn record_path(plant: &Plant, name: &str) -> PathBuf {
    plant.path("devices").join(format!("{}.json", plant.wire_device(name)))
}

/// Returns the parameters of a stream's ciphertexts; None for a stream of sums, which has none.
pub(crate) fn spec_of(profile: &StreamProfile) -> Result<Option<ParameterSpec>, OwnerError> {
    if profile.sums.is_empty() { parameter_spec(&profile.parameters).map(Some) } else { Ok(None) }
}

/// Reads the parameters from a frame in hexadecimal.
fn parameter_spec(frame: &str) -> Result<ParameterSpec, OwnerError> {
    let wrong =
        |reason: String| OwnerError::NoParameters(format!("stored parameters cannot be read: {reason}"));
    let frame = hex::decode(frame).map_err(|error| wrong(error.to_string()))?;
    sotto_wire::read_parameters(&frame).map_err(|error| wrong(error.to_string()))
}
