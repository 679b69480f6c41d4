//! The secrets of devices.

use std::io::ErrorKind;
use std::path::PathBuf;

use sotto_keys::{DeviceSecret, KeyFile, KeyFileError};

use super::records;
use crate::declared::Plant;
use crate::error::OwnerError;

pub(super) fn signing_file(device: &str) -> String {
    format!("{device}.signing")
}

fn secret_file(device: &str) -> String {
    format!("{device}.key")
}

/// Returns a device's secret, from which its keys are derived.
pub(crate) fn secret(plant: &Plant, name: &str) -> Result<DeviceSecret, OwnerError> {
    let bytes = KeyFile::Device.read(&plant.secret_path(&secret_file(name)), None)?;
    Ok(DeviceSecret::from_bytes(&bytes))
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

/// Returns the paths of a device's record and secrets.
pub(crate) fn device_files(plant: &Plant, name: &str) -> [PathBuf; 3] {
    let [key, signing] = [secret_file(name), signing_file(name)].map(|file| plant.secret_path(&file));
    [records::record_path(plant, name), key, signing]
}
