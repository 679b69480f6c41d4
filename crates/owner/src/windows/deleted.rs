//! Windows that the owner deleted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::StreamLog;
use super::stream_name::StreamName;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::read_json;

pub(super) const FORGOTTEN: &str = "forgotten.json";

/// The owner's deletions, by device.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Deleted(pub(super) BTreeMap<String, Deletion>);

/// A deletion: the windows that ended before `until`, among those in the logs at that time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Deletion {
    /// Milliseconds since 1970.
    pub(super) until: i64,
    /// Number of windows in each log at the time of deletion.
    pub(super) sizes: BTreeMap<String, u64>,
}

/// Drops the headers of windows that the owner deleted, and marks these windows as deleted.
pub(super) fn leave_out_deleted(
    plant: &Plant,
    name: StreamName<'_>,
    log: &mut StreamLog,
) -> Result<(), OwnerError> {
    let deleted = deleted(plant)?;
    let Some(Deletion { until, sizes }) = deleted.0.get(name.device) else { return Ok(()) };
    // Windows that came later were not deleted.
    let size = sizes.get(name.stream).copied().unwrap_or_default();
    let had = usize::try_from(size).unwrap_or(usize::MAX).min(log.entries.len());
    for entry in &mut log.entries[..had] {
        let is_old = entry.signed.as_ref().is_some_and(|signed| signed.header().ended_at < *until);
        if is_old || (entry.signed.is_none() && entry.id.is_empty()) {
            (entry.signed, entry.id, entry.deleted_here) = (None, String::new(), true);
        }
    }
    Ok(())
}

pub(super) fn deleted(plant: &Plant) -> Result<Deleted, OwnerError> {
    let path = plant.path("logs").join(FORGOTTEN);
    if path.exists() { read_json(&path) } else { Ok(Deleted::default()) }
}
