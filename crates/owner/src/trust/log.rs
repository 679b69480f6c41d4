//! Logs of streams, compared with what the cloud said before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};

use serde::{Deserialize, Serialize};
use sotto_cloud_client::{Cloud, LoggedWindow};
use sotto_wire::{Digest, Frontier, SignedHeader, StreamHead, WireError};

use super::lie::Lie;
use super::pins::CloudKeys;
use crate::device::DeviceRecord;
use crate::error::{OwnerError, io};
use crate::plant::{Plant, read_json, write_private};

/// Bytes of the longest signed header: a layout of 16 KiB and the rest.
const LARGEST_HEADER: u64 = 64 << 10;
const FORGOTTEN: &str = "forgotten.json";
const VERIFYING_KEYS: &str = "verifying-keys";

/// A window in the log of its stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The envelope's name in the cloud: 32 hexadecimal digits, or nothing if it was deleted.
    pub(crate) id: String,
    /// Bytes that it took on the way.
    pub(crate) bytes: u64,
    /// By the cloud's word where `signed` is none.
    pub(crate) sequence: u64,
    /// The digest of its signed header.
    pub(crate) leaf: Digest,
    /// None for a window that was deleted before it was seen here, or since; checked otherwise.
    pub(crate) signed: Option<SignedHeader>,
}

/// The log of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StreamLog {
    pub(crate) entries: Vec<Entry>,
    pub(super) tree: Frontier,
    /// Bytes of its file.
    pub(super) bytes: u64,
}

/// Windows that the owner deleted, by device: those that ended before a time, milliseconds since 1970.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Deleted(BTreeMap<String, i64>);

impl StreamLog {
    /// Numbers that are missing between the first and the last window, as ranges of numbers.
    pub(crate) fn gaps(&self) -> Vec<(u64, u64)> {
        let numbers: BTreeSet<u64> = self.entries.iter().map(|entry| entry.sequence).collect();
        let numbers: Vec<u64> = numbers.into_iter().collect();
        let gap = |pair: &[u64]| (pair[1] - pair[0] > 1).then(|| (pair[0] + 1, pair[1] - 1));
        numbers.windows(2).filter_map(gap).collect()
    }
}

impl Plant {
    /// The log of a device's stream, brought to the cloud's present state: what is new is fetched, every new window's signature checked, and
    /// the whole compared with the cloud's signed head.
    ///
    /// # Errors
    /// [`OwnerError::Lie`] for a log that does not continue the one before, or for windows that the device did not sign; the cloud is away; a
    /// file cannot be used.
    pub(crate) fn sync_log(
        &self,
        cloud: &Cloud,
        record: &DeviceRecord,
        stream: &str,
    ) -> Result<StreamLog, OwnerError> {
        self.make_log_folder(&record.device)?;
        let _lock = self.lock_logs(&record.device)?;
        let device = record.device.as_str();
        let (pinned, keys) = (self.cloud_keys()?, self.verifying_keys(record)?);
        let mut log = self.read_log(device, stream)?;
        let had = log.entries.len();
        let mut numbers: BTreeSet<u64> = log.entries.iter().map(|entry| entry.sequence).collect();
        loop {
            let size = log.tree.size();
            let page = cloud.log(device, stream, size)?;
            let head = head(&page.head, (device, stream), &pinned)?;
            if head.size < size {
                let (device, stream) = (device.to_owned(), stream.to_owned());
                return Err(Lie::OlderDatabase { device, stream, had: size, has: head.size }.into());
            }
            if head.size > size && page.windows.is_empty() {
                let (device, stream) = (device.to_owned(), stream.to_owned());
                return Err(Lie::ShortLog { device, stream, given: size, size: head.size }.into());
            }
            for window in &page.windows {
                let entry = check((device, stream), window, &keys)?;
                if !numbers.insert(entry.sequence) {
                    let (device, stream) = (device.to_owned(), stream.to_owned());
                    return Err(Lie::DoubledWindow { device, stream, sequence: entry.sequence }.into());
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
            if log.entries.len() > had {
                self.append_log((device, stream), log.bytes, &log.entries[had..], &page.head)?;
            }
            self.leave_out_deleted(device, &mut log)?;
            return Ok(log);
        }
    }

    /// Takes the headers of windows that the owner deleted.
    fn leave_out_deleted(&self, device: &str, log: &mut StreamLog) -> Result<(), OwnerError> {
        let Some(until) = self.deleted()?.0.get(device).copied() else { return Ok(()) };
        for entry in &mut log.entries {
            if entry.signed.as_ref().is_some_and(|signed| signed.header.ended_at < until) {
                (entry.signed, entry.id) = (None, String::new());
            }
        }
        Ok(())
    }

    /// Keeps in mind that the owner deleted the windows of a device that ended before a time, and drops their headers here.
    pub(crate) fn note_deleted(&self, device: &str, until: i64) -> Result<(), OwnerError> {
        let mut deleted = self.deleted()?;
        let known = deleted.0.entry(device.to_owned()).or_insert(until);
        *known = (*known).max(until);
        self.make_log_folder(device)?;
        let _lock = self.lock_logs(device)?;
        write_private(&self.path("logs").join(FORGOTTEN), &crate::device::pretty(&deleted)?)?;
        for stream in self.kept_streams(device) {
            let mut log = self.read_log(device, &stream)?;
            self.leave_out_deleted(device, &mut log)?;
            self.replace_log((device, &stream), &log.entries)?;
        }
        Ok(())
    }

    fn deleted(&self) -> Result<Deleted, OwnerError> {
        let path = self.path("logs").join(FORGOTTEN);
        if path.exists() { read_json(&path) } else { Ok(Deleted::default()) }
    }

    /// True if the owner has deleted windows of the device.
    pub(crate) fn has_deleted(&self, device: &str) -> Result<bool, OwnerError> {
        Ok(self.deleted()?.0.contains_key(device))
    }

    fn lock_logs(&self, device: &str) -> Result<File, OwnerError> {
        let path = self.log_folder(device).join("lock");
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(io(&path))?;
        file.lock().map_err(io(&path))?;
        Ok(file)
    }

    /// Every verifying key that a device of this name ever had, the present one first: what it signed with an earlier one stays good.
    pub(crate) fn verifying_keys(&self, record: &DeviceRecord) -> Result<Vec<[u8; 32]>, OwnerError> {
        let path = self.log_folder(&record.device).join(VERIFYING_KEYS);
        let earlier = if path.exists() { crate::plant::read_text(&path, 1 << 20)? } else { String::new() };
        let mut keys = Vec::new();
        for text in [record.verifying_key.as_str()].into_iter().chain(earlier.lines()) {
            let mut key = [0; 32];
            let read = hex::decode_to_slice(text.trim(), &mut key);
            read.map_err(|error| OwnerError::Damaged { path: path.clone(), reason: error.to_string() })?;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// Keeps a verifying key of a device, whatever becomes of its record.
    pub(crate) fn keep_verifying_key(&self, record: &DeviceRecord) -> Result<(), OwnerError> {
        self.make_log_folder(&record.device)?;
        let keys = self.verifying_keys(record)?;
        let lines: String = keys.iter().map(|key| format!("{}\n", hex::encode(key))).collect();
        write_private(&self.log_folder(&record.device).join(VERIFYING_KEYS), lines.as_bytes())
    }
}

/// The head of a page, signed by the cloud and about this stream.
fn head(frame: &[u8], (device, stream): (&str, &str), pinned: &CloudKeys) -> Result<StreamHead, OwnerError> {
    let read = StreamHead::read(frame);
    let head = read.map_err(|error| OwnerError::WrongAnswer(format!("the head of a log: {error}")))?;
    pinned.check_head(&head)?;
    if (head.device.as_str(), head.stream.as_str()) != (device, stream) {
        return Err(OwnerError::WrongAnswer("the head is of another log".to_owned()));
    }
    Ok(head)
}

/// A window of a page, whose header its device signed.
fn check(
    (device, stream): (&str, &str),
    window: &LoggedWindow,
    keys: &[[u8; 32]],
) -> Result<Entry, OwnerError> {
    let LoggedWindow { sequence, leaf, bytes, .. } = *window;
    let id = window.id.clone().unwrap_or_default();
    let Some(frame) = &window.signed else { return Ok(Entry { id, bytes, sequence, leaf, signed: None }) };
    let (device, stream) = (device.to_owned(), stream.to_owned());
    let signed = match SignedHeader::read(frame, LARGEST_HEADER) {
        // The window names its stream's header by a hash.
        Err(WireError::UnknownStream(_)) => {
            return Err(Lie::ChangedWindow { device, stream, sequence }.into());
        }
        read => read.map_err(|error| OwnerError::WrongAnswer(format!("a signed header: {error}")))?,
    };
    if signed.is_unsigned() {
        return Err(Lie::UnsignedWindow { device, stream, sequence }.into());
    }
    if !keys.iter().any(|key| signed.verify(key).is_ok()) {
        return Err(Lie::ChangedWindow { device, stream, sequence }.into());
    }
    let header = &signed.header;
    let same = (&header.device, &header.stream, header.sequence) == (&device, &stream, sequence);
    // Every frame has one form: a header that reads so has this leaf.
    let own_leaf = signed.leaf().is_ok_and(|own| own == leaf);
    if !same || !own_leaf {
        return Err(Lie::ExchangedWindow { device, stream, sequence }.into());
    }
    Ok(Entry { id, bytes, sequence, leaf, signed: Some(signed) })
}
