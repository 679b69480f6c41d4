//! Logs of a cloud that was set back, accepted by the owner.

use std::collections::BTreeSet;

use serde::Serialize;
use sotto_cloud_client::Cloud;
use sotto_wire::Ordered;

use super::entry::StreamLog;
use super::stream_name::StreamName;
use super::{deleted, log, stored};
use crate::declared::Plant;
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::orders;

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
}

/// Returns the streams whose logs the cloud does not continue.
///
/// # Errors
/// [`OwnerError::Lie`] if the cloud's own log is false: such a cloud is not accepted.
pub(crate) fn set_back(plant: &Plant) -> Result<Vec<GivenUp>, OwnerError> {
    let cloud = plant.cloud()?;
    let mut found = Vec::new();
    for (device, record) in devices::all_records(plant)? {
        let mut streams = stored::kept_streams(plant, &device);
        streams.sort_unstable();
        for stream in streams {
            match log::sync_log(plant, &cloud, &record, &stream) {
                Ok(_) => {}
                Err(OwnerError::Lie(
                    Lie::OlderDatabase { .. }
                    | Lie::ChangedLog { .. }
                    | Lie::DoubledWindow { .. }
                    | Lie::OtherReceipt { .. },
                )) => found.push(given_up(plant, &cloud, &record, &stream)?),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// Compares a log in the folder with the cloud's, which has to be true in itself.
fn given_up(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
    stream: &str,
) -> Result<GivenUp, OwnerError> {
    let name = StreamName { device: &record.device, stream };
    let mut kept = log::kept_log(plant, &record.device, stream)?;
    deleted::leave_out_deleted(plant, name, &mut kept)?;
    let there = log::cloud_log(plant, cloud, record, stream)?;
    let clock = plant.settings().clock()?;
    let lost = lost(&kept, &there);
    let headers = || lost.iter().filter_map(|entry| entry.signed.as_ref()).map(|signed| signed.header());
    Ok(GivenUp {
        device: record.device.clone(),
        stream: stream.to_owned(),
        windows: lost.len() as u64,
        from: headers().map(|header| header.started_at).min().map(|at| clock.rfc3339(at)),
        // The header has the last millisecond.
        to: headers().map(|header| header.ended_at.saturating_add(1)).max().map(|at| clock.rfc3339(at)),
        has: there.entries.len() as u64,
    })
}

/// Returns the windows that only one log has, without those that the owner deleted.
fn lost<'l>(kept: &'l StreamLog, there: &StreamLog) -> Vec<&'l super::entry::Entry> {
    let leaves: BTreeSet<_> = there.entries.iter().map(|entry| entry.leaf).collect();
    kept.entries.iter().filter(|entry| !entry.deleted_here && !leaves.contains(&entry.leaf)).collect()
}

/// Accepts the cloud's logs of these streams. The logs in the folder are moved to `logs/old/TIME`, as evidence.
pub(crate) fn accept(plant: &Plant, streams: &[GivenUp]) -> Result<(), OwnerError> {
    let time = jiff::Timestamp::now().as_millisecond();
    let devices: BTreeSet<&str> = streams.iter().map(|stream| stream.device.as_str()).collect();
    for device in devices {
        let is_moved =
            |name: &str| streams.iter().any(|stream| stream.device == device && stream.stream == name);
        stored::put_logs_aside(plant, device, time, is_moved)?;
    }
    for GivenUp { device, stream, .. } in streams {
        order(plant, device, stream)?;
    }
    Ok(())
}

/// Orders that the cloud's log counts as it is now, if the cloud gives it. An order that the cloud does not take is noted, and
/// sent again with the next one.
fn order(plant: &Plant, device: &str, stream: &str) -> Result<(), OwnerError> {
    let Some(record) = devices::record(plant, device)? else { return Ok(()) };
    let cloud = plant.cloud()?;
    let Ok(log) = log::cloud_log(plant, &cloud, &record, stream) else { return Ok(()) };
    if log.entries.is_empty() {
        return Ok(());
    }
    let (size, root) = (log.tree.size(), log.tree.root());
    let accept = Ordered::Accept { stream: stream.to_owned(), size, root };
    match orders::sign(plant, device, accept)?.send(&cloud) {
        Ok(_) | Err(OwnerError::Cloud(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Accepts the cloud's logs of a device, whatever they are. Returns true if there were logs in the folder.
pub(crate) fn accept_logs(plant: &Plant, device: &str) -> Result<bool, OwnerError> {
    let streams = stored::kept_streams(plant, device);
    for stream in &streams {
        // The windows that an earlier version noted as deleted are in these logs, which may be damaged.
        let name = StreamName { device, stream };
        if let Ok(mut log) = stored::read_log(plant, name) {
            deleted::leave_out_deleted(plant, name, &mut log)?;
        }
    }
    let were_moved =
        stored::put_logs_aside(plant, device, jiff::Timestamp::now().as_millisecond(), |_| true)?;
    // Also of streams whose log was never read whole: it may be false from the beginning.
    let record = devices::record(plant, device)?;
    let all: BTreeSet<&str> =
        streams.iter().map(String::as_str).chain(record.iter().flat_map(DeviceRecord::streams)).collect();
    all.into_iter().try_for_each(|stream| order(plant, device, stream))?;
    Ok(were_moved)
}
