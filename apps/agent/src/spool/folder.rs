//! The files of a spool's folder.

use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::Duration;

use sotto_wire::{Envelope, LARGEST_ENVELOPE};

use super::entry::Entry;
use super::error::SpoolError;
use super::private;

/// The folder of messages that the cloud refused.
pub const REFUSED: &str = "refused";

/// The file whose lock the process holds that uses the folder.
const LOCK: &str = "lock";

/// Attempts to lock a folder, and the time between two: a process that is just ending may still hold it.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Locks a folder for this process.
pub(super) fn lock(folder: &Path) -> Result<File, SpoolError> {
    let path = folder.join(LOCK);
    let lock = private::options().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(SpoolError::io(&path))?;
    for _ in 1..ATTEMPTS {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(SpoolError::Io { path, error }),
            Ok(()) => return Ok(lock),
        }
    }
    Err(SpoolError::InUse { path: folder.to_owned() })
}

/// Returns the name of the document that states why a message was refused.
pub(super) fn problem_name(entry: &Entry) -> String {
    format!("{}.problem.json", entry.file_name())
}

/// Reads a message and checks its digest. Returns its bytes in the upload format, and the envelope.
pub(super) fn read(folder: &Path, entry: &Entry) -> Result<(Vec<u8>, Envelope), SpoolError> {
    let (path, bytes) = (folder.join(entry.file_name()), bytes_of(folder, entry)?);
    let damaged = |reason| SpoolError::Damaged { path: path.clone(), reason };
    let envelope = Envelope::read_kept(&bytes, LARGEST_ENVELOPE).map_err(damaged)?;
    if (&envelope.header().stream, envelope.header().sequence) != (&entry.stream, entry.sequence) {
        return Err(SpoolError::Renamed { path });
    }
    // In version 2 the spooled envelope includes the stream's header, which is not uploaded.
    let message = if envelope.window().is_some() { envelope.write() } else { bytes };
    Ok((message, envelope))
}

/// Returns the bytes of a message's file, one more than a message may have at most.
pub(super) fn bytes_of(folder: &Path, entry: &Entry) -> Result<Vec<u8>, SpoolError> {
    bytes_in(&folder.join(entry.file_name()))
}

/// Like [`bytes_of`], of a path.
pub(super) fn bytes_in(path: &Path) -> Result<Vec<u8>, SpoolError> {
    let file = File::open(path).map_err(SpoolError::io(path))?;
    let mut bytes = Vec::new();
    file.take(LARGEST_ENVELOPE + 1).read_to_end(&mut bytes).map_err(SpoolError::io(path))?;
    Ok(bytes)
}

/// Returns the messages in a folder, unordered. Skips files that are deleted meanwhile.
pub(super) fn entries(folder: &Path) -> Result<Vec<Entry>, SpoolError> {
    let read = || -> std::io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for file in fs::read_dir(folder)? {
            let file = file?;
            let bytes = match file.metadata() {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                metadata => metadata?.len(),
            };
            entries.extend(file.file_name().to_str().and_then(|name| Entry::from_file(name, bytes)));
        }
        Ok(entries)
    };
    read().map_err(SpoolError::io(folder))
}

/// Returns the bytes of the refused messages and their documents.
pub(super) fn refused_bytes(folder: &Path) -> Result<u64, SpoolError> {
    // The sender may rename a file between the listing and the look at it.
    let bytes = |file: std::io::Result<fs::DirEntry>| match file.and_then(|file| file.metadata()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        length => length.map(|metadata| metadata.len()),
    };
    let read = || fs::read_dir(folder)?.map(bytes).sum::<std::io::Result<u64>>();
    read().map_err(SpoolError::io(folder))
}
