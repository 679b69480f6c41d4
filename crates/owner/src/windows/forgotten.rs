//! Files that note the owner's deletions.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_wire::Digest;

use super::earlier_version::EarlierEntry;
use super::stream_name::StreamName;
use crate::declared::Plant;
use crate::devices;
use crate::error::OwnerError;
use crate::files::{read_json, read_within, write_private};

pub(super) const FORGOTTEN: &str = "forgotten.json";

/// Largest file of leaves: 4 GiB, in bytes.
const LARGEST: u64 = 4 << 30;

/// The owner's deletions, by device.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Deleted(pub(super) BTreeMap<String, Deletion>);

/// A deletion: the windows that ended before `until`, among those that had arrived.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Deletion {
    /// Milliseconds since 1970.
    pub(super) until: i64,
    /// Number of windows in each log at the time of deletion. Earlier versions noted no leaves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) sizes: BTreeMap<String, u64>,
}

/// Returns the leaves of the windows of a stream that the owner deleted.
pub(crate) fn forgotten(plant: &Plant, device: &str, stream: &str) -> Result<HashSet<Digest>, OwnerError> {
    let path = path(plant, StreamName { device, stream });
    if !path.exists() {
        return Ok(HashSet::new());
    }
    let bytes = read_within(&path, LARGEST)?;
    let (leaves, rest) = bytes.as_chunks::<32>();
    if !rest.is_empty() {
        let reason = "it is no list of 32 bytes each".to_owned();
        return Err(OwnerError::Damaged { path, reason });
    }
    Ok(leaves.iter().copied().collect())
}

/// Returns the leaves of the windows that the owner deleted of a stream whose log an earlier version stored. The first versions
/// noted no leaves: these are then made of the log, and written.
pub(super) fn of_earlier_version(
    plant: &Plant,
    name: StreamName<'_>,
    entries: &[EarlierEntry],
) -> Result<HashSet<Digest>, OwnerError> {
    let path = path(plant, name);
    if path.exists() {
        return forgotten(plant, name.device, name.stream);
    }
    let deleted = deleted(plant)?;
    let Some(Deletion { until, sizes }) = deleted.0.get(name.device) else { return Ok(HashSet::new()) };
    let Some(size) = sizes.get(name.stream) else { return Ok(HashSet::new()) };
    let had = usize::try_from(*size).unwrap_or(usize::MAX).min(entries.len());
    let leaves: Vec<Digest> =
        entries[..had].iter().filter(|entry| entry.is_gone(*until)).map(|entry| entry.leaf).collect();
    write_private(&path, &leaves.concat())?;
    Ok(leaves.into_iter().collect())
}

pub(super) fn path(plant: &Plant, StreamName { device, stream }: StreamName<'_>) -> PathBuf {
    devices::log_folder(plant, device).join(format!("{stream}.forgotten"))
}

pub(super) fn deleted(plant: &Plant) -> Result<Deleted, OwnerError> {
    let path = plant.path("logs").join(FORGOTTEN);
    if path.exists() { read_json(&path) } else { Ok(Deleted::default()) }
}
