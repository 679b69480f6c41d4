//! Symbolic links in the place of secrets and records, which no backup holds and no passphrase protects.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{OwnerError, io};

/// Folders in which no file may be a link.
const FOLDERS: [&str; 2] = ["devices", "secrets"];

/// Returns the links among the secrets and records of a plant, in order of their paths. Folders themselves may be links.
pub(crate) fn links(plant: &Path) -> Result<Vec<PathBuf>, OwnerError> {
    let mut found = Vec::new();
    for name in FOLDERS {
        collect(&plant.join(name), &mut found)?;
    }
    found.sort_unstable();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), OwnerError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(io(folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(io(folder))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(io(folder))?);
        if kind.is_symlink() {
            found.push(path);
        } else if kind.is_dir() {
            collect(&path, found)?;
        }
    }
    Ok(())
}

/// Refuses to go on if a secret or a record is a link.
///
/// # Errors
/// [`OwnerError::Link`] with the first one.
pub(crate) fn refuse_links(plant: &Path) -> Result<(), OwnerError> {
    match links(plant)?.into_iter().next() {
        Some(path) => Err(OwnerError::Link { path }),
        None => Ok(()),
    }
}
