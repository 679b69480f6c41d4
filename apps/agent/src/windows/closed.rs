//! A closed window, and the reasons why no more come.

use std::collections::BTreeMap;
use std::time::Duration;

use sotto_pack::{MOST_REPLACED, PackError, Packed, Replaces};
use zeroize::Zeroizing;

use crate::source::SourceError;
use crate::spool::kept::KeptWindow;
use crate::spool::{Runs, SpoolError};

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
    /// Facts about a window that comes in the place of others, or may be made again.
    pub joined: Option<Box<JoinedFacts>>,
}

/// Facts about a window that comes in the place of others, or may be made again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinedFacts {
    /// The readings to keep, before the window's message. `None` for a stream whose readings are not kept.
    pub kept: Option<KeptWindow>,
    /// The starts of kept windows in whose place this one comes.
    pub obsolete: Vec<i64>,
    /// The windows in whose place this one comes.
    pub replaces: Option<Replaces>,
    /// Times, by channel, whose ticks count no more.
    pub cleared: BTreeMap<String, Runs>,
    /// For each channel, the number of its readings in this window that were in none before.
    pub readings: Vec<u64>,
    /// True if it is a piece of a window that is still open.
    pub provisional: bool,
    /// True if it comes in the place of the pieces of its stream that were sent since the last such window.
    pub ends_pieces: bool,
}

/// Returns the list of the last of these windows that one can replace, for all channels.
pub(crate) fn in_the_place_of(windows: &[u64], channels: usize) -> Option<Replaces> {
    let windows = windows[windows.len().saturating_sub(MOST_REPLACED)..].to_vec();
    let channels = (0..channels as u16).collect();
    (!windows.is_empty()).then_some(Replaces { windows, channels })
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
    /// Kept readings cannot be read or written.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// A correction lacks readings that were sent.
    #[error("{0}")]
    Lacks(String),
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
