//! Files outside the store's folder, in a folder or in a bucket: sealed segments, and backups.

mod bucket;
mod folder;
mod place;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use bucket::Bucket;
use folder::Files;
pub use place::Place;
use sotto_service::private;

/// An error of a folder or a bucket. Its text names no secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ObjectsError {
    #[error("{place} has no {name}")]
    Missing { place: String, name: String },
    #[error("cannot {doing} {name} in {place}: {reason}")]
    Failed { doing: &'static str, name: String, place: String, reason: String },
    /// The address, or what the environment says about it.
    #[error("{0}")]
    Address(String),
    /// A file of this machine.
    #[error("cannot {doing} {file}: {error}")]
    Local { doing: &'static str, file: String, error: std::io::Error },
}

impl ObjectsError {
    fn local(doing: &'static str, file: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let file = file.display().to_string();
        move |error| Self::Local { doing, file, error }
    }
}

/// Files under names of the form `folder/name`. A file is there as a whole or not at all.
pub(crate) enum Objects {
    Folder(Files),
    Bucket(Box<Bucket>),
}

impl Objects {
    /// Names a place. A folder is made with its first file; a bucket is not asked yet.
    pub(crate) fn open(place: &Place) -> Result<Self, ObjectsError> {
        Ok(match place.bucket()? {
            Some((bucket, prefix)) => Self::Bucket(Box::new(Bucket::open(bucket, prefix)?)),
            None => Self::Folder(Files::at(place.folder())),
        })
    }

    /// Writes a copy of a file durably; replaces an earlier one.
    pub(crate) fn put(&self, name: &str, file: &Path) -> Result<(), ObjectsError> {
        match self {
            Self::Folder(files) => files.put(name, file),
            Self::Bucket(bucket) => bucket.put(name, file),
        }
    }

    /// Writes a copy to a new file of this machine, durably.
    ///
    /// # Errors
    /// [`ObjectsError::Missing`] if there is none.
    pub(crate) fn fetch(&self, name: &str, to: &Path) -> Result<(), ObjectsError> {
        match self {
            Self::Folder(files) => files.fetch(name, to),
            Self::Bucket(bucket) => bucket.fetch(name, to),
        }
    }

    /// Returns the names in a folder, without it, and their bytes.
    pub(crate) fn list(&self, folder: &str) -> Result<BTreeMap<String, u64>, ObjectsError> {
        match self {
            Self::Folder(files) => files.list(folder),
            Self::Bucket(bucket) => bucket.list(folder),
        }
    }

    /// Removes a file, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<(), ObjectsError> {
        match self {
            Self::Folder(files) => files.remove(name),
            Self::Bucket(bucket) => bucket.remove(name),
        }
    }
}

fn create(file: &Path) -> Result<File, ObjectsError> {
    private::create(file).map_err(ObjectsError::local("write", file))
}
