//! The files of a plant's folder that a backup holds.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::contents::{Entry, Folder};
use super::paths::{FOLDERS, is_in_a_plant};
use crate::error::{OwnerError, io};

/// Returns true for files that only a running process needs.
fn is_passing(name: &str) -> bool {
    name == "lock" || name.ends_with(".lock") || name.ends_with(".partial")
}

/// Returns folders and files of a plant, in order of their paths. Digests and segments of the files are empty.
pub(super) fn listed(plant: &Path) -> Result<(Vec<Folder>, Vec<Entry>), OwnerError> {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(plant).map_err(io(plant))? {
        let name = entry.map_err(io(plant))?.file_name();
        let Some(name) = name.to_str().filter(|name| is_in_a_plant(name)) else { continue };
        let path = plant.join(name);
        if path.is_dir() {
            if FOLDERS.contains(&name) {
                walk(&path, name, &mut folders, &mut files)?;
            }
        } else if !is_passing(name) {
            files.extend(entry_of(&path, name.to_owned())?);
        }
    }
    folders.sort_by(|a: &Folder, b| a.path.cmp(&b.path));
    files.sort_by(|a: &Entry, b| a.path.cmp(&b.path));
    Ok((folders, files))
}

fn walk(
    folder: &Path,
    name: &str,
    folders: &mut Vec<Folder>,
    files: &mut Vec<Entry>,
) -> Result<(), OwnerError> {
    let metadata = fs::metadata(folder).map_err(io(folder))?;
    folders.push(Folder { path: name.to_owned(), mode: mode(&metadata) });
    for entry in fs::read_dir(folder).map_err(io(folder))? {
        let entry = entry.map_err(io(folder))?;
        let path = entry.path();
        let Some(file) = path.file_name().and_then(|file| file.to_str()) else { continue };
        let inner = format!("{name}/{file}");
        // Links are not followed: they may lead out of the folder.
        let kind = entry.file_type().map_err(io(&path))?;
        if kind.is_dir() {
            walk(&path, &inner, folders, files)?;
        } else if kind.is_file() && !is_passing(file) && is_in_a_plant(&inner) {
            files.extend(entry_of(&path, inner)?);
        }
    }
    Ok(())
}

/// Returns a file's entry; None if it is gone.
fn entry_of(path: &Path, name: String) -> Result<Option<Entry>, OwnerError> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(io(path))?,
    };
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0);
    let (mode, bytes) = (mode(&metadata), metadata.len());
    Ok(Some(Entry { path: name, mode, modified, bytes, digest: String::new(), segment: 0 }))
}

fn mode(metadata: &fs::Metadata) -> u32 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.permissions().mode() & 0o777
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0o600
    }
}

/// Returns the digest of a file, in hexadecimal; None if it is gone.
pub(super) fn digest(path: &Path) -> Result<Option<String>, OwnerError> {
    let mut file = match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(io(path))?,
    };
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).map_err(io(path))? {
            0 => return Ok(Some(hasher.finalize().to_hex().to_string())),
            read => hasher.update(&buffer[..read]),
        };
    }
}
