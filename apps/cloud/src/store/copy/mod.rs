//! Backup of a store, which may be in use, and restore to the moment of a backup.
//!
//! A backup is a folder or a bucket: the store's files under their names, and for each moment in `catalogues/` the database, and
//! the names of the files that belong to it.

mod backup;
mod moments;
mod restore;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use backup::backup;
pub(crate) use moments::{Moment, moments};
pub(crate) use restore::restore;

use super::bodies::Folder;
use super::error::{StoreError, failed_to};

const DATABASE: &str = "cloud.sqlite";
/// The folder of the databases of all moments.
const CATALOGUES: &str = "catalogues";

/// Counts of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    /// Number of files, in all folders.
    pub(crate) files: usize,
    /// Number of files copied now; the others exist from an earlier backup.
    pub(crate) new: usize,
    /// Bytes of the files copied now.
    pub(crate) bytes: u64,
    /// Moments and files that became too old, and were removed.
    pub(crate) expired: usize,
}

/// Returns the name of a file of the store in a backup.
fn object(folder: Folder, name: &str) -> String {
    format!("{}/{name}", folder.name())
}

/// Removes a database that is incomplete or not needed any more.
fn remove_database(file: &Path) -> Result<(), StoreError> {
    for end in ["", "-journal", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        match fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed_to("remove an incomplete copy")(error));
            }
            _ => {}
        }
    }
    Ok(())
}
