//! Windows that the owner deleted.
//!
//! `logs/DEVICE.d/STREAM.forgotten` has their leaves, 32 bytes each: which windows these are does not depend on what a cloud
//! says later. `logs/forgotten.json` has the times.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_wire::{Digest, Order};

use super::earlier_version::EarlierEntry;
use super::leaves::Leaves;
use super::mirror::{Entry, StreamLog};
use super::stored;
use super::stream_name::StreamName;
use crate::cache;
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
    sizes: BTreeMap<String, u64>,
}

/// Marks the windows of a kept log that orders name as deleted by this plant's owner: another computer may have given them.
/// Returns true if there were any that were not marked. `gone` are the positions of windows that the cloud has not; None:
/// those that the log says are deleted.
pub(super) fn learn_deleted(
    plant: &Plant,
    leaves: Leaves<'_>,
    orders: &[Order],
    log: &mut StreamLog,
    gone: Option<&HashSet<u64>>,
) -> Result<bool, OwnerError> {
    let (name, mut learnt) = (leaves.name, BTreeSet::new());
    for order in orders.iter().map(Order::parts).filter(|order| order.is_about(name.device, name.stream)) {
        let Some(forget) = order.forget() else { continue };
        let Some(windows) = &forget.from_log else {
            learnt.extend(ended(log, forget.until, gone));
            continue;
        };
        // Positions are those of one log.
        if log.root_of(windows.size, |block| leaves.block(log, block))? != Some(windows.root) {
            continue;
        }
        for (from, to) in &windows.runs {
            // A window that ended later is not of the order's time, whatever made the order name it.
            let is_later = |entry: &Entry<'_>| entry.is_signed() && !ended_before(entry, forget.until);
            // Runs end within the log.
            let named = log.entries_from(*from).take_while(|entry| entry.position < *to);
            let new = named.filter(|entry| !entry.is_deleted_here() && !is_later(entry));
            learnt.extend(new.map(|entry| entry.position));
        }
    }
    if learnt.is_empty() {
        return Ok(false);
    }
    cache::forget(plant, name.device)?;
    mark(plant, leaves, log, &learnt.into_iter().collect::<Vec<_>>())?;
    Ok(true)
}

/// Returns the windows that an order without a log deleted: those that are gone and ended before its time. The device had no
/// record then. A window without a header has no time: it counts if its number is below those of all windows that ended later.
fn ended(log: &StreamLog, until: i64, gone: Option<&HashSet<u64>>) -> Vec<u64> {
    let ended_later = |entry: &Entry<'_>| entry.is_signed() && !ended_before(entry, until);
    let later = log.entries().filter(ended_later).map(|entry| entry.sequence()).min().unwrap_or(u64::MAX);
    let is_gone = |entry: &Entry<'_>| match gone {
        Some(gone) => gone.contains(&entry.position),
        None => entry.is_taken(),
    };
    let is_named = |entry: &Entry<'_>| match entry.is_signed() {
        true => ended_before(entry, until),
        false => entry.sequence() < later,
    };
    let named = log.entries().filter(|entry| !entry.is_deleted_here() && is_gone(entry) && is_named(entry));
    named.map(|entry| entry.position).collect()
}

/// Notes the leaves of windows that the owner deleted, at ascending positions of a kept log, and marks the windows.
fn mark(plant: &Plant, leaves: Leaves<'_>, log: &mut StreamLog, positions: &[u64]) -> Result<(), OwnerError> {
    let name = leaves.name;
    let new = leaves.at(log, positions)?.into_iter().map(|named| named.leaf);
    let known = forgotten(plant, name.device, name.stream)?;
    write_private(&path(plant, name), &known.into_iter().chain(new).collect::<Vec<_>>().concat())?;
    log.mark_deleted(positions);
    stored::store_marks(plant, name, log)
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

/// Notes the windows of a kept log that ended before a time as deleted by the owner.
pub(super) fn note(
    plant: &Plant,
    leaves: Leaves<'_>,
    log: &mut StreamLog,
    until: i64,
) -> Result<(), OwnerError> {
    let old = log.entries().filter(|entry| ended_before(entry, until));
    let positions: Vec<u64> = old.map(|entry| entry.position).collect();
    if positions.is_empty() { Ok(()) } else { mark(plant, leaves, log, &positions) }
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

/// Returns true if a window has a signed header and ended before a time.
pub(super) fn ended_before(entry: &Entry<'_>, until: i64) -> bool {
    entry.times().is_some_and(|(_, ended)| ended < until)
}

fn path(plant: &Plant, StreamName { device, stream }: StreamName<'_>) -> PathBuf {
    devices::log_folder(plant, device).join(format!("{stream}.forgotten"))
}

pub(super) fn deleted(plant: &Plant) -> Result<Deleted, OwnerError> {
    let path = plant.path("logs").join(FORGOTTEN);
    if path.exists() { read_json(&path) } else { Ok(Deleted::default()) }
}
