//! Private files: mode 0600, never overwritten, whole or absent after a crash.

use alloc::string::ToString;
use alloc::vec::Vec;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use zeroize::Zeroizing;

use super::{KeyFileError, io_error};

/// Number of files that this process made, for names of its own.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Makes a file of mode 0600 that holds `bytes`. An existing file is never replaced, and a crash leaves the whole file or
/// none under this name: the bytes are written and synced under another name first, to which `path` is then linked.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("owner-token");
/// sotto_keys::make_private(&path, b"first")?;
/// let again = sotto_keys::make_private(&path, b"second").unwrap_err();
/// assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the file exists; another error if it cannot be written.
pub fn make_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.partial", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)));
    let partial = path.with_file_name(name);
    // A process of the same number may have died here.
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = write_new(&partial, bytes).and_then(|()| link(&partial, path, bytes));
    let removed = fs::remove_file(&partial);
    written?;
    // Without a link the file has taken the other's place, or was written by itself.
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // The new name must survive a crash too.
    match path.parent().filter(|folder| cfg!(unix) && !folder.as_os_str().is_empty()) {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Gives a written file its name, unless there is one already.
fn link(written: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::hard_link(written, path) {
        // File systems without links, such as FAT: a crash may then leave half a file, which no reader accepts.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) =>
        {
            let made = write_new(path, bytes);
            if made.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
                let _ = fs::remove_file(path);
            }
            made
        }
        linked => linked,
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

pub(crate) fn read_private(path: &Path, largest: usize) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let file = fs::File::open(path).map_err(|error| io_error(path, error))?;
    let metadata = file.metadata().map_err(|error| io_error(path, error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyFileError::Mode { path: path.display().to_string(), mode });
        }
    }
    // Allocates once, as a vector that grows leaves copies of the secret behind. One byte above the limit
    // reveals a file that is too long or grows meanwhile. A pipe reports no length.
    let length = if metadata.is_file() { metadata.len() } else { u64::MAX };
    let most = usize::try_from(length).unwrap_or(largest).min(largest) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(most));
    file.take(most as u64).read_to_end(&mut bytes).map_err(|error| io_error(path, error))?;
    Ok(bytes)
}
