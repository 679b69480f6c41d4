//! Windows that the owner deleted.
//!
//! `logs/DEVICE.d/STREAM.forgotten` has their leaves, 32 bytes each: which windows these are does not depend on what a cloud
//! says later. `logs/forgotten.json` has the times.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_wire::{Digest, Order};

use super::entry::{Entry, StreamLog, tree_of};
use super::stored;
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

/// Drops the headers of windows that were deleted from the logs that are kept here.
pub(super) fn drop_headers(plant: &Plant, device: &str) -> Result<(), OwnerError> {
    for stream in stored::kept_streams(plant, device) {
        let name = StreamName { device, stream: &stream };
        let mut log = stored::read_log(plant, name)?;
        leave_out_deleted(plant, name, &mut log)?;
        stored::replace_log(plant, name, &log.entries)?;
    }
    Ok(())
}

/// Marks the windows of a log that orders name: another computer of the owner may have given them. Returns true if there were
/// any that were not marked. `gone` are the leaves that the cloud has no window for; None: those of the log without a header.
pub(super) fn learn_deleted(
    plant: &Plant,
    orders: &[Order],
    name: StreamName<'_>,
    log: &mut StreamLog,
    gone: Option<&HashSet<Digest>>,
) -> Result<bool, OwnerError> {
    let mut learnt: Vec<Digest> = Vec::new();
    for order in orders.iter().map(Order::parts).filter(|order| order.is_about(name.device, name.stream)) {
        let Some(forget) = order.forget() else { continue };
        let Some(windows) = &forget.from_log else {
            learnt.extend(mark_ended(&mut log.entries, forget.until, gone));
            continue;
        };
        let size = usize::try_from(windows.size).unwrap_or(usize::MAX);
        let Some(had) = log.entries.get_mut(..size) else { continue };
        // Positions are those of one log.
        if tree_of(had).root() != windows.root {
            continue;
        }
        for (from, to) in &windows.runs {
            // Runs end within the log.
            let named = had[*from as usize..*to as usize].iter_mut();
            // A window that ended later is not of the order's time, whatever made the order name it.
            let is_later = |entry: &Entry| entry.signed.is_some() && !ended_before(entry, forget.until);
            for entry in named.filter(|entry| !entry.deleted_here && !is_later(entry)) {
                (entry.signed, entry.id, entry.deleted_here) = (None, String::new(), true);
                learnt.push(entry.leaf);
            }
        }
    }
    if learnt.is_empty() {
        return Ok(false);
    }
    let known = leaves(plant, name, log)?.unwrap_or_default();
    write_private(&path(plant, name), &known.into_iter().chain(learnt).collect::<Vec<_>>().concat())?;
    Ok(true)
}

/// Marks the windows that an order without a log deleted: those that are gone and ended before its time. The device had no
/// record then. A window without a header has no time: it counts if its number is below those of all windows that ended later.
fn mark_ended(entries: &mut [Entry], until: i64, gone: Option<&HashSet<Digest>>) -> Vec<Digest> {
    let ended_later = |entry: &&Entry| entry.signed.is_some() && !ended_before(entry, until);
    let later = entries.iter().filter(ended_later).map(|entry| entry.sequence).min().unwrap_or(u64::MAX);
    let is_gone = |entry: &Entry| match gone {
        Some(gone) => gone.contains(&entry.leaf),
        None => entry.signed.is_none() && entry.id.is_empty(),
    };
    let is_named = |entry: &Entry| match entry.signed {
        Some(_) => ended_before(entry, until),
        None => entry.sequence < later,
    };
    let mut marked = Vec::new();
    for entry in entries.iter_mut().filter(|entry| !entry.deleted_here && is_gone(entry) && is_named(entry)) {
        (entry.signed, entry.id, entry.deleted_here) = (None, String::new(), true);
        marked.push(entry.leaf);
    }
    marked
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

pub(super) fn ended_before(entry: &Entry, until: i64) -> bool {
    entry.signed.as_ref().is_some_and(|signed| signed.header().ended_at < until)
}

fn path(plant: &Plant, StreamName { device, stream }: StreamName<'_>) -> PathBuf {
    devices::log_folder(plant, device).join(format!("{stream}.forgotten"))
}

pub(super) fn deleted(plant: &Plant) -> Result<Deleted, OwnerError> {
    let path = plant.path("logs").join(FORGOTTEN);
    if path.exists() { read_json(&path) } else { Ok(Deleted::default()) }
}
