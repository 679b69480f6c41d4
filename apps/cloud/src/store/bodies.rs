//! Bodies: one file each.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sotto_service::folder;

use super::error::{StoreError, failed_to};
use crate::id::Id;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// Whole envelopes: header, ciphertext, signature.
    Envelopes,
    /// Evaluation keys.
    Keys,
    Plans,
    /// Ciphertexts that jobs gave.
    Outputs,
}

impl Folder {
    pub(super) const ALL: [Self; 4] = [Self::Envelopes, Self::Keys, Self::Plans, Self::Outputs];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Envelopes => "envelopes",
            Self::Keys => "keys",
            Self::Plans => "plans",
            Self::Outputs => "outputs",
        }
    }
}

/// The folders of files. A file is written elsewhere, made durable, then moved to its name: under its name it is whole.
pub(super) struct Bodies {
    root: PathBuf,
    incoming: PathBuf,
}

impl Bodies {
    /// Makes the folders and removes what was being written when the process ended.
    pub(super) fn open(root: &Path) -> Result<Self, StoreError> {
        let bodies = Self { root: root.to_owned(), incoming: root.join("incoming") };
        for kind in Folder::ALL {
            folder::make_inside(&root.join(kind.name()))?;
        }
        folder::make_inside(&bodies.incoming)?;
        for left in fs::read_dir(&bodies.incoming).map_err(failed_to("list a folder"))? {
            let left = left.map_err(failed_to("list a folder"))?;
            fs::remove_file(left.path()).map_err(failed_to("remove a file left behind"))?;
            tracing::warn!(file = %left.file_name().display(), "removed what was half written");
        }
        sync_folder(root)?;
        Ok(bodies)
    }

    fn path(&self, folder: Folder, name: &str) -> PathBuf {
        self.root.join(folder.name()).join(name)
    }

    /// Writes a file; when this returns it will be there after a power cut.
    pub(super) fn write(&self, folder: Folder, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let incoming = self.incoming.join(Id::random()?.to_string());
        let written =
            write_synced(&incoming, bytes).and_then(|()| fs::rename(&incoming, self.path(folder, name)));
        if let Err(source) = written {
            // What is left is removed at the next start.
            let _ = fs::remove_file(&incoming);
            return Err(StoreError::Files { doing: "write a body", source });
        }
        sync_folder(&self.root.join(folder.name()))
    }

    pub(super) fn read(&self, folder: Folder, name: &str) -> Result<Vec<u8>, StoreError> {
        fs::read(self.path(folder, name)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::Damaged(format!("{}/{name} is missing", folder.name())),
            _ => StoreError::Files { doing: "read a body", source },
        })
    }

    /// Removes a file that no row names. One that cannot be removed is removed at the next start.
    pub(super) fn remove(&self, folder: Folder, name: &str) {
        if let Err(error) = fs::remove_file(self.path(folder, name)) {
            tracing::warn!(folder = folder.name(), name, %error, "a file without a row is left");
        }
    }

    pub(super) fn names(&self, folder: Folder) -> Result<Vec<String>, StoreError> {
        fs::read_dir(self.root.join(folder.name()))
            .and_then(|entries| {
                entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
            })
            .map_err(failed_to("list a folder"))
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the names in a folder durable.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed_to("sync a folder"))?;
    }
    Ok(())
}
