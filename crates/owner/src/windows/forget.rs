//! Deletion of windows.

use sotto_cloud_client::Cloud;
use sotto_wire::{Forget, FromLog, MOST_RUNS};

use super::deleted::{FORGOTTEN, ended_before};
use super::entry::{Entry, StreamLog};
use super::stream_name::StreamName;
use super::{deleted, log, stored};
use crate::declared::Plant;
use crate::devices;
use crate::devices::DeviceRecord;
use crate::error::OwnerError;
use crate::files::{pretty, write_private};

/// Records that the owner deletes a device's windows that ended before a time, and drops their headers here. Returns what is to
/// be ordered from the cloud, stream by stream; none for windows that were deleted before.
pub(crate) fn note_deleted(
    plant: &Plant,
    cloud: &Cloud,
    device: &str,
    until: i64,
) -> Result<Vec<Forget>, OwnerError> {
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
    Ok(logs.iter().flat_map(|(stream, log)| orders(stream, log, until)).collect())
}

/// Returns the orders to delete the windows of a log that ended before a time, and those whose time the cloud alone knows.
fn orders(stream: &str, log: &StreamLog, until: i64) -> Vec<Forget> {
    let is_named =
        |entry: &Entry| ended_before(entry, until) || (entry.signed.is_none() && !entry.id.is_empty());
    let positions =
        (0..).zip(&log.entries).filter(|(_, entry)| is_named(entry)).map(|(position, _)| position);
    let (size, root) = (log.tree.size(), log.tree.root());
    let all = FromLog::of(size, root, positions);
    let gone = log.entries.iter().filter(|entry| is_named(entry) || entry.deleted_here);
    let next = gone.map(|entry| entry.sequence.saturating_add(1)).max().unwrap_or_default();
    let of_runs = |runs: &[(u64, u64)]| {
        let from_log = Some(FromLog { size, root, runs: runs.to_vec() });
        Forget { stream: Some(stream.to_owned()), until, next, from_log }
    };
    all.runs.chunks(MOST_RUNS).map(of_runs).collect()
}

#[cfg(test)]
mod tests {
    use sotto_wire::Frontier;

    use super::*;

    fn entry(sequence: u64, id: &str, deleted_here: bool) -> Entry {
        let leaf = [sequence as u8; 32];
        Entry { id: id.to_owned(), bytes: 1, sequence, leaf, signed: None, deleted_here }
    }

    #[test]
    fn an_order_names_positions_and_the_number_behind_all_that_were_deleted() {
        // The second was deleted before; the cloud cannot read the others.
        let entries = vec![entry(0, "aa", false), entry(9, "", true), entry(2, "bb", false)];
        let tree = Frontier::of(entries.iter().map(|entry| entry.leaf));
        let log = StreamLog { entries, tree: tree.clone(), bytes: 0 };
        let orders = orders("load", &log, 5);
        let [Forget { stream: Some(stream), until: 5, next: 10, from_log: Some(windows) }] = &orders[..]
        else {
            panic!("{orders:?}");
        };
        assert_eq!((stream.as_str(), windows.size, windows.root), ("load", 3, tree.root()));
        assert_eq!(windows.runs, [(0, 1), (2, 3)]);
    }

    #[test]
    fn many_runs_make_many_orders() {
        let entries: Vec<Entry> = (0..2 * MOST_RUNS as u64 + 3)
            .map(|sequence| entry(sequence, if sequence % 2 == 0 { "aa" } else { "" }, false))
            .collect();
        let tree = Frontier::of(entries.iter().map(|entry| entry.leaf));
        let log = StreamLog { entries, tree, bytes: 0 };
        let runs: Vec<usize> = orders("load", &log, 5)
            .iter()
            .filter_map(|order| Some(order.from_log.as_ref()?.runs.len()))
            .collect();
        assert_eq!(runs, [MOST_RUNS, 2]);
    }
}
