//! Files of a plant's folder: bounded reads, writes that a crash leaves whole.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{OwnerError, io};

/// Largest file of the folder that is read: 16 MiB, in bytes.
pub(crate) const LARGEST_FILE: u64 = 16 << 20;

/// Returns random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], OwnerError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| OwnerError::Randomness)?;
    Ok(bytes)
}

/// Returns the text of a file of at most `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, OwnerError> {
    let no_text = |_| std::io::Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(read_within(path, limit)?).map_err(no_text).map_err(io(path))
}

/// Returns the bytes of a file of at most `limit` bytes.
pub(crate) fn read_within(path: &Path, limit: u64) -> Result<Vec<u8>, OwnerError> {
    let file = fs::File::open(path).map_err(io(path))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(io(path))?;
    if bytes.len() as u64 > limit {
        return Err(OwnerError::TooLong { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Reads a JSON document from a file of the plant.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, OwnerError> {
    read_json_within(path, LARGEST_FILE)
}

/// Reads a JSON document from a file of at most `limit` bytes.
pub(crate) fn read_json_within<T: DeserializeOwned>(path: &Path, limit: u64) -> Result<T, OwnerError> {
    let text = read_text(path, limit)?;
    serde_json::from_str(&text)
        .map_err(|error| OwnerError::Damaged { path: path.to_owned(), reason: error.to_string() })
}

/// The lock of a plant's folder, directly in it. No backup holds it.
const LOCK: &str = ".lock";

/// Locks a plant's folder while a file of it is read, changed and written.
///
/// Nothing else is done under it: no request, and no other lock is taken, this one again least of all, which would wait for
/// itself. Locks of a part of the folder (logs, orders, mutes) are taken before it.
pub(crate) fn lock_plant(folder: &Path) -> Result<fs::File, OwnerError> {
    lock_file(&folder.join(LOCK))
}

/// Locks a file, which is made if it is missing (mode 0600), until it is closed.
pub(crate) fn lock_file(path: &Path) -> Result<fs::File, OwnerError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io(path))?;
    file.lock().map_err(io(path))?;
    Ok(file)
}

/// Replaces a file atomically: writes a new one beside it, syncs it and renames it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), OwnerError> {
    replace(path, bytes, false)
}

/// Like [`write_whole`], readable by the owner only (mode 0600).
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), OwnerError> {
    replace(path, bytes, true)
}

/// Makes a file of a secret, readable by the owner only. It never replaces one ([`sotto_keys::make_private`]).
pub(crate) fn make_private(path: &Path, bytes: &[u8]) -> Result<(), OwnerError> {
    sotto_keys::make_private(path, bytes).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => OwnerError::Exists { path: path.to_owned() },
        _ => io(path)(error),
    })
}

/// Partial files that threads of this process write.
static WRITING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The next number in the name of a partial file.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// A file beside another one, which no other thread of this process writes.
struct Partial(PathBuf);

impl Partial {
    /// Names one `NAME.PID.partial`, or `NAME.PID-NUMBER.partial` where another thread writes the same file.
    fn of(path: &Path) -> Self {
        let numbered = |number: &str| {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}{number}.partial", std::process::id()));
            path.with_file_name(name)
        };
        let mut writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut partial = numbered("");
        while !writing.insert(partial.clone()) {
            partial = numbered(&format!("-{}", WRITES.fetch_add(1, Ordering::Relaxed)));
        }
        Self(partial)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        WRITING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

fn replace(path: &Path, bytes: &[u8], private: bool) -> Result<(), OwnerError> {
    let held = Partial::of(path);
    let partial = &held.0;
    let written = || {
        match fs::remove_file(partial) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let _ = private;
        let mut file = options.open(partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(partial, path)?;
        // Sync the folder too, so that the new name survives a crash.
        match path.parent().filter(|folder| cfg!(unix) && !folder.as_os_str().is_empty()) {
            Some(folder) => fs::File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    };
    written().map_err(|error| {
        // Leave no partial file behind, e.g. on a full disk.
        let _ = fs::remove_file(partial);
        io(path)(error)
    })
}

/// Age after which a partial file is left over, whichever process wrote it.
const LEFT_OVER: Duration = Duration::from_secs(600);

/// Returns the partial files directly in a folder that no process completes any more: it has ended, or they are old.
pub(crate) fn left_over(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file() && is_left_over(path)).collect();
    files.sort_unstable();
    files
}

/// Deletes them. The caller holds the folder's lock.
pub(crate) fn remove_left_over(folder: &Path) -> Result<(), OwnerError> {
    left_over(folder).iter().try_for_each(|path| remove_if_there(path))
}

fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some(whole) = name.strip_suffix(".partial") else { return false };
    // `NAME.PID`, of some writers `NAME.PID-NUMBER`.
    let number = whole.rsplit_once('.').map_or("", |(_, number)| number);
    let process = number.split_once('-').map_or(number, |(process, _)| process).parse::<u32>().ok();
    let written = fs::metadata(path).and_then(|metadata| metadata.modified());
    let is_old = written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT_OVER));
    is_old || process.is_some_and(has_ended)
}

/// Returns true if no process of this machine has this number. False where the system does not tell.
fn has_ended(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new("/proc").join(process.to_string()).exists()
}

/// Returns true if others than the owner may read a file or a folder. False on systems without such modes.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Makes a folder and those above it; a private one is the owner's only (mode 0700).
pub(crate) fn make_folder(path: &Path, private: bool) -> Result<(), OwnerError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    let _ = private;
    builder.create(path).map_err(io(path))
}

/// Deletes a file, unless it does not exist.
pub(crate) fn remove_if_there(path: &Path) -> Result<(), OwnerError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io(path)(error)),
        _ => Ok(()),
    }
}

/// Returns a document as indented JSON.
pub(crate) fn pretty<T: Serialize>(document: &T) -> Result<Vec<u8>, OwnerError> {
    serde_json::to_vec_pretty(document).map_err(|error| OwnerError::WrongAnswer(error.to_string()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn partial_files_of_processes_that_ended_are_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let (ended, own) = (ended.id(), std::process::id());
        let names = [
            format!("outbox.json.{ended}.partial"),
            format!("boiler.key.{ended}-3.partial"),
            format!("outbox.json.{own}.partial"),
            "notes.partial".to_owned(),
            format!("outbox.json.{ended}"),
        ];
        names.iter().for_each(|name| fs::write(folder.path().join(name), "{").unwrap());
        let is_there = || names.each_ref().map(|name| folder.path().join(name).exists());
        remove_left_over(folder.path()).unwrap();
        assert_eq!(is_there(), [false, false, true, true, true]);
        let old = std::time::SystemTime::now() - 2 * LEFT_OVER;
        for name in &names[2..] {
            fs::File::options()
                .write(true)
                .open(folder.path().join(name))
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
        remove_left_over(folder.path()).unwrap();
        assert_eq!(is_there(), [false, false, false, false, true]);
    }
}
