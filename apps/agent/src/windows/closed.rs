//! A closed window, and the reasons why no more come.

use std::time::Duration;

use sotto_pack::{PackError, Packed};
use zeroize::Zeroizing;

use crate::source::SourceError;

/// A window that takes no more readings.
pub struct ClosedWindow {
    /// The slots.
    pub packed: Packed,
    /// When the first reading was taken: milliseconds since 1970.
    pub started_at: i64,
    /// When the last reading was taken.
    pub ended_at: i64,
    /// The end of the window in milliseconds since 1970.
    pub until: i64,
    /// Packing time, without the time to read.
    pub pack_time: Duration,
    /// The readings tick by tick, if the clear log is on; else empty.
    pub clear: Vec<Zeroizing<Vec<Option<f64>>>>,
}

/// Reason why there are no more windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The source has no more rows.
    Source,
    /// A stop was requested.
    Stop,
}

/// Reason why windows cannot be filled. Contains no reading.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The source cannot be read.
    #[error(transparent)]
    Source(SourceError),
    /// The readings cannot be packed.
    #[error("the readings cannot be packed: {0}")]
    Pack(String),
}

/// Drops the value of the error: it may be a reading.
impl From<PackError> for FillError {
    fn from(error: PackError) -> Self {
        Self::Pack(match error {
            PackError::Value { channel, .. } => format!("a value of channel {channel} is out of range"),
            other => other.to_string(),
        })
    }
}
