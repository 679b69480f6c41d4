//! The orders of the owner's other computers about logs that are kept here.

use std::collections::HashSet;

use sotto_cloud_client::Cloud;
use sotto_wire::{Order, OrderParts};

use super::leaves::Leaves;
use super::mirror::StreamLog;
use super::stream_name::StreamName;
use super::{deleted, log, stored};
use crate::declared::Plant;
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;
use crate::orders::{self, Learnt};

/// Returns the positions of windows of a kept log that the cloud no longer has. Returns none if the cloud's log is another one.
fn gone(
    plant: &Plant,
    leaves: Leaves<'_>,
    record: &DeviceRecord,
    kept: &StreamLog,
) -> Result<HashSet<u64>, OwnerError> {
    let (there, _) = log::cloud_log(plant, leaves.cloud, record, leaves.name.stream)?;
    if there.root_of(kept.len(), |block| leaves.block(&there, block))? != Some(kept.tree().root()) {
        return Ok(HashSet::new());
    }
    let gone = there.entries().filter(|entry| entry.is_taken() || entry.is_deleted_here());
    Ok(gone.map(|entry| entry.position).filter(|position| *position < kept.len()).collect())
}

/// Learns the orders of the owner's other computers about the logs that are kept here. Returns true if windows are deleted by
/// them that counted here until now, and notes on orders under unknown keys.
pub(crate) fn learn_orders(plant: &Plant, cloud: &Cloud) -> Result<(bool, Vec<String>), OwnerError> {
    let (Learnt { ours: orders, unknown }, mut any) = (orders::learn(plant, cloud)?, false);
    for (device, record) in devices::all_records(plant)? {
        // No log was read yet.
        if !devices::log_folder(plant, &device).exists() {
            continue;
        }
        let names_no_log = |order: &OrderParts| {
            order.device == device && order.forget().is_some_and(|forget| forget.from_log.is_none())
        };
        let looks = orders.iter().map(Order::parts).any(names_no_log);
        let _lock = stored::lock_logs(plant, &device)?;
        for stream in stored::kept_streams(plant, &device) {
            let leaves = Leaves { cloud, name: StreamName { device: &device, stream: &stream } };
            let mut log = stored::read_log(plant, leaves.name)?;
            let gone = looks.then(|| gone(plant, leaves, &record, &log)).transpose()?;
            any |= deleted::learn_deleted(plant, leaves, &orders, &mut log, gone.as_ref())?;
        }
    }
    Ok((any, orders::notes(&unknown)))
}
