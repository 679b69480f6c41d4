//! The counts of the messages that are kept.

use std::path::Path;

use super::super::error::SpoolError;
use super::{ArchivedFile, CONFIRMED, file};

/// The counts of the messages that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveTotals {
    /// Number of windows.
    pub windows: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// When the oldest was confirmed: milliseconds since 1970.
    pub since: Option<i64>,
}

impl ArchiveTotals {
    pub(super) fn of<'f>(files: impl Iterator<Item = &'f ArchivedFile>) -> Self {
        files.fold(Self::default(), |all, file| Self {
            windows: all.windows + file.windows,
            bytes: all.bytes + file.bytes,
            since: Some(all.since.map_or(file.confirmed_at, |since| since.min(file.confirmed_at))),
        })
    }

    /// Reads the counts of a spool without locking it. A folder that is missing has none.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder cannot be read.
    pub fn read(spool: &Path) -> Result<Self, SpoolError> {
        let folder = spool.join(CONFIRMED);
        if !folder.is_dir() {
            return Ok(Self::default());
        }
        Ok(Self::of(file::files(&folder).map_err(SpoolError::io(&folder))?.iter()))
    }
}
