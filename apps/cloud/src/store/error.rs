//! Errors of the store.

use std::io;
use std::path::PathBuf;

use sotto_service::folder::FolderError;
use sotto_service::migrations::MigrationError;
use sotto_wire::WireError;

use crate::objects::ObjectsError;

/// An error of the store, for the log; clients get fewer details. It has no error source: the message contains the
/// reason, and a chain would print it twice.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the database: {0}")]
    Database(rusqlite::Error),
    #[error("cannot {doing}: {error}")]
    Files { doing: &'static str, error: io::Error },
    #[error("the operating system gave no randomness: {0}")]
    Random(getrandom::Error),
    #[error("stored bytes cannot be used: {0}")]
    Damaged(String),
    /// Windows of a segment.
    #[error(
        "windows {first} to {last} of {stream} cannot be read: their bytes in the cloud are damaged. `sotto-cloud check` shows where, \
         `sotto-cloud repair --from BACKUP` puts them back; a question without their time is answered"
    )]
    DamagedWindows { stream: String, first: u64, last: u64, reason: String },
    /// A segment is in the object store alone.
    #[error("segment {0} is in the object store alone, and is not fetched yet")]
    Away(String),
    /// A folder or bucket that files go to.
    #[error("{0}")]
    Objects(String),
    /// A backup cannot be restored.
    #[error("the backup cannot be used: {0}")]
    Backup(String),
    /// The bytes are intact but have a layout that is no longer read.
    #[error("the stored bytes have the layout of an older version: {0}")]
    Outdated(String),
    /// The bytes are of a window of places. Its row and its place in the log stay.
    #[error(transparent)]
    Places(WireError),
    /// The window was provisional, and another one has taken its place.
    #[error(
        "window {sequence} of stream {stream} was a piece of a window that was still open: that window has its readings now, and \
         the body of the piece is dropped"
    )]
    Dropped { stream: String, sequence: u64 },
    #[error("another process has this store open")]
    InUse,
    /// Envelope files exist, but the database has no rows.
    #[error(
        "the database is empty, and {envelopes} files of windows are beside it or in the object store: put cloud.sqlite back, or make the rows again from \
         the envelopes with `sotto-cloud rebuild --config FILE`"
    )]
    NoRows { envelopes: usize },
    /// A database is required but missing.
    #[error("{} has no cloud.sqlite: it is neither a store nor a backup", .0.display())]
    NoStore(PathBuf),
    #[error("the store has version {0}, which this program does not know")]
    Version(i64),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<getrandom::Error> for StoreError {
    fn from(error: getrandom::Error) -> Self {
        Self::Random(error)
    }
}

impl From<ObjectsError> for StoreError {
    fn from(error: ObjectsError) -> Self {
        Self::Objects(error.to_string())
    }
}

impl From<FolderError> for StoreError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Files { doing, error } => Self::Files { doing, error },
            FolderError::InUse => Self::InUse,
        }
    }
}

impl From<MigrationError> for StoreError {
    fn from(error: MigrationError) -> Self {
        match error {
            MigrationError::Database(error) => Self::Database(error),
            MigrationError::Version(version) => Self::Version(version),
        }
    }
}

impl StoreError {
    /// Names the windows that a damaged block has.
    pub(super) fn of_windows(self, stream: &str, first: u64, last: u64) -> Self {
        match self {
            Self::Damaged(reason) => Self::DamagedWindows { stream: stream.to_owned(), first, last, reason },
            error => error,
        }
    }

    /// Returns true if the disk or the quota is full.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            Self::Files { error, .. } => {
                matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::Database(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            _ => false,
        }
    }
}

/// `.map_err(failed_to("write a body"))`
pub(super) fn failed_to(doing: &'static str) -> impl FnOnce(io::Error) -> StoreError {
    move |error| StoreError::Files { doing, error }
}

/// `.map_err(damaged)`, for stored bytes that cannot be read.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn damaged(error: WireError) -> StoreError {
    match error {
        WireError::Places => StoreError::Places(error),
        _ => StoreError::Damaged(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_errors_prints_the_reason_once() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let errors = [
            StoreError::from(rusqlite::Error::InvalidQuery),
            StoreError::from(getrandom::Error::UNSUPPORTED),
            StoreError::from(FolderError::Files { doing: "make a folder", error: full() }),
            failed_to("write a body")(full()),
        ];
        for error in errors {
            let message = error.to_string();
            assert_eq!(format!("{:#}", anyhow::Error::from(error)), message);
        }
    }
}
