//! Registration of devices with the cloud.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_api::devices::{ListedKey, RegisteredKey};

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::read_json;

/// A device's registration, stored in `enrolments/NAME.json`. A cloud on this machine reads it there.
///
/// ```
/// use sotto_owner::{BundleRecord, DeviceRecord, Enrolled, EnrolledKey, Enrolment};
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # plant.edit(|settings| {
/// #     let (range, every) = ("-20..120".parse().expect("a range"), "5m".parse().expect("a duration"));
/// #     let temperature = sotto_owner::edit::NewChannel { unit: "°C".into(), range, resolution: 0.1, every, comparable: false };
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

pub(crate) fn enrolment_path(plant: &Plant, name: &str) -> PathBuf {
    plant.path("enrolments").join(format!("{name}.json"))
}

/// Returns true if `keys` includes every key that the device may encrypt under.
pub(crate) fn is_registered(plant: &Plant, name: &str, keys: &[ListedKey]) -> Result<bool, OwnerError> {
    let enrolment: Enrolment = read_json(&enrolment_path(plant, name))?;
    let there = |key: &EnrolledKey| {
        keys.iter().any(|known| known.parameter_id == key.parameter_id && known.key_id == key.key_id)
    };
    Ok(enrolment.keys.iter().all(there))
}

/// Registers a device with the cloud: its parameters, its verifying key, the ids of its keys, its streams.
pub(crate) fn register(
    plant: &Plant,
    cloud: &sotto_cloud_client::Cloud,
    name: &str,
) -> Result<(), OwnerError> {
    let enrolment: Enrolment = read_json(&enrolment_path(plant, name))?;
    for parameters in &enrolment.parameters {
        cloud.put_parameters(&hex::decode(parameters).unwrap_or_default())?;
    }
    let key = |key: &EnrolledKey| RegisteredKey {
        parameter_id: key.parameter_id.clone(),
        key_id: key.key_id.clone(),
    };
    let keys: Vec<RegisteredKey> = enrolment.keys.iter().map(key).collect();
    Ok(cloud.put_device(name, &enrolment.verifying_key, &keys, &enrolment.streams)?)
}
