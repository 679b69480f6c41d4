//! Segments: immutable files of windows of sums, in Parquet. docs/concepts/data-model.md has the columns.
//!
//! A segment has *blocks*, Parquet's row groups: windows of one log in the order of their numbers, at most
//! [`MOST_ROWS`] and some. No catalogue is needed to read one. The cloud writes segments; the cloud and the lake read them.
//!
//! ```
//! # use std::sync::Arc;
//! # use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
//! # use sotto_rlwe::KeyId;
//! # use sotto_wire::{Envelope, MaskName, StreamHeader, SumsStream};
//! use sotto_segment::{Kind, Row, Segment, Window, Writer};
//! # let level = Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
//! # let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 16 };
//! # let stream = SumsStream {
//! #     device: "cellar".into(),
//! #     stream: "tank".into(),
//! #     period: Period::of_seconds(60, 1)?,
//! #     ticks: 16,
//! #     channels: vec![level],
//! #     rounded: false,
//! #     parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
//! # };
//! # let header = Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16]))?);
//! # let name = MaskName { salt: [3; 12], sequence: 7 };
//! # let description = WindowDescription::whole(header.layout(), 0, Period::from_milliseconds(60_000), 1);
//! # let envelope = Envelope::sign_sums(&header, 7, name, description, &[9, 0, 5, 0, 0, 0, 0, 0, 0, 0], |_| [0; 64])?;
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("segment");
//!
//! let mut writer = Writer::new(std::fs::File::create_new(&file)?)?;
//! writer.begin("cellar", "tank")?;
//! let window = Window::whole(&envelope).ok_or("a window of sums")?;
//! writer.push(Row { sequence: 7, position: 0, bytes: 10, stored_at: 0, window })?;
//! let (digest, _) = writer.finish()?;
//!
//! let segment = Segment::open(&file, digest)?;
//! let block = segment.block(0)?;
//! segment.load_parts(0, &block)?;
//! assert_eq!((block.sequence(0), block.kind(0)), (7, Kind::Whole));
//! assert_eq!(block.message(0, &header)?, envelope.write());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod columns;
mod file;
mod read;
mod row;
mod write;

use std::io;

pub use block::Block;
use parquet::errors::ParquetError;
pub use read::{Segment, hashed};
pub use row::{Kind, Row, Window};
pub use write::{Placed, Writer};

/// Rows of a block, unless a group of windows goes on.
pub const MOST_ROWS: usize = 2048;
/// Bytes of bodies of a block, unless it has one row.
pub const MOST_BLOCK_BYTES: usize = 1 << 20;

/// A reason why a segment cannot be read or written.
///
/// Example: [`Segment`]
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The file is no Parquet file, or a damaged one.
    #[error("{0}")]
    Parquet(ParquetError),
    /// The file cannot be read or written.
    #[error("{0}")]
    Files(#[from] std::io::Error),
    /// The bytes are not those that were written.
    #[error("a block is not the one that was written: its digest is another one")]
    Digest,
    /// The file is no segment, or its rows are not those of windows.
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
