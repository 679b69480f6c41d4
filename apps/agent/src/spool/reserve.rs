//! Reserves disk space for the spool's own small files, so that they can be written on a full disk.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::durable::{self, Audience};
use super::private;

const FILE: &str = "reserve";
/// Enough for the state of some hundred streams, and for the document of a refused message.
const BYTES: usize = 256 << 10;

/// A file that is deleted to make space for another one.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
}

impl Reserve {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(FILE) }
    }

    /// Makes the file if it is missing. Ignores a full disk: there may be space later.
    pub(super) fn keep(&self) {
        if self.path.exists() {
            return;
        }
        // Write every byte: a sparse file would reserve no space.
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

    /// Writes a file; on a full disk, uses the reserved space.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match durable::write(path, bytes, Audience::Owner) {
            Err(error) if is_full(&error) && self.release() => durable::write(path, bytes, Audience::Owner),
            written => written,
        }
    }

    /// Frees the reserved space. Returns true if it is free.
    pub(super) fn release(&self) -> bool {
        durable::remove_if_there(&self.path).is_ok()
    }
}

/// Returns true if the disk or the quota is full.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
