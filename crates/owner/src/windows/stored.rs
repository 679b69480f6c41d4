//! Storage of streams' logs in the plant's folder: `logs/DEVICE.d/STREAM.log` and, after comparison with the cloud's
//! signed head, `STREAM.head`.
//!
//! A record of the log is `bytes of the rest u32 ‖ envelope's name 16 ‖ bytes of the message u64 ‖ sequence u64 ‖
//! leaf 32 ‖ frame of the signed header`; the frame is empty if there is none. Records after the length that the head
//! names have not been compared yet, and are not read.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_wire::{SignedHeader, StreamHead};

use super::entry::{Entry, StreamLog, tree_of};
use super::stream_name::StreamName;
use crate::declared::Plant;
use crate::devices;
use crate::error::{OwnerError, io};
use crate::files::{lock_file, make_folder, pretty, read_json, write_private};

/// Largest log that is read: 4 GiB, in bytes.
const LARGEST: u64 = 4 << 30;

/// Bytes of a record before the signed header.
const FIXED: usize = 16 + 8 + 8 + 32;

const LARGEST_HEADER: u64 = 64 << 10;

/// The last head that was compared with the log.
#[derive(Debug, Serialize, Deserialize)]
struct StoredHead {
    /// The frame of the head, signed by the cloud.
    head: String,
    /// Size in bytes of the log that the head covers.
    bytes: u64,
}

fn write(out: &mut Vec<u8>, entry: &Entry) {
    let signed = entry.signed.as_ref().map(SignedHeader::write).unwrap_or_default();
    out.extend_from_slice(&((FIXED + signed.len()) as u32).to_le_bytes());
    let mut id = [0; 16];
    // Zeros stand for an entry without an id.
    let _ = hex::decode_to_slice(&entry.id, &mut id);
    out.extend_from_slice(&id);
    out.extend_from_slice(&entry.bytes.to_le_bytes());
    out.extend_from_slice(&entry.sequence.to_le_bytes());
    out.extend_from_slice(&entry.leaf);
    out.extend_from_slice(&signed);
}

/// Reads the records of a stored log and writes them again, for the fuzz targets. Returns None if the bytes are not
/// records.
#[doc(hidden)]
#[must_use]
pub fn rewritten_log(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut records = Vec::new();
    parse(bytes)?.iter().for_each(|entry| write(&mut records, entry));
    Some(records)
}

fn parse(mut bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (id, record) = record.split_first_chunk::<16>()?;
        let (count, record) = record.split_first_chunk::<8>()?;
        let (sequence, record) = record.split_first_chunk::<8>()?;
        let (leaf, signed) = record.split_first_chunk::<32>()?;
        let signed = match signed {
            [] => None,
            frame => Some(SignedHeader::read(frame, LARGEST_HEADER).ok()?),
        };
        entries.push(Entry {
            id: if *id == [0; 16] { String::new() } else { hex::encode(id) },
            bytes: u64::from_le_bytes(*count),
            sequence: u64::from_le_bytes(*sequence),
            leaf: *leaf,
            signed,
            deleted_here: false,
        });
        bytes = rest;
    }
    Some(entries)
}

fn log_files(plant: &Plant, StreamName { device, stream }: StreamName<'_>) -> [PathBuf; 2] {
    ["log", "head"].map(|ending| devices::log_folder(plant, device).join(format!("{stream}.{ending}")))
}

/// Reads the log of a stream as it was last compared. Returns an empty log if there is none.
pub(crate) fn read_log(plant: &Plant, name: StreamName<'_>) -> Result<StreamLog, OwnerError> {
    let [log, head] = log_files(plant, name);
    if !head.exists() {
        return Ok(StreamLog::default());
    }
    let way = format!("`sotto cloud accept {}` reads it from the cloud again", name.device);
    let damaged = |path: &PathBuf, reason: String| {
        let reason = format!("{reason}: {way}");
        OwnerError::Damaged { path: path.clone(), reason }
    };
    let kept: StoredHead = read_json(&head).map_err(|error| match error {
        OwnerError::Damaged { path, reason } => damaged(&path, reason),
        other => other,
    })?;
    let frame = hex::decode(&kept.head).map_err(|error| damaged(&head, error.to_string()))?;
    let signed = StreamHead::read(&frame).map_err(|error| damaged(&head, error.to_string()))?;
    let mut bytes = Vec::new();
    if !log.exists() {
        return Err(damaged(&log, "it is missing, and its head is there".to_owned()));
    }
    let file = fs::File::open(&log).map_err(io(&log))?;
    file.take(kept.bytes.min(LARGEST)).read_to_end(&mut bytes).map_err(io(&log))?;
    let entries = parse(&bytes).ok_or_else(|| damaged(&log, "a record cannot be read".to_owned()))?;
    let tree = tree_of(&entries);
    if (tree.size(), tree.root()) != (signed.size, signed.root) {
        return Err(damaged(&log, "its windows are not those of the head beside it".to_owned()));
    }
    Ok(StreamLog { entries, tree, bytes: bytes.len() as u64 })
}

/// Appends windows to the stored log of a stream, and stores the head that they lead to.
pub(crate) fn append_log(
    plant: &Plant,
    name: StreamName<'_>,
    kept_bytes: u64,
    new: &[Entry],
    head: &[u8],
) -> Result<(), OwnerError> {
    let [log, head_file] = log_files(plant, name);
    devices::make_log_folder(plant, name.device)?;
    let mut records = Vec::new();
    new.iter().for_each(|entry| write(&mut records, entry));
    let written = || -> std::io::Result<u64> {
        use std::io::{Seek as _, SeekFrom, Write as _};
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&log)?;
        // Overwrite records that were never compared.
        file.set_len(kept_bytes)?;
        file.seek(SeekFrom::Start(kept_bytes))?;
        file.write_all(&records)?;
        file.sync_all()?;
        Ok(kept_bytes + records.len() as u64)
    };
    let bytes = written().map_err(io(&log))?;
    let kept = StoredHead { head: hex::encode(head), bytes };
    write_private(&head_file, &pretty(&kept)?)
}

/// Replaces the stored log of a stream by these windows, under the stored head.
pub(crate) fn replace_log(plant: &Plant, name: StreamName<'_>, entries: &[Entry]) -> Result<(), OwnerError> {
    let [log, head_file] = log_files(plant, name);
    let kept: StoredHead = read_json(&head_file)?;
    let mut records = Vec::new();
    entries.iter().for_each(|entry| write(&mut records, entry));
    // A crash between the two writes leaves a log of another length, which is read from the cloud again.
    write_private(&log, &records)?;
    let kept = StoredHead { bytes: records.len() as u64, ..kept };
    write_private(&head_file, &pretty(&kept)?)
}

/// Moves the stored logs of a device, or those of some of its streams, to `logs/old/TIME`. They are then read from the cloud
/// again, without an earlier state to compare with. Returns true if there were any.
pub(super) fn put_logs_aside(
    plant: &Plant,
    device: &str,
    time: i64,
    is_moved: impl Fn(&str) -> bool,
) -> Result<bool, OwnerError> {
    let folder = devices::log_folder(plant, device);
    if !folder.exists() {
        return Ok(false);
    }
    let _lock = lock_logs(plant, device)?;
    let aside = plant.path("logs").join("old").join(time.to_string()).join(format!("{device}.d"));
    // Heads first: a log without its head is not read.
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(io(&folder))? {
        let path = entry.map_err(io(&folder))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_owned);
        let stream = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if ending.is_some_and(|ending| ending == "log" || ending == "head") && is_moved(stream) {
            files.push(path);
        }
    }
    files.sort_by_key(|path| path.extension().is_some_and(|ending| ending == "log"));
    if !files.is_empty() {
        make_folder(&aside, true)?;
    }
    for path in &files {
        let to = aside.join(path.file_name().unwrap_or_default());
        fs::rename(path, &to).map_err(io(path))?;
    }
    Ok(!files.is_empty())
}

/// Returns the streams of a device with stored logs.
pub(crate) fn kept_streams(plant: &Plant, device: &str) -> Vec<String> {
    let entries = fs::read_dir(devices::log_folder(plant, device)).into_iter().flatten();
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.strip_suffix(".head").map(str::to_owned)
    };
    entries.filter_map(name).collect()
}

pub(super) fn lock_all_logs(plant: &Plant) -> Result<File, OwnerError> {
    lock_file(&plant.path("logs").join("lock"))
}

pub(crate) fn lock_logs(plant: &Plant, device: &str) -> Result<File, OwnerError> {
    lock_file(&devices::log_folder(plant, device).join("lock"))
}
