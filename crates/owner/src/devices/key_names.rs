//! The public names of a device's keys.

use std::collections::BTreeMap;

use sotto_rlwe::{KeyId, ParameterId};

use super::records::{DeviceRecord, parameter_spec};
use super::register::{Enrolment, enrolment_path};
use super::secrets;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::read_json;

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
        parameters.push(parameter_spec(&profile.parameters)?.id());
    }
    if plant.has_passphrase()
        && let Some(names) = registered(plant, &record.device, &parameters)
    {
        return Ok(names);
    }
    let Some(secret) = secrets::held_secret(plant, &record.device)? else { return Ok(BTreeMap::new()) };
    Ok(parameters.into_iter().map(|id| (id, secret.key_id(&id))).collect())
}

/// Returns the names in the device's registration; None if it lacks one.
fn registered(
    plant: &Plant,
    device: &str,
    parameters: &[ParameterId],
) -> Option<BTreeMap<ParameterId, KeyId>> {
    let registration: Enrolment = read_json(&enrolment_path(plant, device)).ok()?;
    let name = |id: &ParameterId| {
        let key = registration.keys.iter().find(|key| key.parameter_id == id.to_string())?;
        Some((*id, KeyId(hex::decode(&key.key_id).ok()?.try_into().ok()?)))
    };
    parameters.iter().map(name).collect()
}
