//! Space that is kept for the spool's own small files, so that a full disk cannot stop it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::durable::{self, Audience};
use super::private;

const FILE: &str = "reserve";
/// Room for the state of some hundred streams, and for the document beside a refused message.
const BYTES: usize = 256 << 10;

/// A file whose space is given up when another cannot be written.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
}

impl Reserve {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(FILE) }
    }

    /// Makes it where it is missing. A disk without room for it is no error: there may be room later.
    pub(super) fn keep(&self) {
        if self.path.exists() {
            return;
        }
        // Written, not only made longer: a file with holes takes no space.
        let filled = private::options().create(true).truncate(true).write(true).open(&self.path).and_then(
            |mut file| {
                file.write_all(&[1; BYTES])?;
                file.sync_all()
            },
        );
        if filled.is_err() {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Writes a file, if need be in the space that was kept.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match durable::write(path, bytes, Audience::Owner) {
            Err(error) if is_full(&error) && durable::remove_if_there(&self.path).is_ok() => {
                durable::write(path, bytes, Audience::Owner)
            }
            written => written,
        }
    }
}

/// True if there is no space left on the disk.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
