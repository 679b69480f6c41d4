//! Errors of the spool.

use std::io;
use std::path::{Path, PathBuf};

use sotto_wire::WireError;

use super::places_wait::PlacesWait;

/// Reason why the spool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The system reports an I/O error.
    #[error("{path} cannot be used: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Another process uses the spool.
    #[error("{path} is in use by another process: give each device a spool of its own")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The spool belongs to another device.
    #[error("{path} is the spool of device {found}, not of {expected}: give each device a spool of its own")]
    OtherDevice {
        /// The folder.
        path: PathBuf,
        /// The device that runs.
        expected: String,
        /// The device that the spool belongs to.
        found: String,
    },
    /// The file with the sequence numbers is damaged.
    #[error(
        "{path} is damaged ({reason}): sequence numbers might be used again; begin with an empty spool under another device name"
    )]
    State {
        /// The file.
        path: PathBuf,
        /// The parser's words.
        reason: String,
    },
    /// The state has more streams than the next start would read.
    #[error(
        "{path} would have more than {limit} bytes: the spool has too many streams; begin with an empty one under another device name"
    )]
    TooManyStreams {
        /// The file.
        path: PathBuf,
        /// Maximum bytes of the file.
        limit: u64,
    },
    /// A stream has used all of its sequence numbers.
    #[error(
        "{path}: stream {stream} has no sequence numbers left; begin with an empty spool under another device name"
    )]
    NoneLeft {
        /// The file.
        path: PathBuf,
        /// The stream's name.
        stream: String,
    },
    /// The limit is below the size of one message.
    #[error("a spool of {limit} bytes does not hold a message of up to {needed}: raise --spool-limit")]
    TooSmall {
        /// The limit in bytes.
        limit: u64,
        /// Maximum bytes of a message.
        needed: u64,
    },
    /// The spool has windows of places, which no cloud takes any more.
    #[error("{0}")]
    Places(Box<PlacesWait>),
    /// The content of a message's file is damaged.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first fault of the message's frame.
        reason: WireError,
    },
    /// A file's name and the message in it differ.
    #[error("{path} holds another message than its name says")]
    Renamed {
        /// The file.
        path: PathBuf,
    },
}

impl SpoolError {
    /// Returns a function that adds the path to an I/O error.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { path: path.to_owned(), error }
    }
}
