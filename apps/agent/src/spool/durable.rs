//! Atomic and durable file writes: after a crash, a file is complete or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The extension of a file that is not complete yet.
const PARTIAL: &str = "partial";

/// Permissions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The system's default permissions.
    Default,
    /// Readable by its owner only (mode 0600).
    Owner,
}

/// Replaces a file: writes beside it, syncs, renames, and syncs the folder.
///
/// # Errors
/// The I/O error.
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
        // On a full disk the partial file would take space from the next attempt.
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    sync_folder_of(path)
}

/// Makes renames in a file's folder durable.
///
/// # Errors
/// The I/O error.
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

/// Does nothing: only Unix can sync a folder.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes partial files left by a killed process.
///
/// # Errors
/// The I/O error.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == PARTIAL) {
            remove_if_there(&path)?;
        }
    }
    Ok(())
}

/// Removes a file if it exists.
///
/// # Errors
/// The I/O error.
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
