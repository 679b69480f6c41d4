//! The orders of the owner's other computers about logs that are kept here.

use std::collections::HashSet;

use sotto_cloud_client::Cloud;
use sotto_wire::{Digest, Order, OrderParts};

use super::stream_name::StreamName;
use super::{deleted, log, stored};
use crate::declared::Plant;
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;
use crate::orders::{self, Learnt};

/// Returns the leaves of the windows that the cloud has in its log of a stream, and no longer has itself.
fn gone(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
    stream: &str,
) -> Result<HashSet<Digest>, OwnerError> {
    let (log, _) = log::cloud_log(plant, cloud, record, stream)?;
    let gone = log.entries.into_iter().filter(|entry| entry.signed.is_none() && entry.id.is_empty());
    Ok(gone.map(|entry| entry.leaf).collect())
}

/// Learns the orders of the owner's other computers about the logs that are kept here. Returns true if windows are deleted by
/// them that counted here until now, and notes on orders under unknown keys.
pub(crate) fn learn_orders(plant: &Plant, cloud: &Cloud) -> Result<(bool, Vec<String>), OwnerError> {
    let (Learnt { ours: orders, unknown }, mut any) = (orders::learn(plant, cloud)?, false);
    for (device, record) in devices::all_records(plant)? {
        let names_no_log = |order: &OrderParts| {
            order.device == device && order.forget().is_some_and(|forget| forget.from_log.is_none())
        };
        let looks = orders.iter().map(Order::parts).any(names_no_log);
        let _lock = stored::lock_logs(plant, &device)?;
        let mut of_device = false;
        for stream in stored::kept_streams(plant, &device) {
            let name = StreamName { device: &device, stream: &stream };
            let mut log = stored::read_log(plant, name)?;
            deleted::leave_out_deleted(plant, name, &mut log)?;
            let gone = looks.then(|| gone(plant, cloud, &record, &stream)).transpose()?;
            of_device |= deleted::learn_deleted(plant, &orders, name, &mut log, gone.as_ref())?;
        }
        if of_device {
            deleted::drop_headers(plant, &device)?;
        }
        any |= of_device;
    }
    Ok((any, orders::notes(&unknown)))
}
