//! Bodies, one file each.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sotto_service::folder;

use super::error::{StoreError, failed_to};
use crate::id::Id;

/// The folder of a file, by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// Whole envelopes: header, ciphertext, signature.
    Envelopes,
    /// Evaluation keys.
    Keys,
    Plans,
    /// Ciphertexts that are results of jobs.
    Outputs,
    /// Windows of sums, many in a file.
    Segments,
}

impl Folder {
    pub(super) const ALL: [Self; 5] =
        [Self::Envelopes, Self::Keys, Self::Plans, Self::Outputs, Self::Segments];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Envelopes => "envelopes",
            Self::Keys => "keys",
            Self::Plans => "plans",
            Self::Outputs => "outputs",
            Self::Segments => "segments",
        }
    }
}

/// The folder of files without a row, with one subfolder per kind.
const ORPHANS: &str = "orphans";

/// A file in `incoming`. It is removed when this is dropped, unless it was renamed.
pub(super) struct Incoming(PathBuf);

impl Incoming {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The folders of files. A file is written in `incoming`, made durable, then renamed: under its final name it is
/// complete.
pub(super) struct Bodies {
    root: PathBuf,
    incoming: PathBuf,
}

impl Bodies {
    /// Returns the folders of a store that exists.
    pub(super) fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), incoming: root.join("incoming") }
    }

    /// Makes the folders, and removes partial files of an earlier process: nobody has a receipt for them.
    pub(super) fn open(root: &Path) -> Result<Self, StoreError> {
        let bodies = Self::at(root);
        for kind in Folder::ALL {
            folder::make_inside(&root.join(kind.name()))?;
        }
        folder::make_inside(&bodies.incoming)?;
        for left in fs::read_dir(&bodies.incoming).map_err(failed_to("list a folder"))? {
            let left = left.map_err(failed_to("list a folder"))?;
            fs::remove_file(left.path()).map_err(failed_to("remove a file left behind"))?;
            tracing::warn!(file = %left.file_name().display(), "removed a partial file");
        }
        sync_folder(root)?;
        Ok(bodies)
    }

    pub(super) fn path(&self, folder: Folder, name: &str) -> PathBuf {
        self.folder(folder).join(name)
    }

    pub(super) fn folder(&self, folder: Folder) -> PathBuf {
        self.root.join(folder.name())
    }

    /// Names a file that is to be written.
    pub(super) fn incoming(&self) -> Result<Incoming, StoreError> {
        Ok(Incoming(self.incoming.join(Id::random()?.to_string())))
    }

    /// Writes a file durably.
    pub(super) fn write(&self, folder: Folder, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_all(folder, [(name, bytes)])
    }

    /// Writes a file durably unless one with this name exists.
    pub(super) fn write_if_missing(
        &self,
        folder: Folder,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        if self.path(folder, name).exists() { Ok(()) } else { self.write(folder, name, bytes) }
    }

    /// Writes files durably under their names. After an error, some of them may exist.
    pub(super) fn write_all<'f>(
        &self,
        folder: Folder,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<(), StoreError> {
        for (name, bytes) in files {
            let incoming = self.incoming.join(Id::random()?.to_string());
            let written =
                write_synced(&incoming, bytes).and_then(|()| fs::rename(&incoming, self.path(folder, name)));
            if let Err(error) = written {
                // Partial files are removed at the next start.
                let _ = fs::remove_file(&incoming);
                return Err(StoreError::Files { doing: "write a body", error });
            }
        }
        sync_folder(&self.root.join(folder.name()))
    }

    pub(super) fn read(&self, folder: Folder, name: &str) -> Result<Vec<u8>, StoreError> {
        fs::read(self.path(folder, name)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Damaged(format!("{}/{name} is missing", folder.name())),
            _ => StoreError::Files { doing: "read a body", error },
        })
    }

    /// Moves a file without a row to `orphans/`, where this program never deletes anything.
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

    /// Moves the files in `orphans/` back, except for names that are taken.
    pub(super) fn take_back(&self, folder: Folder) -> Result<(), StoreError> {
        for name in list(&self.orphans(folder))? {
            let back = self.path(folder, &name);
            if !back.exists() {
                fs::rename(self.orphans(folder).join(&name), back).map_err(failed_to("take a file back"))?;
            }
        }
        sync_folder(&self.root.join(folder.name()))
    }

    /// Returns the number of files in `orphans/`.
    pub(super) fn orphan_count(&self) -> Result<usize, StoreError> {
        Folder::ALL.into_iter().map(|folder| Ok(list(&self.orphans(folder))?.len())).sum()
    }

    fn orphans(&self, folder: Folder) -> PathBuf {
        self.root.join(ORPHANS).join(folder.name())
    }

    /// Removes a file without a row, if it exists. If that fails, the next start puts the file aside.
    pub(super) fn remove(&self, folder: Folder, name: &str) {
        if let Err(error) = fs::remove_file(self.path(folder, name))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(folder = folder.name(), name, %error, "a file without a row cannot be removed");
        }
    }

    pub(super) fn names(&self, folder: Folder) -> Result<Vec<String>, StoreError> {
        list(&self.root.join(folder.name()))
    }
}

/// Returns the names of the files in a folder; none if the folder does not exist.
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
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    folder::sync(folder).map_err(failed_to("sync a folder"))
}
