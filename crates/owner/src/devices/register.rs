//! Registration of devices with the cloud.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_api::devices::Device;
use sotto_keys::DeviceSecret;
use sotto_pack::StreamProfile;
use sotto_ring::{SecretRng, secure_rng};
use sotto_wire::StreamHeader;

use super::keyed::{key_id, parameter_id, stream_header};
use super::records::{DeviceRecord, record_path};
use super::sealed::Copy;
use super::{records, secrets};
use crate::declared::Plant;
use crate::declared::settings::DeviceSettings;
use crate::error::OwnerError;
use crate::files::{pretty, read_json, write_private, write_whole};

/// A device's registration, stored in `enrolments/NAME.json`. A cloud on this machine reads it there.
///
/// ```
/// use sotto_owner::{BundleRecord, DeviceRecord, Enrolled, EnrolledKey, Enrolment, Removal};
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # plant.edit(|settings| {
/// #     let (range, every) = ("-20..120".parse().expect("a range"), "5m".parse().expect("a duration"));
/// #     let temperature = sotto_owner::settings::ChannelSettings::new("°C", range, 0.1, every);
/// #     sotto_owner::edit::add_channel(settings, "temperature", &temperature)?;
/// #     sotto_owner::edit::add_question(settings, "daily", &"mean(temperature) over 7d by day".into())?;
/// #     sotto_owner::edit::add_device(settings, "boiler", &["temperature".into()])
/// # })?;
///
/// // `plant` declares the device `boiler`.
/// let enrolled: Enrolled = plant.enrol("boiler", &folder.path().join("boiler.bundle"))?;
/// let record: DeviceRecord = plant.device("boiler")?.ok_or("not enrolled")?;
/// let bundles: &[BundleRecord] = &record.bundles;
/// assert_eq!(bundles[0].streams.len(), enrolled.streams.len());
/// assert_eq!(record.removed, None::<Removal>);
///
/// let file = std::fs::read(plant.folder().join("enrolments/boiler.json"))?; // goes to the cloud
/// let enrolment: Enrolment = serde_json::from_slice(&file)?;
/// assert_eq!(enrolment.verifying_key, record.verifying_key);
/// let keys: &[EnrolledKey] = &enrolment.keys;
/// assert_eq!(keys.len(), 1);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enrolment {
    /// The device's name.
    pub device: String,
    /// The verifying key, in hexadecimal.
    pub verifying_key: String,
    /// Frames of the parameters, in hexadecimal.
    pub parameters: Vec<String>,
    /// Keys that the device may encrypt under.
    pub keys: Vec<EnrolledKey>,
    /// Headers of its streams of compact windows: frames in hexadecimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<String>,
    /// The device's record sealed under its secret, in hexadecimal. None if it is too long, or older than such copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The generation of the registration in the cloud that this one replaces; 0 if the folder knows of none.
    #[serde(default)]
    pub generation: u64,
}

/// A key of a device, by its public id.
///
/// Example: [`Enrolment`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolledKey {
    /// The id of the parameters, in hexadecimal.
    pub parameter_id: String,
    /// The id of the key, in hexadecimal.
    pub key_id: String,
}

impl Enrolment {
    /// Returns true if it has the parameters and streams of the record.
    fn is_of(&self, record: &DeviceRecord) -> bool {
        let streams = || record.bundles.iter().flat_map(|bundle| &bundle.streams);
        let parameters = streams().map(|stream| stream.parameters.as_str()).filter(|frame| !frame.is_empty());
        let parameters: BTreeSet<&str> = parameters.collect();
        let of_headers: Option<BTreeSet<String>> = self
            .streams
            .iter()
            .map(|frame| Some(StreamHeader::read(&hex::decode(frame).ok()?).ok()?.stream().to_owned()))
            .collect();
        let with_headers = streams()
            .filter(|stream| stream.envelope > 1 || !stream.sums.is_empty())
            .map(|stream| stream.stream.clone());
        self.verifying_key == record.verifying_key
            && self.parameters.iter().map(String::as_str).collect::<BTreeSet<_>>() == parameters
            && of_headers == Some(with_headers.collect())
    }
}

/// Collects the parameters, keys and streams of all bundles, because the cloud accepts windows of older bundles too.
pub(super) fn enrolment(
    record: &DeviceRecord,
    secret: &DeviceSecret,
    rng: &mut impl SecretRng,
) -> Result<Enrolment, OwnerError> {
    let streams = || record.bundles.iter().flat_map(|bundle| &bundle.streams);
    let mut parameters: Vec<String> =
        streams().map(|s| s.parameters.clone()).filter(|frame| !frame.is_empty()).collect();
    parameters.sort_unstable();
    parameters.dedup();
    let mut keys: Vec<EnrolledKey> = Vec::new();
    for profile in streams() {
        let id = parameter_id(&record.device, profile)?;
        let key_id = key_id(secret, profile, &id).to_string();
        let key = EnrolledKey { parameter_id: id.to_string(), key_id };
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let (device, verifying_key) = (record.device.clone(), record.verifying_key.clone());
    let streams = streams()
        .filter_map(|profile| stream_header(&device, secret, profile).transpose())
        .map(|header| Ok(hex::encode(header?.write())))
        .collect::<Result<_, OwnerError>>()?;
    let copy = Copy { record: record.clone() }.seal(secret, rng);
    let generation = record.generation;
    Ok(Enrolment { device, verifying_key, parameters, keys, streams, record: copy, generation })
}

/// Returns the settings that a device was enrolled with, by its latest bundle.
fn declared_by(record: &DeviceRecord) -> DeviceSettings {
    declared_for(record.bundles.last().map(|bundle| bundle.streams.as_slice()).unwrap_or_default())
}

/// Returns the settings for which a bundle's streams were made.
pub(super) fn declared_for(streams: &[StreamProfile]) -> DeviceSettings {
    let public = streams.iter().any(|stream| stream.public);
    let mut settings = DeviceSettings { channels: Vec::new(), public, tags: Vec::new(), wire: None };
    for channel in streams.iter().flat_map(|stream| &stream.channels) {
        if !settings.channels.contains(&channel.name) {
            settings.channels.push(channel.name.clone());
        }
    }
    settings
}

/// Returns the channels of a device's latest bundle, by their names in `sotto.toml`; none if it is not enrolled.
pub(crate) fn channels_of(plant: &Plant, name: &str) -> Result<Vec<String>, OwnerError> {
    Ok(records::record(plant, name)?.map(|record| shown_channels(plant, &record)).unwrap_or_default())
}

/// Returns the channels of a record's latest bundle, by their names in `sotto.toml`.
pub(super) fn shown_channels(plant: &Plant, record: &DeviceRecord) -> Vec<String> {
    let shown = |wire: &String| plant.settings().shown_channel(wire).to_owned();
    declared_by(record).channels.iter().map(shown).collect()
}

/// Writes a device's registration and its record, if the record in the folder is still the one from which they were made.
///
/// # Errors
/// [`OwnerError::NotNow`] if another process wrote the record since; nothing is written then.
pub(super) fn replace(
    plant: &Plant,
    before: &DeviceRecord,
    record: &DeviceRecord,
    enrolment: &Enrolment,
) -> Result<(), OwnerError> {
    let _lock = plant.lock_folder()?;
    let name = plant.shown_device(&record.device);
    match records::record(plant, &record.device)? {
        // A new device has no record yet; a removal leaves its note.
        Some(found) if found != *before => Err(OwnerError::NotNow(format!(
            "another process changed the record of {name} meanwhile, and nothing was written: run this again"
        ))),
        _ => write(plant, record, enrolment),
    }
}

/// Writes a device's registration and its record, the record last. The caller holds the plant's lock.
pub(super) fn write(plant: &Plant, record: &DeviceRecord, enrolment: &Enrolment) -> Result<(), OwnerError> {
    let (registration, path) = (enrolment_path(plant, &record.device), record_path(plant, &record.device));
    write_private(&registration, &pretty(enrolment)?)?;
    write_whole(&path, &pretty(record)?)
}

/// Reads a device's registration; makes it again from the record if the file is gone or of another record.
pub(super) fn registration(plant: &Plant, name: &str) -> Result<Enrolment, OwnerError> {
    let path = enrolment_path(plant, name);
    let Some(record) = records::record(plant, name)? else { return read_json(&path) };
    if let Some(registration) = read_json::<Enrolment>(&path).ok().filter(|found| found.is_of(&record)) {
        return Ok(registration);
    }
    let secret = secrets::secret(plant, name)?;
    let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
    let enrolment = enrolment(&record, &secret, &mut rng)?;
    replace(plant, &record, &record, &enrolment)?;
    Ok(enrolment)
}

/// Returns the copy of a device's record in its registration in the folder; None if there is none that the secret opens.
pub(super) fn registered_copy(plant: &Plant, secret: &DeviceSecret, name: &str) -> Option<Copy> {
    let registration: Enrolment = read_json(&enrolment_path(plant, name)).ok()?;
    let mut copy = Copy::open_text(secret, plant.wire_device(name), &registration.record?)?;
    copy.record.generation = registration.generation;
    Some(copy)
}

pub(crate) fn enrolment_path(plant: &Plant, name: &str) -> PathBuf {
    plant.path("enrolments").join(format!("{}.json", plant.wire_device(name)))
}

/// Returns true if the cloud's registration is the one that the record knows, with every key that the device may
/// encrypt under.
pub(crate) fn is_registered(
    plant: &Plant,
    record: &DeviceRecord,
    known: &Device,
) -> Result<bool, OwnerError> {
    let enrolment = registration(plant, &record.device)?;
    let there = |key: &EnrolledKey| {
        known.keys.iter().any(|known| known.parameter_id == key.parameter_id && known.key_id == key.key_id)
    };
    let is_known = record.generation == known.generation && !record.unregistered;
    Ok(is_known && enrolment.keys.iter().all(there))
}
