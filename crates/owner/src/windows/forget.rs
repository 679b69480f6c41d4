//! Deletion of windows.

use sotto_cloud_client::Cloud;

use super::deleted::FORGOTTEN;
use super::stream_name::StreamName;
use super::{deleted, log, stored};
use crate::declared::Plant;
use crate::devices;
use crate::devices::DeviceRecord;
use crate::error::OwnerError;
use crate::files::{pretty, write_private};

/// Records that the owner deletes a device's windows that ended before a time, and drops their headers here.
pub(crate) fn note_deleted(plant: &Plant, cloud: &Cloud, device: &str, until: i64) -> Result<(), OwnerError> {
    let record = devices::record(plant, device)?;
    let mut logs = Vec::new();
    for stream in record.iter().flat_map(DeviceRecord::streams) {
        if let Some(record) = &record {
            logs.push((stream.to_owned(), log::sync_log(plant, cloud, record, stream)?));
        }
    }
    devices::make_log_folder(plant, device)?;
    let _lock = stored::lock_logs(plant, device)?;
    {
        let _all = stored::lock_all_logs(plant)?;
        let mut deleted = deleted::deleted(plant)?;
        let known = deleted.0.entry(device.to_owned()).or_default();
        known.until = known.until.max(until);
        for (stream, log) in &logs {
            deleted::note(plant, StreamName { device, stream }, log, until)?;
        }
        write_private(&plant.path("logs").join(FORGOTTEN), &pretty(&deleted)?)?;
    }
    for stream in stored::kept_streams(plant, device) {
        let name = StreamName { device, stream: &stream };
        let mut log = stored::read_log(plant, name)?;
        deleted::leave_out_deleted(plant, name, &mut log)?;
        stored::replace_log(plant, name, &log.entries)?;
    }
    Ok(())
}
