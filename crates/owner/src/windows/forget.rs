//! Deletion of windows.

use sotto_cloud_client::Cloud;
use sotto_wire::{Forget, FromLog, MOST_RUNS, Order};

use super::deleted::ended_before;
use super::forgotten::FORGOTTEN;
use super::leaves::Leaves;
use super::mirror::{Entry, StreamLog};
use super::stream_name::StreamName;
use super::{deleted, forgotten, log, stored};
use crate::declared::Plant;
use crate::devices;
use crate::error::OwnerError;
use crate::files::{pretty, write_private};
use crate::orders::Orders;

/// The logs of a device of which windows are deleted, by stream.
pub(crate) struct LogsToForget(Vec<(String, StreamLog)>);

/// Returns the logs of a device as the cloud has them. None without a record of the device.
pub(crate) fn logs_to_forget(plant: &Plant, cloud: &Cloud, device: &str) -> Result<LogsToForget, OwnerError> {
    let Some(record) = devices::record(plant, device)? else { return Ok(LogsToForget(Vec::new())) };
    let orders = Orders::new(plant, cloud);
    let log = |stream: &str| Ok((stream.to_owned(), log::sync_log(&orders, &record, stream)?));
    Ok(LogsToForget(record.streams().into_iter().map(log).collect::<Result<_, OwnerError>>()?))
}

impl LogsToForget {
    /// Returns the orders to delete the windows that ended before a time, and those that were deleted before: an order says all
    /// that is deleted of a stream. `given` are the earlier orders.
    pub(crate) fn orders(&self, device: &str, until: i64, given: &[Order]) -> Vec<Forget> {
        let of = |(stream, log): &(String, StreamLog)| {
            let earlier = given.iter().map(Order::parts).filter(|order| order.is_about(device, stream));
            let before = earlier.filter_map(|order| Some(order.forget()?.next)).max().unwrap_or_default();
            orders(stream, log, until, before)
        };
        self.0.iter().flat_map(of).collect()
    }

    /// Returns true if windows that ended before a time are not deleted yet.
    pub(crate) fn has_more(&self, until: i64) -> bool {
        self.0.iter().any(|(_, log)| log.entries().any(|entry| ended_before(&entry, until)))
    }
}

/// `before` is the number behind the windows that earlier orders deleted.
fn orders(stream: &str, log: &StreamLog, until: i64, before: u64) -> Vec<Forget> {
    // One without a header has its time and its number from the cloud alone: no order names it.
    let is_named = |entry: &Entry<'_>| entry.is_deleted_here() || ended_before(entry, until);
    let named = || log.entries().filter(is_named);
    let (size, root) = (log.tree().size(), log.tree().root());
    let all = FromLog::of(size, root, named().map(|entry| entry.position));
    let signed = named().filter(Entry::is_signed);
    let next = signed.map(|entry| entry.sequence().saturating_add(1)).max().unwrap_or_default().max(before);
    let of_runs = |runs: &[(u64, u64)]| {
        let from_log = Some(FromLog { size, root, runs: runs.to_vec() });
        Forget { stream: Some(stream.to_owned()), until, next, from_log }
    };
    all.runs.chunks(MOST_RUNS).map(of_runs).collect()
}

/// Returns the orders to delete those windows again that a log has and the owner deleted before, as a backup brought them back:
/// the earlier orders, `given`, are about another log. The log comes from the cloud.
pub(super) fn orders_again(
    plant: &Plant,
    name: StreamName<'_>,
    log: &StreamLog,
    given: &[Order],
) -> Result<Vec<Forget>, OwnerError> {
    if !log.brought_back {
        return Ok(Vec::new());
    }
    let given = || given.iter().map(Order::parts).filter(|order| order.is_about(name.device, name.stream));
    let noted = forgotten::deleted(plant)?.0.get(name.device).map(|deletion| deletion.until);
    let until = given().filter_map(|order| Some(order.forget()?.until)).max().or(noted).unwrap_or(i64::MIN);
    let before = given().filter_map(|order| Some(order.forget()?.next)).max().unwrap_or_default();
    // No others, whenever they ended.
    let again = orders(name.stream, log, i64::MIN, before);
    Ok(again.into_iter().map(|forget| Forget { until, ..forget }).collect())
}

/// Records that the owner deletes a device's windows that ended before a time, and drops their heads here.
pub(crate) fn note_deleted(
    plant: &Plant,
    cloud: &Cloud,
    device: &str,
    until: i64,
    LogsToForget(logs): &LogsToForget,
) -> Result<(), OwnerError> {
    devices::make_log_folder(plant, device)?;
    let _lock = stored::lock_logs(plant, device)?;
    let _all = stored::lock_all_logs(plant)?;
    let mut deleted = forgotten::deleted(plant)?;
    let known = deleted.0.entry(device.to_owned()).or_default();
    known.until = known.until.max(until);
    for (stream, _) in logs {
        let name = StreamName { device, stream };
        let mut log = stored::read_log(plant, name)?;
        deleted::note(plant, Leaves { cloud, name }, &mut log, until)?;
    }
    write_private(&plant.path("logs").join(FORGOTTEN), &pretty(&deleted)?)
}

#[cfg(test)]
mod tests {
    use sotto_wire::LogItem;

    use super::*;

    /// Returns a log of windows that were deleted, by number and whether by the owner, and of one that cannot be read.
    fn log(windows: impl IntoIterator<Item = (u64, bool)>, unread: Option<u64>) -> StreamLog {
        let mut log = StreamLog::default();
        for (sequence, here) in windows {
            let leaf = [sequence as u8; 32];
            log.push(&LogItem::Gone { sequence, leaf }, &[leaf], |_| here).unwrap();
        }
        if let Some(sequence) = unread {
            let leaf = [sequence as u8; 32];
            log.push(&LogItem::Unread { sequence, leaf, id: [1; 16], bytes: 1 }, &[leaf], |_| false).unwrap();
        }
        log
    }

    #[test]
    fn an_order_names_positions_and_the_number_behind_all_that_were_deleted() {
        // Two were deleted before; the cloud gives no header of the others, whose time and number are only its word.
        let log = log([(0, true), (9, true), (4, false)], Some(u64::MAX));
        let orders = orders("load", &log, 5, 10);
        let [Forget { stream: Some(stream), until: 5, next: 10, from_log: Some(windows) }] = &orders[..]
        else {
            panic!("{orders:?}");
        };
        assert_eq!((stream.as_str(), windows.size, windows.root), ("load", 4, log.tree().root()));
        assert_eq!(windows.runs, [(0, 2)]);
    }

    #[test]
    fn many_runs_make_many_orders() {
        let log = log((0..2 * MOST_RUNS as u64 + 3).map(|sequence| (sequence, sequence % 2 == 0)), None);
        let runs: Vec<usize> = orders("load", &log, 5, 0)
            .iter()
            .filter_map(|order| Some(order.from_log.as_ref()?.runs.len()))
            .collect();
        assert_eq!(runs, [MOST_RUNS, 2]);
    }
}
