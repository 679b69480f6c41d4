//! The verifying keys that devices had. They stay when a record is deleted, as signatures by them do.

use std::path::PathBuf;

use super::records::{DeviceRecord, record_path};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{make_folder, read_text, write_private};

const VERIFYING_KEYS: &str = "verifying-keys";

pub(crate) fn log_folder(plant: &Plant, device: &str) -> PathBuf {
    plant.path("logs").join(format!("{device}.d"))
}

/// Returns the folder of a device's logs, and those of logs that were put aside.
pub(super) fn log_folders(plant: &Plant, device: &str) -> impl Iterator<Item = PathBuf> {
    let aside = std::fs::read_dir(plant.path("logs").join("old")).into_iter().flatten().flatten();
    let name = format!("{device}.d");
    std::iter::once(log_folder(plant, device)).chain(aside.map(move |entry| entry.path().join(&name)))
}

pub(crate) fn make_log_folder(plant: &Plant, device: &str) -> Result<(), OwnerError> {
    make_folder(&plant.path("logs"), true)?;
    make_folder(&log_folder(plant, device), true)
}

/// Returns true for a device that had a record and has none any more, as after a removal that destroyed its secret.
pub(crate) fn was_destroyed(plant: &Plant, name: &str) -> bool {
    let keys = log_folder(plant, plant.wire_device(name)).join(VERIFYING_KEYS);
    sotto_program::is_name(name) && keys.exists() && !record_path(plant, name).exists()
}

/// Returns every verifying key that a device with this name ever had, the present one first. Signatures by earlier
/// keys stay valid.
pub(crate) fn verifying_keys(plant: &Plant, record: &DeviceRecord) -> Result<Vec<[u8; 32]>, OwnerError> {
    let path = log_folder(plant, &record.device).join(VERIFYING_KEYS);
    let earlier = if path.exists() { read_text(&path, 1 << 20)? } else { String::new() };
    let mut keys = Vec::new();
    for text in [record.verifying_key.as_str()].into_iter().chain(earlier.lines()) {
        let mut key = [0; 32];
        let read = hex::decode_to_slice(text.trim(), &mut key);
        read.map_err(|error| OwnerError::Damaged { path: path.clone(), reason: error.to_string() })?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Stores a verifying key of a device permanently, independent of its record.
pub(crate) fn keep_verifying_key(plant: &Plant, record: &DeviceRecord) -> Result<(), OwnerError> {
    make_log_folder(plant, &record.device)?;
    let _lock = plant.lock_folder()?;
    let keys = verifying_keys(plant, record)?;
    let lines: String = keys.iter().map(|key| format!("{}\n", hex::encode(key))).collect();
    write_private(&log_folder(plant, &record.device).join(VERIFYING_KEYS), lines.as_bytes())
}
