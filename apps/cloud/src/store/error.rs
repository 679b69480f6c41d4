//! Errors of the store.

use std::io;
use std::path::PathBuf;

use sotto_service::folder::FolderError;
use sotto_service::migrations::MigrationError;
use sotto_wire::WireError;

/// An error of the store, for the log; clients get fewer details.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the database: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("cannot {doing}: {source}")]
    Files { doing: &'static str, source: io::Error },
    #[error("the operating system gave no randomness: {0}")]
    Random(#[from] getrandom::Error),
    #[error("stored bytes cannot be used: {0}")]
    Damaged(String),
    /// The bytes are intact but have a layout that is no longer read.
    #[error("the stored bytes have the layout of an older version: {0}")]
    Outdated(String),
    #[error("another process has this store open")]
    InUse,
    /// Envelope files exist, but the database has no rows.
    #[error(
        "the database is empty, and {envelopes} envelopes are beside it: put cloud.sqlite back, or make the rows again from \
         the envelopes with `sotto-cloud rebuild --config FILE`"
    )]
    NoRows { envelopes: usize },
    /// A database is required but missing.
    #[error("{} has no cloud.sqlite: it is neither a store nor a backup", .0.display())]
    NoStore(PathBuf),
    #[error("the store has version {0}, which this program does not know")]
    Version(i64),
}

impl From<FolderError> for StoreError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Files { doing, source } => Self::Files { doing, source },
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
    /// Returns true if the disk or the quota is full.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            Self::Files { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::Database(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            _ => false,
        }
    }
}

/// `.map_err(failed_to("write a body"))`
pub(super) fn failed_to(doing: &'static str) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Files { doing, source }
}

/// `.map_err(damaged)`, for stored bytes that cannot be read.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn damaged(error: WireError) -> StoreError {
    StoreError::Damaged(error.to_string())
}
