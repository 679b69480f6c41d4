//! Windows that the owner deleted.
//!
//! `logs/DEVICE.d/STREAM.forgotten` has their leaves, 32 bytes each: which windows these are does not depend on what a cloud
//! says later. `logs/forgotten.json` has the times.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_wire::Digest;

use super::entry::{Entry, StreamLog};
use super::stream_name::StreamName;
use crate::declared::Plant;
use crate::devices;
use crate::error::OwnerError;
use crate::files::{read_json, read_within, write_private};

pub(super) const FORGOTTEN: &str = "forgotten.json";

/// Largest file of leaves, in bytes: those of two million windows.
const LARGEST: u64 = 32 * 2_000_000;

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
    sizes: BTreeMap<String, u64>,
}

/// Drops the headers of windows that the owner deleted, and marks these windows as deleted.
pub(super) fn leave_out_deleted(
    plant: &Plant,
    name: StreamName<'_>,
    log: &mut StreamLog,
) -> Result<(), OwnerError> {
    let Some(leaves) = leaves(plant, name, log)? else { return Ok(()) };
    for entry in log.entries.iter_mut().filter(|entry| leaves.contains(&entry.leaf)) {
        (entry.signed, entry.id, entry.deleted_here) = (None, String::new(), true);
    }
    Ok(())
}

/// Returns the leaves of the windows of a stream that the owner deleted.
pub(crate) fn forgotten(
    plant: &Plant,
    device: &str,
    stream: &str,
    log: &StreamLog,
) -> Result<HashSet<Digest>, OwnerError> {
    Ok(leaves(plant, StreamName { device, stream }, log)?.unwrap_or_default())
}

/// Notes the windows of a log that ended before a time as deleted by the owner.
pub(super) fn note(
    plant: &Plant,
    name: StreamName<'_>,
    log: &StreamLog,
    until: i64,
) -> Result<(), OwnerError> {
    let known = leaves(plant, name, log)?.unwrap_or_default();
    let mut bytes: Vec<u8> = known.iter().flatten().copied().collect();
    let old = log.entries.iter().filter(|entry| ended_before(entry, until) && !known.contains(&entry.leaf));
    old.for_each(|entry| bytes.extend_from_slice(&entry.leaf));
    write_private(&path(plant, name), &bytes)
}

/// Returns the leaves of the windows that the owner deleted of a stream; None if there are none. Those of a deletion by an
/// earlier version are made from the log in the folder, and written.
fn leaves(
    plant: &Plant,
    name: StreamName<'_>,
    log: &StreamLog,
) -> Result<Option<HashSet<Digest>>, OwnerError> {
    let path = path(plant, name);
    if path.exists() {
        let bytes = read_within(&path, LARGEST)?;
        let (leaves, rest) = bytes.as_chunks::<32>();
        if !rest.is_empty() {
            let reason = "it is no list of 32 bytes each".to_owned();
            return Err(OwnerError::Damaged { path, reason });
        }
        return Ok(Some(leaves.iter().copied().collect()));
    }
    let deleted = deleted(plant)?;
    let Some(Deletion { until, sizes }) = deleted.0.get(name.device) else { return Ok(None) };
    let Some(size) = sizes.get(name.stream) else { return Ok(None) };
    let had = usize::try_from(*size).unwrap_or(usize::MAX).min(log.entries.len());
    let is_gone =
        |entry: &&Entry| ended_before(entry, *until) || (entry.signed.is_none() && entry.id.is_empty());
    let leaves: Vec<Digest> = log.entries[..had].iter().filter(is_gone).map(|entry| entry.leaf).collect();
    write_private(&path, &leaves.concat())?;
    Ok(Some(leaves.into_iter().collect()))
}

fn ended_before(entry: &Entry, until: i64) -> bool {
    entry.signed.as_ref().is_some_and(|signed| signed.header().ended_at < until)
}

fn path(plant: &Plant, StreamName { device, stream }: StreamName<'_>) -> PathBuf {
    devices::log_folder(plant, device).join(format!("{stream}.forgotten"))
}

pub(super) fn deleted(plant: &Plant) -> Result<Deleted, OwnerError> {
    let path = plant.path("logs").join(FORGOTTEN);
    if path.exists() { read_json(&path) } else { Ok(Deleted::default()) }
}
