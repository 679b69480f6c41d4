//! Windows that the owner deleted.
//!
//! `logs/DEVICE.d/STREAM.forgotten` has their leaves, 32 bytes each: which windows these are does not depend on what a cloud
//! says later. `logs/forgotten.json` has the times.

use std::collections::{BTreeSet, HashSet};

use sotto_wire::Order;

use super::forgotten::{forgotten, path};
use super::leaves::Leaves;
use super::mirror::{Entry, StreamLog};
use super::stored;
use crate::cache;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::write_private;

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

/// Returns true if a window has a signed header and ended before a time.
pub(super) fn ended_before(entry: &Entry<'_>, until: i64) -> bool {
    entry.times().is_some_and(|(_, ended)| ended < until)
}
