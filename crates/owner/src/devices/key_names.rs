//! The public names of a device's keys.

use std::collections::BTreeMap;

use sotto_keys::DeviceSecret;
use sotto_rlwe::{KeyId, ParameterId};

use super::keyed::{key_id, parameter_id, sums_key_id};
use super::records::DeviceRecord;
use super::register::{EnrolledKey, Enrolment, enrolment_path};
use super::secrets;
use super::verifying::{log_folder, make_log_folder};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{pretty, read_json, write_private};

/// In the folder of a device's logs: the names of the keys of a device that was removed, as its registration is deleted.
const KEPT: &str = "key-names.json";

/// Returns the names of the keys under which a device encrypts, for all parameters in its record. Empty if its secret is
/// gone. In a plant with a passphrase they come from its registration, so that nobody is asked for the passphrase.
pub(crate) fn key_names(
    plant: &Plant,
    record: &DeviceRecord,
) -> Result<BTreeMap<ParameterId, KeyId>, OwnerError> {
    let [_, secret, _] = secrets::device_files(plant, &record.device);
    if !secret.exists() {
        return Ok(BTreeMap::new());
    }
    let mut parameters = Vec::new();
    for profile in record.bundles.iter().flat_map(|bundle| &bundle.streams) {
        parameters.push((parameter_id(&record.device, profile)?, profile));
    }
    if plant.has_passphrase()
        && let Some(names) = registered(plant, &record.device, parameters.iter().map(|(id, _)| id))
    {
        return Ok(names);
    }
    let Some(secret) = secrets::held_secret(plant, &record.device)? else { return Ok(BTreeMap::new()) };
    Ok(parameters.into_iter().map(|(id, profile)| (id, key_id(&secret, profile, &id))).collect())
}

/// Returns false if the names of a device's keys in the folder are not those of a secret.
pub(super) fn are_of(plant: &Plant, device: &str, secret: &DeviceSecret) -> bool {
    let keys = kept_keys(plant, device).unwrap_or_default();
    keys.iter().all(|key| {
        let id = hex::decode(&key.parameter_id).ok().and_then(|id| id.try_into().ok()).map(ParameterId);
        let of = |id: ParameterId| [secret.key_id(&id), sums_key_id(secret, &id.0)];
        id.is_none_or(|id| of(id).iter().any(|own| own.to_string() == key.key_id))
    })
}

/// Returns the keys in a device's registration, or those that were kept when it was removed.
fn kept_keys(plant: &Plant, device: &str) -> Option<Vec<EnrolledKey>> {
    let registration = read_json::<Enrolment>(&enrolment_path(plant, device));
    let of_removed = || read_json(&log_folder(plant, plant.wire_device(device)).join(KEPT)).ok();
    registration.ok().map(|registration| registration.keys).or_else(of_removed)
}

/// Stores the names of a device's keys permanently, independent of its registration.
pub(crate) fn keep_key_names(plant: &Plant, record: &DeviceRecord) -> Result<(), OwnerError> {
    let key = |(parameters, key): (ParameterId, KeyId)| EnrolledKey {
        parameter_id: parameters.to_string(),
        key_id: key.to_string(),
    };
    let keys: Vec<EnrolledKey> = key_names(plant, record)?.into_iter().map(key).collect();
    make_log_folder(plant, &record.device)?;
    write_private(&log_folder(plant, &record.device).join(KEPT), &pretty(&keys)?)
}

/// Returns the names in the device's registration, or those that were kept when it was removed; None if one is missing.
fn registered<'p>(
    plant: &Plant,
    device: &str,
    parameters: impl Iterator<Item = &'p ParameterId>,
) -> Option<BTreeMap<ParameterId, KeyId>> {
    let keys = kept_keys(plant, device)?;
    let name = |id: &ParameterId| {
        let key = keys.iter().find(|key| key.parameter_id == id.to_string())?;
        Some((*id, KeyId(hex::decode(&key.key_id).ok()?.try_into().ok()?)))
    };
    parameters.map(name).collect()
}
