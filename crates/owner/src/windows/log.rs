//! Logs of streams, compared with the cloud's earlier statements.

use std::collections::{BTreeSet, HashSet};

use rayon::prelude::*;
use sotto_cloud_client::Cloud;
use sotto_rlwe::KeyId;
use sotto_wire::{Digest, EnvelopeHeader, LogItem, LogPage, LoggedWindow, StreamHead};

use super::leaves::Leaves;
use super::mirror::StreamLog;
use super::stream_name::StreamName;
use super::used::Used;
use super::{deleted, receipts, stored};
use crate::declared::{CloudKeys, Plant};
use crate::devices::DeviceRecord;
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::orders::Orders;
use crate::{declared, devices};

/// Updates the log of a device's stream to the cloud's present state: fetches new windows, verifies their
/// signatures, and compares the whole log with the cloud's signed head.
pub(crate) fn sync_log(
    orders: &Orders<'_>,
    record: &DeviceRecord,
    stream: &str,
) -> Result<StreamLog, OwnerError> {
    let Orders { plant, cloud, .. } = *orders;
    devices::make_log_folder(plant, &record.device)?;
    let _lock = stored::lock_logs(plant, &record.device)?;
    let name = StreamName { device: record.device.as_str(), stream };
    let mut log = stored::read_log(plant, name)?;
    let had = log.len();
    let head = follow(cloud, name, &Trusted::of(plant, record, stream)?, &mut log)?;
    receipts::compare(orders, name, &log, had)?;
    if log.len() > had {
        stored::append_log(plant, name, &mut log, &head)?;
    }
    if log.pieces().any(|(first, _)| first.is_taken()) {
        deleted::learn_deleted(plant, Leaves { cloud, name }, &orders.learn()?.ours, &mut log, None)?;
    }
    Ok(log)
}

/// Returns the cloud's log of a stream, without an earlier state to compare with, and the frame of its head. Changes no file.
pub(super) fn cloud_log(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
    stream: &str,
) -> Result<(StreamLog, Vec<u8>), OwnerError> {
    let name = StreamName { device: record.device.as_str(), stream };
    let mut log = StreamLog::default();
    let head = follow(cloud, name, &Trusted::of(plant, record, stream)?, &mut log)?;
    Ok((log, head))
}

/// Appends the cloud's windows after those of a log, and compares the whole with the cloud's signed head. Returns the
/// frame of the head.
fn follow(
    cloud: &Cloud,
    name: StreamName<'_>,
    Trusted { pinned, keys, forgotten }: &Trusted,
    log: &mut StreamLog,
) -> Result<Vec<u8>, OwnerError> {
    let StreamName { device, stream } = name;
    let had = log.len();
    let mut used: Option<Used> = None;
    loop {
        let size = log.len();
        let page = LogPage::read(&cloud.log(device, stream, size, None)?);
        let page = page.map_err(|error| OwnerError::WrongAnswer(format!("a page of the log: {error}")))?;
        let head = head(&page.head, name, pinned)?;
        if head.size > MOST_WINDOWS || log.memory() > MOST_MEMORY {
            return Err(OwnerError::Unanswerable(format!(
                "the cloud's log of stream {stream} of {device} has more than 2^40 windows, or takes more than 4 GiB of memory: give \
                 the device a new bundle with `sotto device renew {device}`"
            )));
        }
        if head.size < size {
            let (device, stream) = (device.to_owned(), stream.to_owned());
            return Err(Lie::OlderDatabase { device, stream, had: size, has: head.size }.into());
        }
        if head.size > size && page.items.is_empty() {
            let (device, stream) = (device.to_owned(), stream.to_owned());
            return Err(Lie::ShortLog { device, stream, given: size, size: head.size }.into());
        }
        if !page.items.is_empty() {
            let used = used.get_or_insert_with(|| Used::of(log));
            for (item, leaves) in page.items.iter().zip(checked(name, &page.items, keys)) {
                let leaves = leaves?;
                used.add(name, item, &leaves)?;
                let wrong = |error| OwnerError::WrongAnswer(format!("a page of the log: {error}"));
                log.push(item, &leaves, |leaf| forgotten.contains(leaf)).map_err(wrong)?;
            }
            used.end_page();
        }
        if log.len() < head.size {
            continue;
        }
        if (log.tree().size(), log.tree().root()) != (head.size, head.root) {
            let (device, stream) = (device.to_owned(), stream.to_owned());
            return Err(Lie::ChangedLog { device, stream, had }.into());
        }
        return Ok(page.head);
    }
}

/// Returns the log of a stream as it was last compared with the cloud's.
pub(crate) fn kept_log(plant: &Plant, device: &str, stream: &str) -> Result<StreamLog, OwnerError> {
    devices::make_log_folder(plant, device)?;
    let _lock = stored::lock_logs(plant, device)?;
    stored::read_log(plant, StreamName { device, stream })
}

/// Largest number of windows in a log.
const MOST_WINDOWS: u64 = 1 << 40;
/// Largest memory that the windows of a log take, in bytes: 4 GiB.
const MOST_MEMORY: usize = 4 << 30;

/// The facts by which the cloud's log of a stream is judged.
struct Trusted {
    /// The cloud's keys.
    pinned: CloudKeys,
    keys: SigningKeys,
    /// The leaves of windows that this plant's owner deleted.
    forgotten: HashSet<Digest>,
}

impl Trusted {
    fn of(plant: &Plant, record: &DeviceRecord, stream: &str) -> Result<Self, OwnerError> {
        Ok(Self {
            pinned: declared::cloud_keys(plant)?,
            keys: SigningKeys::of(plant, record)?,
            forgotten: super::forgotten(plant, &record.device, stream)?,
        })
    }
}

/// The keys with which a device signs or signed.
struct SigningKeys {
    present: [u8; 32],
    /// Keys under which the device encrypts now. Windows under them must be signed with the present key.
    encryption: BTreeSet<KeyId>,
    earlier: Vec<[u8; 32]>,
}

impl SigningKeys {
    fn of(plant: &Plant, record: &DeviceRecord) -> Result<Self, OwnerError> {
        let keys = devices::verifying_keys(plant, record)?;
        let (present, earlier) = keys.split_first().ok_or(OwnerError::Randomness)?;
        let encryption = devices::key_names(plant, record)?.into_values().collect();
        Ok(Self { present: *present, encryption, earlier: earlier.to_vec() })
    }

    /// Returns true if the device signed this item: with the present key, or with an earlier one if its windows are not under
    /// a present encryption key.
    fn signed(&self, item: &LogItem, under: &KeyId) -> bool {
        item.verify(&self.present).is_ok()
            || (!self.encryption.contains(under) && self.earlier.iter().any(|key| item.verify(key).is_ok()))
    }
}

/// Reads the head of a page, and checks that the cloud signed it for this stream.
pub(super) fn head(frame: &[u8], name: StreamName<'_>, pinned: &CloudKeys) -> Result<StreamHead, OwnerError> {
    let read = StreamHead::read(frame);
    let head = read.map_err(|error| OwnerError::WrongAnswer(format!("the head of a log: {error}")))?;
    pinned.check_head(&head)?;
    if (head.device.as_str(), head.stream.as_str()) != (name.device, name.stream) {
        return Err(OwnerError::WrongAnswer("the head is of another log".to_owned()));
    }
    Ok(head)
}

/// Checks the items of a page, and that their device signed each. Returns their leaves, in order.
fn checked(name: StreamName<'_>, items: &[LogItem], keys: &SigningKeys) -> Vec<Result<Vec<Digest>, Lie>> {
    // A signature takes far longer than the other work of an item, so threads share the items.
    items.par_iter().map(|item| check(name, item, keys)).collect()
}

/// Checks that the device signed an item for this log, and returns the leaves of its windows.
fn check(name: StreamName<'_>, item: &LogItem, keys: &SigningKeys) -> Result<Vec<Digest>, Lie> {
    let of = match item {
        LogItem::Gone { .. } | LogItem::Unread { .. } => None,
        LogItem::Old { signed, .. } => {
            let EnvelopeHeader { device, stream, key, .. } = signed.header();
            Some((device.as_str(), stream.as_str(), *key))
        }
        LogItem::Alone { .. } | LogItem::Group { .. } => {
            let stream = item.logged().first().map(LoggedWindow::stream);
            stream.map(|stream| (stream.device(), stream.stream(), stream.key()))
        }
    };
    if let Some((device, stream, key)) = of {
        let (of, sequence) = ((device, stream), item.sequence());
        let (device, stream) = (name.device.to_owned(), name.stream.to_owned());
        if item.is_unsigned() {
            return Err(Lie::UnsignedWindow { device, stream, sequence });
        }
        if !keys.signed(item, &key) {
            return Err(Lie::ChangedWindow { device, stream, sequence });
        }
        if of != (name.device, name.stream) {
            return Err(Lie::ExchangedWindow { device, stream, sequence });
        }
    }
    Ok(item.leaves())
}

#[cfg(test)]
mod tests;
