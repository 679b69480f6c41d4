//! Files that are there as a whole or not at all, whenever the machine stops.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The extension of a file until it is complete.
const PARTIAL: &str = "partial";

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The readers of the system's defaults.
    Default,
    /// Only its owner (mode 0600).
    Owner,
}

/// Replaces a file: written beside it, synced, renamed, and the folder synced.
///
/// # Errors
/// The error of the system.
pub fn write(path: &Path, bytes: &[u8], audience: Audience) -> io::Result<()> {
    let partial = partial_of(path);
    // A leftover may have another mode.
    remove_if_there(&partial)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if audience == Audience::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let written = options.open(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(&partial, path)) {
        // On a full disk it would take space from the next attempt.
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    sync_folder_of(path)
}

/// Makes renamings in a file's folder durable.
///
/// # Errors
/// The error of the system.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => sync_folder(folder),
        None => sync_folder(Path::new(".")),
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Only Unix can sync a folder.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes files that a killed process left half-written.
///
/// # Errors
/// The error of the system.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == PARTIAL) {
            remove_if_there(&path)?;
        }
    }
    Ok(())
}

/// Removes a file; it may be gone already.
///
/// # Errors
/// The error of the system.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn partial_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(PARTIAL);
    path.with_file_name(name)
}
