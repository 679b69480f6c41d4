//! A look at the plant's folder: files that are missing, unreadable or open to others, and the command that mends each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sotto_keys::{DeviceSecret, KeyFile, SigningIdentity};
use zeroize::Zeroizing;

use super::damage;
use super::fault::{Fault, shown};
use super::records::{self, record_path};
use super::register::{enrolment_path, registered_copy, shown_channels};
use super::secrets::device_files;
use super::verifying::log_folder;
use crate::declared::{AlarmSettings, MqttAddress, Plant, SETTINGS};
use crate::error::{OwnerError, io};
use crate::files::is_open_to_others;
use crate::secrets::{KEY, SecretsError};

/// Looks at the secrets shared with the cloud, the modes of secrets, the files of every device, the authority's certificate
/// and what interrupted commands left.
pub(crate) fn check(plant: &Plant) -> Result<Vec<Fault>, OwnerError> {
    let mut faults = damage::faults(plant)?;
    let damaged: BTreeSet<String> = faults.iter().map(|fault| fault.file.clone()).collect();
    let mut others = Vec::new();
    let secrets = |file: &str, what: String| Fault {
        file: file.to_owned(),
        what,
        cure: "sotto cloud secrets".to_owned(),
        lost: false,
    };
    if let Err(error) = plant.token() {
        others.push(secrets("secrets/owner-token", error.to_string()));
    }
    if !plant.has_cloud_key() {
        others.push(secrets("secrets/cloud-signing-key", "is missing".to_owned()));
    }
    if let Some(path) = plant.secrets().lost_owner_key() {
        let what = "is missing: it signs your orders, and devices know it; without a backup `sotto cloud secrets` makes another";
        let (file, cure) = (shown(plant, &path), "sotto restore FILE".to_owned());
        others.push(Fault { file, what: what.to_owned(), cure, lost: false });
    }
    modes(plant, &mut others)?;
    protection(plant, &mut others)?;
    for name in names(plant)? {
        device(plant, &name, &mut others);
    }
    // A damaged file is put away first; then the next look tells how it comes back.
    others.retain(|fault| !damaged.contains(&fault.file));
    faults.append(&mut others);
    Ok(faults)
}

/// Returns the devices that `sotto.toml`, a record or a secret names.
fn names(plant: &Plant) -> Result<BTreeSet<String>, OwnerError> {
    let mut names: BTreeSet<String> = plant.settings().devices.keys().cloned().collect();
    for (folder, endings) in [("devices", &[".json"][..]), ("secrets", &[".key", ".signing"])] {
        let path = plant.path(folder);
        for entry in fs::read_dir(&path).map_err(io(&path))? {
            let file = entry.map_err(io(&path))?.file_name();
            let file = file.to_str().unwrap_or_default();
            let wire = endings.iter().find_map(|ending| file.strip_suffix(ending));
            names.extend(wire.map(|wire| plant.shown_device(wire).to_owned()));
        }
    }
    // The key of an authority of earlier plants.
    if !plant.settings().devices.contains_key("ca") && !record_path(plant, "ca").exists() {
        names.remove("ca");
    }
    Ok(names)
}

fn modes(plant: &Plant, faults: &mut Vec<Fault>) -> Result<(), OwnerError> {
    let secrets = plant.path("secrets");
    let mut private = vec![secrets.clone()];
    for entry in fs::read_dir(&secrets).map_err(io(&secrets))? {
        private.push(entry.map_err(io(&secrets))?.path());
    }
    let has_password = |alarm: &AlarmSettings| {
        let address = alarm.mqtt.as_deref().and_then(|mqtt| mqtt.parse::<MqttAddress>().ok());
        address.is_some_and(|address| address.password.is_some())
    };
    if plant.settings().alarms.values().any(has_password) {
        private.push(plant.path(SETTINGS));
    }
    for path in private.iter().filter(|path| is_open_to_others(path)) {
        let mode = if path.is_dir() { 700 } else { 600 };
        faults.push(Fault {
            file: shown(plant, path),
            what: "can be read by others".to_owned(),
            cure: format!("chmod {mode} {}", path.display()),
            lost: false,
        });
    }
    Ok(())
}

/// Looks at the record, the secrets and the registration of a device.
fn device(plant: &Plant, name: &str, faults: &mut Vec<Fault>) {
    let [record, key, signing] = device_files(plant, name);
    let read = records::record(plant, name);
    let mut traces = vec![key.clone(), signing.clone(), enrolment_path(plant, name)];
    traces.push(log_folder(plant, plant.wire_device(name)));
    let is_enrolled = read.as_ref().is_ok_and(Option::is_some) || traces.iter().any(|path| path.exists());
    if read.is_ok() && !is_enrolled {
        // Declared by hand and not enrolled yet.
        return;
    }
    let adopt = || format!("sotto device adopt {}.bundle", plant.wire_device(name));
    let mut fault = |path: &Path, what: String, cure: String, lost: bool| {
        faults.push(Fault { file: shown(plant, path), what, cure, lost });
    };
    let secret =
        looked_at(plant, KeyFile::Device, &key).map(|bytes| bytes.map(|b| DeviceSecret::from_bytes(&b)));
    match &secret {
        Ok(_) | Err(OwnerError::Secrets(_)) => {}
        Err(_) if !key.exists() => fault(&key, "is missing".into(), adopt(), true),
        Err(error) => fault(&key, error.to_string(), adopt(), true),
    }
    let identity = looked_at(plant, KeyFile::Signing, &signing)
        .map(|bytes| bytes.map(|b| SigningIdentity::from_bytes(&b)));
    match &identity {
        Ok(_) | Err(OwnerError::Secrets(_)) => {}
        Err(_) if !signing.exists() => fault(&signing, "is missing".into(), adopt(), false),
        Err(error) => fault(&signing, error.to_string(), adopt(), false),
    }
    match &read {
        Ok(Some(record)) => {
            let is_own =
                |identity: &SigningIdentity| hex::encode(identity.verifying_key()) == record.verifying_key;
            if matches!(&identity, Ok(Some(identity)) if !is_own(identity)) {
                let path = record_path(plant, name);
                fault(&path, "has another signing key than secrets".into(), adopt(), false);
            }
        }
        Ok(None) => {
            let secret = secret.as_ref().ok().and_then(Option::as_ref);
            let copy = secret.and_then(|secret| registered_copy(plant, secret, name));
            let (what, cure) = match copy {
                Some(copy) => {
                    let channels = shown_channels(plant, &copy.record).join(",");
                    ("is missing".to_owned(), format!("sotto device add {name} --channels {channels}"))
                }
                None => {
                    let what = format!(
                        "is missing, as is its registration; if there is no bundle either, `sotto device add {name}` asks the cloud"
                    );
                    (what, adopt())
                }
            };
            fault(&record, what, cure, false);
        }
        Err(error) => fault(&record, error.to_string(), adopt(), false),
    }
}

/// Returns a secret of 32 bytes if it opens without a question to a person; None if it would need one.
fn looked_at(plant: &Plant, kind: KeyFile, path: &Path) -> Result<Option<Zeroizing<[u8; 32]>>, OwnerError> {
    let Some(bytes) = plant.secrets().look_at(kind, path)? else { return Ok(None) };
    let damaged = || OwnerError::Damaged { path: path.to_owned(), reason: "it is no key".to_owned() };
    <[u8; 32]>::try_from(bytes.as_slice()).map(Zeroizing::new).map(Some).map_err(|_| damaged())
}

/// Looks for secrets that the plant's passphrase does not protect, and for the key of those that it does.
fn protection(plant: &Plant, faults: &mut Vec<Fault>) -> Result<(), OwnerError> {
    let mut fault = |path: &Path, what: &str, cure: String, lost: bool| {
        faults.push(Fault { file: shown(plant, path), what: what.to_owned(), cure, lost });
    };
    if plant.secrets().are_changing() {
        let what = "the passphrase was being set or removed; all secrets still open";
        fault(&plant.path("secrets"), what, "sotto passphrase set".to_owned(), false);
        return Ok(());
    }
    for path in plant.secrets().strays()? {
        let what = "is in the clear, although the plant has a passphrase: if it is not yours, delete it";
        let name = path.strip_prefix(plant.path("secrets")).unwrap_or(&path).display().to_string();
        fault(&path, what, format!("sotto passphrase seal {name}"), false);
    }
    if let Err(OwnerError::Secrets(SecretsError::NoPlantKey { .. })) = plant.secrets().are_none_sealed()
        && !plant.has_passphrase()
    {
        let what = "is missing, and secrets are sealed under it";
        fault(&plant.secret_path(KEY), what, "sotto restore FILE".to_owned(), true);
    }
    Ok(())
}
