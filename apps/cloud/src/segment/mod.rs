//! Segments: immutable files of windows of sums, in Parquet. docs/concepts/data-model.md has the columns.
//!
//! A segment has *blocks*, Parquet's row groups: windows of one log in the order of their numbers, at most
//! [`MOST_ROWS`] and some. No catalogue is needed to read one.

mod block;
mod columns;
mod file;
mod read;
mod row;
mod write;

use std::io;

pub(crate) use block::Block;
use parquet::errors::ParquetError;
pub(crate) use read::{Segment, hashed};
pub(crate) use row::{Kind, Row, Window};
pub(crate) use write::{Placed, Writer};

/// Rows of a block, unless a group of windows goes on.
pub(crate) const MOST_ROWS: usize = 2048;
/// Bytes of bodies of a block, unless it has one row.
pub(crate) const MOST_BLOCK_BYTES: usize = 1 << 20;

/// A reason why a segment cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SegmentError {
    #[error("{0}")]
    Parquet(ParquetError),
    #[error("{0}")]
    Files(#[from] std::io::Error),
    /// The bytes are not those that were written.
    #[error("a block is not the one that was written: its digest is another one")]
    Digest,
    #[error("{0}")]
    Layout(&'static str),
}

impl From<ParquetError> for SegmentError {
    fn from(error: ParquetError) -> Self {
        match error {
            // A full disk is no fault of the file. Other errors of reading may be: the file ends early.
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error)
                    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
                {
                    Self::Files(*error)
                }
                Ok(error) => Self::Parquet(ParquetError::External(error)),
                Err(error) => Self::Parquet(ParquetError::External(error)),
            },
            error => Self::Parquet(error),
        }
    }
}
