//! Logs of streams, compared with the cloud's earlier statements.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sotto_cloud_client::{Cloud, LoggedWindow};
use sotto_rlwe::KeyId;
use sotto_wire::{Digest, Frontier, SignedHeader, StreamHead, WireError};

use super::lie::Lie;
use super::pins::CloudKeys;
use crate::device::{DeviceRecord, parameter_spec};
use crate::error::{OwnerError, io};
use crate::files::{pretty, read_json, read_text, write_private};
use crate::plant::Plant;

/// Largest signed header, in bytes: a layout of 16 KiB and the other fields.
const LARGEST_HEADER: u64 = 64 << 10;
/// Largest number of windows in a log.
const MOST_WINDOWS: u64 = 2_000_000;
/// A gap of at least this many sequence numbers marks a new count, which a device starts after losing its spool.
const NEW_COUNT: u64 = 1 << 32;
const FORGOTTEN: &str = "forgotten.json";
const VERIFYING_KEYS: &str = "verifying-keys";

/// A window in the log of its stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The envelope's id in the cloud, 32 hexadecimal digits; empty if it was deleted.
    pub(crate) id: String,
    /// Size of the window as it was sent, in bytes.
    pub(crate) bytes: u64,
    /// The sequence number; only the cloud's claim if `signed` is None.
    pub(crate) sequence: u64,
    /// The digest of its signed header.
    pub(crate) leaf: Digest,
    /// The signed header, already verified. None for a window that was deleted, or that the cloud cannot read.
    pub(crate) signed: Option<SignedHeader>,
    /// True if this plant's owner deleted it.
    pub(crate) deleted_here: bool,
}

/// The log of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StreamLog {
    pub(crate) entries: Vec<Entry>,
    pub(super) tree: Frontier,
    /// Size of its file in bytes.
    pub(super) bytes: u64,
}

/// The owner's deletions, by device.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Deleted(BTreeMap<String, Deletion>);

/// A deletion: the windows that ended before `until`, among those in the logs at that time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Deletion {
    /// Milliseconds since 1970.
    until: i64,
    /// Number of windows in each log at the time of deletion.
    sizes: BTreeMap<String, u64>,
}

impl StreamLog {
    /// Returns the missing sequence numbers before and between the windows, as inclusive ranges.
    pub(crate) fn gaps(&self) -> Vec<(u64, u64)> {
        let numbers: BTreeSet<u64> = self.entries.iter().map(|entry| entry.sequence).collect();
        let first = numbers.first().copied().unwrap_or_default();
        // Devices count from 0. A device that lost its spool starts a new count far above.
        let beginning = (first > 0 && first < NEW_COUNT).then(|| (0, first - 1));
        let numbers: Vec<u64> = numbers.into_iter().collect();
        let gap = |pair: &[u64]| {
            let missing = pair[1] - pair[0] - 1;
            (missing > 0 && missing < NEW_COUNT).then(|| (pair[0] + 1, pair[1] - 1))
        };
        beginning.into_iter().chain(numbers.windows(2).filter_map(gap)).collect()
    }
}

impl Plant {
    /// Updates the log of a device's stream to the cloud's present state: fetches new windows, verifies their
    /// signatures, and compares the whole log with the cloud's signed head.
    ///
    /// # Errors
    /// [`OwnerError::Lie`] if the log does not continue the stored one, or has windows that the device did not sign;
    /// another [`OwnerError`] if the cloud is unreachable or a file is damaged.
    pub(crate) fn sync_log(
        &self,
        cloud: &Cloud,
        record: &DeviceRecord,
        stream: &str,
    ) -> Result<StreamLog, OwnerError> {
        self.make_log_folder(&record.device)?;
        let _lock = self.lock_logs(&record.device)?;
        let device = record.device.as_str();
        let (pinned, keys) = (self.cloud_keys()?, SigningKeys::of(self, record)?);
        let mut log = self.read_log(device, stream)?;
        let had = log.entries.len();
        let mut numbers: BTreeSet<u64> = log.entries.iter().map(|entry| entry.sequence).collect();
        loop {
            let size = log.tree.size();
            let page = cloud.log(device, stream, size)?;
            let head = head(&page.head, (device, stream), &pinned)?;
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
            self.leave_out_deleted((device, stream), &mut log)?;
            return Ok(log);
        }
    }

    /// Returns the log of a stream as it was last compared with the cloud's.
    pub(crate) fn kept_log(&self, device: &str, stream: &str) -> Result<StreamLog, OwnerError> {
        self.make_log_folder(device)?;
        let _lock = self.lock_logs(device)?;
        self.read_log(device, stream)
    }

    /// Drops the headers of windows that the owner deleted, and marks these windows as deleted.
    fn leave_out_deleted(
        &self,
        (device, stream): (&str, &str),
        log: &mut StreamLog,
    ) -> Result<(), OwnerError> {
        let deleted = self.deleted()?;
        let Some(Deletion { until, sizes }) = deleted.0.get(device) else { return Ok(()) };
        // Windows that came later were not deleted.
        let size = sizes.get(stream).copied().unwrap_or_default();
        let had = usize::try_from(size).unwrap_or(usize::MAX).min(log.entries.len());
        for entry in &mut log.entries[..had] {
            let is_old = entry.signed.as_ref().is_some_and(|signed| signed.header().ended_at < *until);
            if is_old || (entry.signed.is_none() && entry.id.is_empty()) {
                (entry.signed, entry.id, entry.deleted_here) = (None, String::new(), true);
            }
        }
        Ok(())
    }

    /// Records that the owner deletes a device's windows that ended before a time, and drops their headers here.
    pub(crate) fn note_deleted(&self, cloud: &Cloud, device: &str, until: i64) -> Result<(), OwnerError> {
        let record = self.device(device)?;
        let mut logs = Vec::new();
        for stream in record.iter().flat_map(DeviceRecord::streams) {
            if let Some(record) = &record {
                logs.push((stream.to_owned(), self.sync_log(cloud, record, stream)?));
            }
        }
        self.make_log_folder(device)?;
        let _lock = self.lock_logs(device)?;
        {
            let _all = self.lock_all_logs()?;
            let mut deleted = self.deleted()?;
            let known = deleted.0.entry(device.to_owned()).or_default();
            known.until = known.until.max(until);
            for (stream, log) in &logs {
                let size = known.sizes.entry(stream.clone()).or_default();
                *size = (*size).max(log.entries.len() as u64);
            }
            write_private(&self.path("logs").join(FORGOTTEN), &pretty(&deleted)?)?;
        }
        for stream in self.kept_streams(device) {
            let mut log = self.read_log(device, &stream)?;
            self.leave_out_deleted((device, &stream), &mut log)?;
            self.replace_log((device, &stream), &log.entries)?;
        }
        Ok(())
    }

    fn deleted(&self) -> Result<Deleted, OwnerError> {
        let path = self.path("logs").join(FORGOTTEN);
        if path.exists() { read_json(&path) } else { Ok(Deleted::default()) }
    }

    fn lock_all_logs(&self) -> Result<File, OwnerError> {
        lock(&self.path("logs").join("lock"))
    }

    pub(super) fn lock_logs(&self, device: &str) -> Result<File, OwnerError> {
        lock(&self.log_folder(device).join("lock"))
    }

    /// Returns every verifying key that a device with this name ever had, the present one first. Signatures by earlier
    /// keys stay valid.
    pub(crate) fn verifying_keys(&self, record: &DeviceRecord) -> Result<Vec<[u8; 32]>, OwnerError> {
        let path = self.log_folder(&record.device).join(VERIFYING_KEYS);
        let earlier = if path.exists() { read_text(&path, 1 << 20)? } else { String::new() };
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

    /// Stores a verifying key of a device permanently, independent of its record.
    pub(crate) fn keep_verifying_key(&self, record: &DeviceRecord) -> Result<(), OwnerError> {
        self.make_log_folder(&record.device)?;
        let keys = self.verifying_keys(record)?;
        let lines: String = keys.iter().map(|key| format!("{}\n", hex::encode(key))).collect();
        write_private(&self.log_folder(&record.device).join(VERIFYING_KEYS), lines.as_bytes())
    }
}

/// The keys with which a device signs or signed.
struct SigningKeys {
    /// The present key.
    present: [u8; 32],
    /// Keys under which the device encrypts now. Windows under them must be signed with the present key.
    encryption: BTreeSet<KeyId>,
    /// Earlier keys.
    earlier: Vec<[u8; 32]>,
}

impl SigningKeys {
    fn of(plant: &Plant, record: &DeviceRecord) -> Result<Self, OwnerError> {
        let keys = plant.verifying_keys(record)?;
        let (present, earlier) = keys.split_first().ok_or(OwnerError::Randomness)?;
        let mut encryption = BTreeSet::new();
        if let Some(secret) = plant.held_secret(&record.device)? {
            for profile in record.bundles.iter().flat_map(|bundle| &bundle.streams) {
                encryption.insert(secret.key_id(&parameter_spec(&profile.parameters)?.id()));
            }
        }
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

fn lock(path: &Path) -> Result<File, OwnerError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = options.open(path).map_err(io(path))?;
    file.lock().map_err(io(path))?;
    Ok(file)
}

/// Reads the head of a page, and checks that the cloud signed it for this stream.
fn head(frame: &[u8], (device, stream): (&str, &str), pinned: &CloudKeys) -> Result<StreamHead, OwnerError> {
    let read = StreamHead::read(frame);
    let head = read.map_err(|error| OwnerError::WrongAnswer(format!("the head of a log: {error}")))?;
    pinned.check_head(&head)?;
    if (head.device.as_str(), head.stream.as_str()) != (device, stream) {
        return Err(OwnerError::WrongAnswer("the head is of another log".to_owned()));
    }
    Ok(head)
}

/// Checks a window of a page, and that its device signed the header.
fn check(
    (device, stream): (&str, &str),
    window: &LoggedWindow,
    keys: &SigningKeys,
) -> Result<Entry, OwnerError> {
    let LoggedWindow { sequence, leaf, bytes, .. } = *window;
    let id = window.id.clone().unwrap_or_default();
    let Some(frame) = &window.signed else {
        return Ok(Entry { id, bytes, sequence, leaf, signed: None, deleted_here: false });
    };
    let (device, stream) = (device.to_owned(), stream.to_owned());
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
    if id.is_empty() {
        return Err(OwnerError::WrongAnswer(format!("window {sequence} of a log has no name")));
    }
    Ok(Entry { id, bytes, sequence, leaf, signed: Some(signed), deleted_here: false })
}
