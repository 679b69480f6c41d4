//! Logs of streams, compared with the cloud's earlier statements.

use std::collections::{BTreeSet, HashSet};

use sotto_cloud_client::{Cloud, LoggedWindow};
use sotto_rlwe::KeyId;
use sotto_wire::{SignedHeader, StreamHead, WireError};

use super::entry::{Entry, StreamLog};
use super::stream_name::StreamName;
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
    let had = log.entries.len();
    let head = follow(plant, cloud, record, name, &mut log)?;
    receipts::compare(orders, name, &log.entries, had)?;
    if log.entries.len() > had {
        stored::append_log(plant, name, log.bytes, &log.entries[had..], &head)?;
    }
    deleted::leave_out_deleted(plant, name, &mut log)?;
    if log.entries.iter().any(|entry| entry.id.is_empty() && !entry.deleted_here) {
        deleted::learn_deleted(plant, &orders.learn()?.ours, name, &mut log, None)?;
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
    let head = follow(plant, cloud, record, name, &mut log)?;
    Ok((log, head))
}

/// Appends the cloud's windows after those of a log, and compares the whole with the cloud's signed head. Returns the
/// frame of the head.
fn follow(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
    name: StreamName<'_>,
    log: &mut StreamLog,
) -> Result<Vec<u8>, OwnerError> {
    let StreamName { device, stream } = name;
    let (pinned, keys) = (declared::cloud_keys(plant)?, SigningKeys::of(plant, record)?);
    let had = log.entries.len();
    let mut used: Option<Used> = None;
    loop {
        let size = log.tree.size();
        let page = cloud.log(device, stream, size)?;
        let head = head(&page.head, name, &pinned)?;
        if head.size > MOST_WINDOWS || page.windows.len() as u64 > head.size {
            return Err(OwnerError::Unanswerable(format!(
                "the cloud's log of stream {stream} of {device} has more than {MOST_WINDOWS} windows: give the device a new bundle with \
                 `sotto device renew {device}`"
            )));
        }
        if head.size < size {
            let (device, stream) = (device.to_owned(), stream.to_owned());
            return Err(Lie::OlderDatabase { device, stream, had: size, has: head.size }.into());
        }
        if head.size > size && page.windows.is_empty() {
            let (device, stream) = (device.to_owned(), stream.to_owned());
            return Err(Lie::ShortLog { device, stream, given: size, size: head.size }.into());
        }
        for window in &page.windows {
            let Used { numbers, ids } = used.get_or_insert_with(|| Used::of(log));
            let entry = check(name, window, &keys)?;
            if !numbers.insert(entry.sequence) {
                let (device, stream) = (device.to_owned(), stream.to_owned());
                return Err(Lie::DoubledWindow { device, stream, sequence: entry.sequence }.into());
            }
            if entry.signed.is_some() && !id(&entry.id).is_some_and(|id| ids.insert(id)) {
                let (device, stream) = (device.to_owned(), stream.to_owned());
                return Err(Lie::RepeatedName { device, stream, sequence: entry.sequence }.into());
            }
            log.tree.push(entry.leaf);
            log.entries.push(entry);
        }
        if log.tree.size() < head.size {
            continue;
        }
        if (log.tree.size(), log.tree.root()) != (head.size, head.root) {
            let (device, stream) = (device.to_owned(), stream.to_owned());
            return Err(Lie::ChangedLog { device, stream, had: had as u64 }.into());
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

/// The numbers and the ids of a log's windows, each of which a further window must not have. Made once there is one.
struct Used {
    numbers: HashSet<u64>,
    ids: HashSet<[u8; 16]>,
}

impl Used {
    fn of(log: &StreamLog) -> Self {
        let numbers = log.entries.iter().map(|entry| entry.sequence).collect();
        Self { numbers, ids: log.entries.iter().filter_map(|entry| id(&entry.id)).collect() }
    }
}

/// Returns the bytes of an id. Returns None for zeros, which stand for a deleted window.
fn id(digits: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes).filter(|bytes| *bytes != [0; 16])
}

/// Largest signed header, in bytes: a layout of 16 KiB and the other fields.
const LARGEST_HEADER: u64 = 64 << 10;

/// Largest number of windows in a log.
const MOST_WINDOWS: u64 = 2_000_000;

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

    /// Returns true if the device signed this header: with the present key, or with an earlier one if the window is not
    /// under a present encryption key.
    fn signed(&self, header: &SignedHeader) -> bool {
        if header.verify(&self.present).is_ok() {
            return true;
        }
        !self.encryption.contains(&header.header().key)
            && self.earlier.iter().any(|key| header.verify(key).is_ok())
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

/// Checks a window of a page, and that its device signed the header.
fn check(name: StreamName<'_>, window: &LoggedWindow, keys: &SigningKeys) -> Result<Entry, OwnerError> {
    let LoggedWindow { sequence, leaf, bytes, .. } = *window;
    let id = window.id.clone().unwrap_or_default();
    let Some(frame) = &window.signed else {
        return Ok(Entry { id, bytes, sequence, leaf, signed: None, deleted_here: false });
    };
    let (device, stream) = (name.device.to_owned(), name.stream.to_owned());
    let signed = match SignedHeader::read(frame, LARGEST_HEADER) {
        // The window's hash does not match its stream's header.
        Err(WireError::UnknownStream(_)) => {
            return Err(Lie::ChangedWindow { device, stream, sequence }.into());
        }
        read => read.map_err(|error| OwnerError::WrongAnswer(format!("a signed header: {error}")))?,
    };
    if signed.is_unsigned() {
        return Err(Lie::UnsignedWindow { device, stream, sequence }.into());
    }
    if !keys.signed(&signed) {
        return Err(Lie::ChangedWindow { device, stream, sequence }.into());
    }
    let header = signed.header();
    let same = (&header.device, &header.stream, header.sequence) == (&device, &stream, sequence);
    // The encoding is canonical, so the header determines the leaf.
    let own_leaf = signed.leaf() == leaf;
    if !same || !own_leaf {
        return Err(Lie::ExchangedWindow { device, stream, sequence }.into());
    }
    Ok(Entry { id, bytes, sequence, leaf, signed: Some(signed), deleted_here: false })
}
