//! Files in a folder, as of a mounted disk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sotto_service::folder;

use super::ObjectsError;
use crate::id::Id;

/// Files that are being written.
const INCOMING: &str = "incoming";

pub(crate) struct Files(PathBuf);

impl Files {
    /// Names a folder, which the first file makes.
    pub(super) fn at(root: &Path) -> Self {
        Self(root.to_owned())
    }

    pub(super) fn put(&self, name: &str, file: &Path) -> Result<(), ObjectsError> {
        let to = self.0.join(name);
        let random = Id::random().map_err(|error| self.failed("write", name)(io::Error::other(error)))?;
        let incoming = self.0.join(INCOMING).join(random.to_string());
        let written = (|| {
            folder::make(&self.0).map_err(io::Error::other)?;
            for folder in
                [Some(INCOMING), name.rsplit_once('/').map(|(folder, _)| folder)].into_iter().flatten()
            {
                folder::make_inside(&self.0.join(folder)).map_err(io::Error::other)?;
            }
            fs::copy(file, &incoming)?;
            File::open(&incoming)?.sync_all()?;
            fs::rename(&incoming, &to)?;
            to.parent().map_or(Ok(()), folder::sync)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&incoming);
        }
        written.map_err(self.failed("write", name))
    }

    pub(super) fn fetch(&self, name: &str, to: &Path) -> Result<(), ObjectsError> {
        let mut from = match File::open(self.0.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ObjectsError::Missing {
                    place: self.0.display().to_string(),
                    name: name.to_owned(),
                });
            }
            opened => opened.map_err(self.failed("read", name))?,
        };
        let write = ObjectsError::local("write", to);
        let mut file = super::create(to)?;
        io::copy(&mut from, &mut file).and_then(|_| file.sync_all()).map_err(write)
    }

    pub(super) fn list(&self, folder: &str) -> Result<BTreeMap<String, u64>, ObjectsError> {
        let entries = match fs::read_dir(self.0.join(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            entries => entries.map_err(self.failed("list", folder))?,
        };
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len()))
        };
        entries.map(entry).collect::<io::Result<_>>().map_err(self.failed("list", folder))
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), ObjectsError> {
        match fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", name)(error)),
            _ => Ok(()),
        }
    }

    fn failed(&self, doing: &'static str, name: &str) -> impl Fn(io::Error) -> ObjectsError + use<> {
        let (name, place) = (name.to_owned(), self.0.display().to_string());
        move |error| ObjectsError::Failed {
            doing,
            name: name.clone(),
            place: place.clone(),
            reason: error.to_string(),
        }
    }
}
