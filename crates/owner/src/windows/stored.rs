//! Storage of streams' logs in the plant's folder: `logs/DEVICE.d/STREAM.log` has the records of the mirror, `STREAM.head` the
//! cloud's signed head that it was last compared with, the records' length and digest, and the leaves behind the last whole
//! block. Records after that length have not been compared yet, and are not read.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sotto_wire::{Digest, LogPage, StreamHead};

use super::mirror::{self, Coder, StreamLog};
use super::stream_name::StreamName;
use super::{earlier_version, forgotten};
use crate::declared::Plant;
use crate::devices;
use crate::error::{OwnerError, io};
use crate::files::{lock_file, make_folder, pretty, read_json, write_private};

/// Largest log that is read: 64 GiB, in bytes.
const LARGEST: u64 = 64 << 30;

/// The version of the records. Version 1 had the signed header of each window.
const VERSION: u32 = 2;

/// The last head that was compared with the log.
#[derive(Debug, Serialize, Deserialize)]
struct StoredHead {
    #[serde(default)]
    version: u32,
    /// The frame of the head, signed by the cloud.
    head: String,
    /// Size in bytes of the log that the head covers.
    bytes: u64,
    /// The digest of these bytes, in hexadecimal.
    #[serde(default)]
    digest: String,
    /// The leaves behind the last whole block, in hexadecimal.
    #[serde(default)]
    tail: String,
}

/// Reads the records of a stored log, of this version or version 1, and writes them again, for the fuzz targets. Returns None if
/// the bytes are not records.
#[doc(hidden)]
#[must_use]
pub fn rewritten_log(bytes: &[u8]) -> Option<Vec<u8>> {
    let tail = |count: u64| vec![[0; 32]; if count < mirror::BLOCK { count as usize } else { 0 }];
    let earlier = || {
        let entries = earlier_version::parse(bytes)?;
        earlier_version::mirror(&entries, &HashSet::new()).ok()
    };
    let mut log = mirror::read_with(bytes, tail).or_else(earlier)?;
    log.coder = Coder::default();
    Some(mirror::write(&mut log))
}

/// Returns the records of the windows of a page, whose signatures are not checked, for the fuzz targets.
#[doc(hidden)]
#[must_use]
pub fn mirrored_log(page: &[u8]) -> Option<Vec<u8>> {
    let (page, mut log) = (LogPage::read(page).ok()?, StreamLog::default());
    page.items.iter().try_for_each(|item| log.push(item, &item.leaves(), |_| false)).ok()?;
    Some(mirror::write(&mut log))
}

fn log_files(plant: &Plant, StreamName { device, stream }: StreamName<'_>) -> [PathBuf; 2] {
    ["log", "head"].map(|ending| devices::log_folder(plant, device).join(format!("{stream}.{ending}")))
}

/// Returns the file that takes the place of a log.
fn next_file(log: &Path) -> PathBuf {
    log.with_added_extension("new")
}

/// Reads the log of a stream as it was last compared. Returns an empty log if there is none. A log of version 1 is written
/// again.
pub(crate) fn read_log(plant: &Plant, name: StreamName<'_>) -> Result<StreamLog, OwnerError> {
    let [log, head] = log_files(plant, name);
    if !head.exists() {
        return Ok(StreamLog::default());
    }
    let way = format!("`sotto cloud accept {}` reads it from the cloud again", name.device);
    let damaged = |path: &Path, reason: &str| {
        let reason = format!("{reason}: {way}");
        OwnerError::Damaged { path: path.to_owned(), reason }
    };
    let kept: StoredHead = read_json(&head).map_err(|error| match error {
        OwnerError::Damaged { path, reason } => damaged(&path, &reason),
        other => other,
    })?;
    let frame = hex::decode(&kept.head).map_err(|error| damaged(&head, &error.to_string()))?;
    let signed = StreamHead::read(&frame).map_err(|error| damaged(&head, &error.to_string()))?;
    if kept.version < VERSION {
        let bytes = read_file(&log, kept.bytes)?
            .ok_or_else(|| damaged(&log, "it is missing, and its head is there"))?;
        let entries =
            earlier_version::parse(&bytes).ok_or_else(|| damaged(&log, "a record cannot be read"))?;
        drop(bytes);
        let forgotten = forgotten::of_earlier_version(plant, name, &entries)?;
        let mut read = earlier_version::mirror(&entries, &forgotten)
            .map_err(|error| damaged(&log, &error.to_string()))?;
        if (read.tree().size(), read.tree().root()) != (signed.size, signed.root) {
            return Err(damaged(&log, "its windows are not those of the head beside it"));
        }
        replace_log(plant, name, &mut read, &frame)?;
        return Ok(read);
    }
    if kept.version > VERSION {
        return Err(damaged(&head, "a later version of sotto wrote it"));
    }
    let is_of_head = |bytes: &Vec<u8>| blake3::hash(bytes).to_hex().as_str() == kept.digest;
    let bytes = match read_file(&log, kept.bytes)?.filter(is_of_head) {
        Some(bytes) => bytes,
        None => {
            // The process ended after the head of a log that takes the place of another was written.
            let next = next_file(&log);
            let bytes = read_file(&next, kept.bytes)?.filter(is_of_head);
            let bytes = bytes.ok_or_else(|| damaged(&log, "it is not the log of the head beside it"))?;
            fs::rename(&next, &log).map_err(io(&next))?;
            bytes
        }
    };
    let tail = hex::decode(&kept.tail).map_err(|error| damaged(&head, &error.to_string()))?;
    let (tail, rest): (&[Digest], _) = tail.as_chunks::<32>();
    let read = mirror::read(&bytes, tail.to_vec()).filter(|_| rest.is_empty());
    let read = read.ok_or_else(|| damaged(&log, "a record cannot be read"))?;
    if (read.tree().size(), read.tree().root()) != (signed.size, signed.root) {
        return Err(damaged(&log, "its windows are not those of the head beside it"));
    }
    Ok(read)
}

/// Returns the first bytes of a file, or None if it does not exist.
fn read_file(path: &Path, bytes: u64) -> Result<Option<Vec<u8>>, OwnerError> {
    if !path.exists() {
        return Ok(None);
    }
    let (file, mut read) = (File::open(path).map_err(io(path))?, Vec::new());
    file.take(bytes.min(LARGEST)).read_to_end(&mut read).map_err(io(path))?;
    Ok(Some(read))
}

/// Writes the head of a log.
fn write_head(plant: &Plant, name: StreamName<'_>, log: &StreamLog, head: &[u8]) -> Result<(), OwnerError> {
    let [_, file] = log_files(plant, name);
    let kept = StoredHead {
        version: VERSION,
        head: hex::encode(head),
        bytes: log.coder.bytes,
        digest: log.coder.digest.finalize().to_hex().to_string(),
        tail: hex::encode(log.tree().tail().as_flattened()),
    };
    write_private(&file, &pretty(&kept)?)
}

/// Appends the windows of a log that its file has not, and stores the head that they lead to.
pub(crate) fn append_log(
    plant: &Plant,
    name: StreamName<'_>,
    log: &mut StreamLog,
    head: &[u8],
) -> Result<(), OwnerError> {
    let [path, _] = log_files(plant, name);
    devices::make_log_folder(plant, name.device)?;
    let kept = log.coder.bytes;
    let records = mirror::write(log);
    let written = || -> std::io::Result<()> {
        use std::io::{Seek as _, SeekFrom, Write as _};
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        // Overwrite records that were never compared.
        file.set_len(kept)?;
        file.seek(SeekFrom::Start(kept))?;
        file.write_all(&records)?;
        file.sync_all()
    };
    written().map_err(io(&path))?;
    write_head(plant, name, log, head)
}

/// Stores a log in the place of the stored one, under a head.
pub(crate) fn replace_log(
    plant: &Plant,
    name: StreamName<'_>,
    log: &mut StreamLog,
    head: &[u8],
) -> Result<(), OwnerError> {
    let [path, _] = log_files(plant, name);
    devices::make_log_folder(plant, name.device)?;
    log.coder = Coder::default();
    let (records, next) = (mirror::write(log), next_file(&path));
    write_private(&next, &records)?;
    // Until the head names it, the file counts for nothing; from then on it is the log under either name.
    write_head(plant, name, log, head)?;
    fs::rename(&next, &path).map_err(io(&next))
}

/// Stores a log whose windows were marked, under its stored head.
pub(crate) fn store_marks(
    plant: &Plant,
    name: StreamName<'_>,
    log: &mut StreamLog,
) -> Result<(), OwnerError> {
    let [_, head] = log_files(plant, name);
    if !head.exists() {
        return Ok(());
    }
    let kept: StoredHead = read_json(&head)?;
    let reason =
        |error: hex::FromHexError| OwnerError::Damaged { path: head.clone(), reason: error.to_string() };
    let frame = hex::decode(&kept.head).map_err(reason)?;
    replace_log(plant, name, log, &frame)
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
