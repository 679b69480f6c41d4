//! The folder of the cache: its size, its limit, and its deletion.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::file::{self, ENDING};
use super::{FOLDER, MOST_BYTES, device_folder};
use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::files::{lock_file, make_folder, remove_if_there};

/// The size of a plant's cache: sums that were opened for earlier answers.
///
/// ```
/// use sotto_owner::{CachedSums, NewPlant, Plant};
///
/// # let folder = tempfile::tempdir()?;
/// # let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// let plant = Plant::init(&folder.path().join("dairy"), &here)?;
/// let CachedSums { sums, bytes, .. } = plant.cached_sums()?;
/// assert_eq!((sums, bytes), (0, 0)); // nothing was asked yet
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CachedSums {
    /// Number of sums, with those that longer ones took the place of.
    pub sums: u64,
    /// Number of streams that they are of.
    pub streams: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Largest size of the files, in bytes.
    pub most_bytes: u64,
    /// When the oldest sums were written, in milliseconds since 1970. None without sums.
    pub oldest_ms: Option<i64>,
    /// When the newest sums were written, in milliseconds since 1970. None without sums.
    pub newest_ms: Option<i64>,
}

/// Returns the size of a plant's cache. Reads no secret: how much of it still opens is not known.
pub(crate) fn cached_sums(plant: &Plant) -> Result<CachedSums, OwnerError> {
    let mut all = CachedSums { most_bytes: MOST_BYTES, ..CachedSums::default() };
    for Stored { path, bytes, .. } in stored(&plant.path(FOLDER))? {
        all.streams += 1;
        all.bytes += bytes;
        for head in file::heads(&path).map_err(io(&path))? {
            all.sums += u64::from(head.sums);
            all.oldest_ms = Some(all.oldest_ms.map_or(head.at, |oldest| oldest.min(head.at)));
            all.newest_ms = Some(all.newest_ms.map_or(head.at, |newest| newest.max(head.at)));
        }
    }
    Ok(all)
}

/// Deletes the cache of a plant. Returns its size before.
pub(crate) fn clear(plant: &Plant) -> Result<CachedSums, OwnerError> {
    let size = cached_sums(plant)?;
    let folder = plant.path(FOLDER);
    remove_folder(&folder)?;
    Ok(size)
}

/// Deletes the sums of a device, whose windows the owner deleted.
pub(crate) fn forget(plant: &Plant, device: &str) -> Result<(), OwnerError> {
    remove_folder(&device_folder(&plant.path(FOLDER), device))
}

fn remove_folder(folder: &Path) -> Result<(), OwnerError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(folder)(error)),
        _ => Ok(()),
    }
}

/// Excludes other processes from the files, until the lock is closed.
pub(super) fn lock(folder: &Path) -> Result<File, OwnerError> {
    make_folder(folder, true)?;
    lock_file(&folder.join("lock"))
}

/// Marks a file as used now.
pub(super) fn touch(path: &Path) {
    let touched =
        File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
    if let Err(error) = touched {
        tracing::debug!(%error, "the cache was not touched");
    }
}

/// Deletes files that were not used for longest, but for one, until the others have at most `most` bytes.
pub(super) fn evict(folder: &Path, but: &Path, most: u64) {
    let Ok(mut files) = stored(folder) else { return };
    let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
    files.sort_by_key(|file| file.used);
    for file in files.iter().filter(|file| file.path != but) {
        if bytes <= most {
            break;
        }
        if remove_if_there(&file.path).is_ok() {
            bytes -= file.bytes;
        }
    }
}

/// A file of the cache.
struct Stored {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// Returns the files of a cache, which may be missing.
fn stored(folder: &Path) -> Result<Vec<Stored>, OwnerError> {
    let mut files = Vec::new();
    for of_device in entries(folder)? {
        if !of_device.is_dir() {
            continue;
        }
        for path in entries(&of_device)? {
            if path.extension().is_none_or(|ending| ending != ENDING) {
                continue;
            }
            // Another process may have deleted it since.
            let Ok(file) = fs::metadata(&path) else { continue };
            let used = file.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push(Stored { path, bytes: file.len(), used });
        }
    }
    Ok(files)
}

/// Returns true if a cache has a file of sums.
pub(super) fn is_used(folder: &Path) -> bool {
    stored(folder).is_ok_and(|files| !files.is_empty())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, OwnerError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io(folder))?,
    };
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(io(folder))).collect()
}
