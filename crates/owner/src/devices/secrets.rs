//! The secrets of devices.

use std::io::ErrorKind;
use std::path::PathBuf;

use sotto_keys::{DeviceSecret, KeyFile, KeyFileError, SigningIdentity};

use super::records;
use crate::declared::Plant;
use crate::error::OwnerError;

fn signing_path(plant: &Plant, device: &str) -> PathBuf {
    plant.secret_path(&format!("{}.signing", plant.wire_device(device)))
}

fn secret_path(plant: &Plant, device: &str) -> PathBuf {
    plant.secret_path(&format!("{}.key", plant.wire_device(device)))
}

/// Returns a device's secret, from which its keys are derived.
pub(crate) fn secret(plant: &Plant, name: &str) -> Result<DeviceSecret, OwnerError> {
    let bytes = plant.secrets().read_key(KeyFile::Device, &secret_path(plant, name))?;
    Ok(DeviceSecret::from_bytes(&bytes))
}

/// Returns the key with which a device signs.
pub(super) fn identity(plant: &Plant, name: &str) -> Result<SigningIdentity, OwnerError> {
    let bytes = plant.secrets().read_key(KeyFile::Signing, &signing_path(plant, name))?;
    Ok(SigningIdentity::from_bytes(&bytes))
}

/// Returns a device's secret; None if its file is gone, as `sotto device remove --destroy-secret` leaves it.
pub(crate) fn held_secret(plant: &Plant, name: &str) -> Result<Option<DeviceSecret>, OwnerError> {
    match secret(plant, name) {
        Err(OwnerError::Key(KeyFileError::Io { error, .. })) if error.kind() == ErrorKind::NotFound => {
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Checks that the folder has both secrets of a device, without a question to a person.
///
/// # Errors
/// [`OwnerError::MissingSecret`] if a file is gone; another [`OwnerError`] if one cannot be read.
pub(crate) fn has_secrets(plant: &Plant, name: &str) -> Result<(), OwnerError> {
    let [_, key, signing] = device_files(plant, name);
    for (kind, path) in [(KeyFile::Device, key), (KeyFile::Signing, signing)] {
        if !path.exists() {
            return Err(OwnerError::MissingSecret { device: plant.wire_device(name).to_owned(), path });
        }
        match plant.secrets().look_at(kind, &path) {
            // Without the passphrase nothing is known about it.
            Ok(_) | Err(OwnerError::Secrets(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the paths of a device's record and secrets.
pub(crate) fn device_files(plant: &Plant, name: &str) -> [PathBuf; 3] {
    [records::record_path(plant, name), secret_path(plant, name), signing_path(plant, name)]
}
