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

/// Files without a row, by folder.
const ORPHANS: &str = "orphans";

/// The folders of files. A file is written elsewhere, made durable, then moved to its name: under its name it is whole.
pub(super) struct Bodies {
    root: PathBuf,
    incoming: PathBuf,
}

impl Bodies {
    /// Makes the folders and removes files that were half written when the process ended: nobody got a receipt for them.
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
        self.write_all(folder, [(name, bytes)])
    }

    /// Writes a file if none has its name.
    pub(super) fn write_if_missing(
        &self,
        folder: Folder,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        if self.path(folder, name).exists() { Ok(()) } else { self.write(folder, name, bytes) }
    }

    /// Writes files under their names; when this returns they will be there after a power cut. After an error some may be there.
    pub(super) fn write_all<'f>(
        &self,
        folder: Folder,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<(), StoreError> {
        for (name, bytes) in files {
            let incoming = self.incoming.join(Id::random()?.to_string());
            let written =
                write_synced(&incoming, bytes).and_then(|()| fs::rename(&incoming, self.path(folder, name)));
            if let Err(source) = written {
                // The rest is removed at the next start.
                let _ = fs::remove_file(&incoming);
                return Err(StoreError::Files { doing: "write a body", source });
            }
        }
        sync_folder(&self.root.join(folder.name()))
    }

    pub(super) fn read(&self, folder: Folder, name: &str) -> Result<Vec<u8>, StoreError> {
        fs::read(self.path(folder, name)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::Damaged(format!("{}/{name} is missing", folder.name())),
            _ => StoreError::Files { doing: "read a body", source },
        })
    }

    /// Moves a file without a row to `orphans/`, where nothing is ever removed by this program.
    pub(super) fn put_aside(&self, folder: Folder, name: &str) -> Result<(), StoreError> {
        let aside = self.orphans(folder);
        folder::make_inside(&self.root.join(ORPHANS))?;
        folder::make_inside(&aside)?;
        let free = |number: &u32| !aside.join(numbered(name, *number)).exists();
        let to = aside.join(numbered(name, (1..).find(free).unwrap_or(u32::MAX)));
        fs::rename(self.path(folder, name), to).map_err(failed_to("put a file aside"))?;
        sync_folder(&aside)?;
        sync_folder(&self.root.join(folder.name()))
    }

    /// Moves the files that were put aside back, where no other has their name.
    pub(super) fn take_back(&self, folder: Folder) -> Result<(), StoreError> {
        for name in list(&self.orphans(folder))? {
            let back = self.path(folder, &name);
            if !back.exists() {
                fs::rename(self.orphans(folder).join(&name), back).map_err(failed_to("take a file back"))?;
            }
        }
        sync_folder(&self.root.join(folder.name()))
    }

    /// Files in `orphans/`.
    pub(super) fn orphan_count(&self) -> Result<usize, StoreError> {
        Folder::ALL.into_iter().map(|folder| Ok(list(&self.orphans(folder))?.len())).sum()
    }

    fn orphans(&self, folder: Folder) -> PathBuf {
        self.root.join(ORPHANS).join(folder.name())
    }

    /// Removes a file that no row names, if it is there. One that cannot be removed is put aside at the next start.
    pub(super) fn remove(&self, folder: Folder, name: &str) {
        if let Err(error) = fs::remove_file(self.path(folder, name))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(folder = folder.name(), name, %error, "a file without a row is left");
        }
    }

    pub(super) fn names(&self, folder: Folder) -> Result<Vec<String>, StoreError> {
        list(&self.root.join(folder.name()))
    }
}

/// Names of the files in a folder; none if it is not there.
fn list(folder: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed_to("list a folder"))?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<io::Result<_>>().map_err(failed_to("list a folder"))
}

fn numbered(name: &str, number: u32) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}.{number}") }
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
