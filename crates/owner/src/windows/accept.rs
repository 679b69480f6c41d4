//! Logs of a cloud that was set back, accepted by the owner.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use sotto_cloud_client::{Cloud, CloudError};
use sotto_wire::Ordered;

use super::leaves::Leaves;
use super::mirror::{Entry, StreamLog};
use super::stream_name::StreamName;
use super::{forget, log, receipts, stored};
use crate::cache;
use crate::declared::Plant;
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::orders::{self, Orders};

/// A stream whose log the cloud does not continue, with the windows that are given up if that is accepted.
///
/// ```no_run
/// use sotto_owner::{GivenUp, Plant};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// let lost: Vec<GivenUp> = plant.set_back()?;
/// let windows: u64 = lost.iter().map(|stream| stream.windows).sum();
/// println!("{windows} windows would be given up");
/// plant.accept(&lost)?;
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GivenUp {
    /// The device's name in the cloud: its first one.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// Number of windows that the log in the folder has and the cloud's log has not.
    pub windows: u64,
    /// Start of the first of them, as RFC 3339; None if it is not known.
    pub from: Option<String>,
    /// End of the last of them, as RFC 3339.
    pub to: Option<String>,
    /// Number of windows that the cloud's log has.
    pub has: u64,
    /// The root of that log's Merkle tree, in hexadecimal. This log is accepted, or one that continues it, and no other.
    pub root: String,
}

/// The logs that were accepted of a device.
///
/// ```no_run
/// use sotto_owner::{Accepted, Plant};
///
/// let Accepted { streams, moved } = Plant::open("dairy".as_ref())?.accept_logs("boiler")?;
/// let windows: u64 = streams.iter().map(|stream| stream.windows).sum();
/// println!("{windows} windows are given up; logs were moved: {moved}");
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Accepted {
    /// The streams, each with the windows that are given up.
    pub streams: Vec<GivenUp>,
    /// True if logs of before were moved to `logs/old`.
    pub moved: bool,
}

/// The cloud's log of a stream, about to be taken in the place of the one in the folder.
struct Taken {
    device: String,
    stream: String,
    log: StreamLog,
    /// The frame of its head.
    head: Vec<u8>,
    /// Number of windows that the order names, from the first one on.
    size: u64,
}

/// Returns the streams whose logs the cloud does not continue, those among them that were never read whole.
///
/// # Errors
/// [`OwnerError::Lie`] if the cloud's own log is false: such a cloud is not accepted.
pub(crate) fn set_back(plant: &Plant) -> Result<Vec<GivenUp>, OwnerError> {
    let cloud = plant.cloud()?;
    let (orders, mut found) = (Orders::new(plant, &cloud), Vec::new());
    for (device, record) in devices::all_records(plant)? {
        let kept = stored::kept_streams(plant, &device);
        for stream in streams_of(&kept, &record) {
            match log::sync_log(&orders, &record, stream) {
                Ok(_) => {}
                // A cloud that was set back may know neither the device nor its stream.
                Err(OwnerError::Cloud(CloudError::Refused { status: 404, .. }))
                    if !kept.iter().any(|kept| kept == stream) => {}
                Err(OwnerError::Lie(
                    Lie::OlderDatabase { .. }
                    | Lie::ChangedLog { .. }
                    | Lie::DoubledWindow { .. }
                    | Lie::OtherReceipt { .. },
                )) => {
                    let kept = log::kept_log(plant, &device, stream)?;
                    let (there, _) = log::cloud_log(plant, &cloud, &record, stream)?;
                    found.push(given_up(plant, StreamName { device: &device, stream }, &kept, &there)?);
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// Returns the streams of which there are logs, and those of a device's bundles.
fn streams_of<'s>(kept: &'s [String], record: &'s DeviceRecord) -> BTreeSet<&'s str> {
    kept.iter().map(String::as_str).chain(record.streams()).collect()
}

/// Compares a log in the folder with the cloud's, which has to be true in itself.
fn given_up(
    plant: &Plant,
    name: StreamName<'_>,
    kept: &StreamLog,
    there: &StreamLog,
) -> Result<GivenUp, OwnerError> {
    let clock = plant.settings().clock()?;
    let lost = lost(kept, there);
    let times = || lost.iter().filter_map(Entry::times);
    Ok(GivenUp {
        device: name.device.to_owned(),
        stream: name.stream.to_owned(),
        windows: lost.len() as u64,
        from: times().map(|(started, _)| started).min().map(|at| clock.rfc3339(at)),
        // The header has the last millisecond.
        to: times().map(|(_, ended)| ended.saturating_add(1)).max().map(|at| clock.rfc3339(at)),
        has: there.len(),
        root: hex::encode(there.tree().root()),
    })
}

/// Returns the windows that only one log has, without those that the owner deleted. Leaves are not kept: a window is another one's
/// if both have one number and, where they have a head, one time and pad.
fn lost<'l>(kept: &'l StreamLog, there: &'l StreamLog) -> Vec<Entry<'l>> {
    let others: HashMap<u64, Entry<'_>> = there.entries().map(|entry| (entry.sequence(), entry)).collect();
    let is_there = |entry: &Entry<'_>| {
        others.get(&entry.sequence()).is_some_and(|other| {
            let both = entry.is_signed() && other.is_signed();
            !both
                || (entry.times(), entry.mask(), entry.named())
                    == (other.times(), other.mask(), other.named())
        })
    };
    kept.entries().filter(|entry| !entry.is_deleted_here() && !is_there(entry)).collect()
}

/// Accepts the cloud's logs of these streams, as they were shown. The logs in the folder are moved to `logs/old/TIME`, as
/// evidence.
///
/// # Errors
/// [`OwnerError::ChangedLog`] if a log does not continue the one that was shown.
pub(crate) fn accept(plant: &Plant, streams: &[GivenUp]) -> Result<(), OwnerError> {
    let (cloud, records) = (plant.cloud()?, devices::all_records(plant)?);
    let mut all = Vec::with_capacity(streams.len());
    for GivenUp { device, stream, has, root, .. } in streams {
        let missing = || OwnerError::NotDeclared { kind: "enrolled device", name: device.clone() };
        let record = records.get(device).ok_or_else(missing)?;
        let (log, head) = log::cloud_log(plant, &cloud, record, stream)?;
        let leaves = Leaves { cloud: &cloud, name: StreamName { device, stream } };
        let shown = log.root_of(*has, |block| leaves.block(&log, block))?;
        if shown.is_none_or(|shown| hex::encode(shown) != *root) {
            let device = plant.shown_device(device).to_owned();
            return Err(OwnerError::ChangedLog { device, stream: stream.clone() });
        }
        receipts::compare_behind(leaves.name, &log, *has)?;
        all.push(Taken { device: device.clone(), stream: stream.clone(), log, head, size: *has });
    }
    take(plant, &cloud, all).map(|_| ())
}

/// Accepts the cloud's logs of a device, whatever stood in those of the folder.
pub(crate) fn accept_logs(plant: &Plant, device: &str) -> Result<Accepted, OwnerError> {
    let missing = || OwnerError::NotDeclared { kind: "enrolled device", name: device.to_owned() };
    let (cloud, record) = (plant.cloud()?, devices::record(plant, device)?.ok_or_else(missing)?);
    let kept = stored::kept_streams(plant, device);
    let (mut all, mut streams) = (Vec::new(), Vec::new());
    for stream in streams_of(&kept, &record) {
        let name = StreamName { device, stream };
        let (log, head) = log::cloud_log(plant, &cloud, &record, stream)?;
        if log.is_empty() && !kept.iter().any(|kept| kept == stream) {
            continue;
        }
        // A damaged log says nothing about windows that are given up.
        let before = log::kept_log(plant, device, stream).unwrap_or_default();
        streams.push(given_up(plant, name, &before, &log)?);
        let size = log.len();
        all.push(Taken { device: device.to_owned(), stream: stream.to_owned(), log, head, size });
    }
    Ok(Accepted { moved: take(plant, &cloud, all)?, streams })
}

/// Takes the cloud's logs in the place of those in the folder. First signed, then done. An order that the cloud does not take is
/// noted, and sent again with the next one. Returns true if there were logs in the folder.
fn take(plant: &Plant, cloud: &Cloud, mut all: Vec<Taken>) -> Result<bool, OwnerError> {
    // Kept sums are of windows of the logs that are given up.
    all.iter().try_for_each(|taken| cache::forget(plant, &taken.device))?;
    let (given, mut signed) = (orders::learn(plant, cloud)?.ours, Vec::new());
    for Taken { device, stream, log, size, .. } in &all {
        let leaves = Leaves { cloud, name: StreamName { device, stream } };
        let root = log.root_of(*size, |block| leaves.block(log, block))?;
        let changed = || OwnerError::ChangedLog { device: device.clone(), stream: stream.clone() };
        let accept = Ordered::Accept { stream: stream.clone(), size: *size, root: root.ok_or_else(changed)? };
        signed.push(orders::sign(plant, device, accept)?);
        // A backup may have brought back windows that the owner deleted.
        for again in forget::orders_again(plant, leaves.name, log, &given)? {
            signed.push(orders::sign(plant, device, Ordered::Forget(again))?);
        }
    }
    let (time, mut moved) = (jiff::Timestamp::now().as_millisecond(), false);
    let devices: BTreeSet<&str> = all.iter().map(|taken| taken.device.as_str()).collect();
    for device in devices {
        let is_moved = |name: &str| all.iter().any(|taken| taken.device == device && taken.stream == name);
        moved |= stored::put_logs_aside(plant, device, time, is_moved)?;
    }
    for Taken { device, stream, log, head, .. } in &mut all {
        devices::make_log_folder(plant, device)?;
        let _lock = stored::lock_logs(plant, device)?;
        stored::replace_log(plant, StreamName { device, stream }, log, head)?;
    }
    for order in signed {
        match order.send(cloud) {
            Ok(_) | Err(OwnerError::Cloud(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(moved)
}
