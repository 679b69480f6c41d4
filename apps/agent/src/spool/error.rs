//! Why the spool cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use sotto_wire::WireError;

/// Why the spool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The system refuses.
    #[error("{path} cannot be used: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another process has it.
    #[error("{path} is in use by another process: give each device a spool of its own")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// It is another device's.
    #[error("{path} is the spool of device {found}, not of {expected}: give each device a spool of its own")]
    OtherDevice {
        /// The folder.
        path: PathBuf,
        /// The device that runs.
        expected: String,
        /// The device whose spool it is.
        found: String,
    },
    /// The sequence numbers cannot be read.
    #[error(
        "{path} is damaged ({reason}): sequence numbers might be used again; begin with an empty spool under another device name"
    )]
    State {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// More streams than are read again at the next start.
    #[error(
        "{path} would have more than {limit} bytes: a spool is for fewer streams; begin with an empty one under another device name"
    )]
    TooManyStreams {
        /// The file.
        path: PathBuf,
        /// Bytes that it may have.
        limit: u64,
    },
    /// A stream has used all of its sequence numbers.
    #[error(
        "{path}: stream {stream} has no sequence numbers left; begin with an empty spool under another device name"
    )]
    NoneLeft {
        /// The file.
        path: PathBuf,
        /// The stream.
        stream: String,
    },
    /// It does not hold even one message.
    #[error("a spool of {limit} bytes does not hold a message of up to {needed}: raise --spool-limit")]
    TooSmall {
        /// Bytes it may have.
        limit: u64,
        /// Bytes of a message.
        needed: u64,
    },
    /// A message does not come back as it was written.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: WireError,
    },
    /// A file holds another message than its name says.
    #[error("{path} holds another message than its name says")]
    Renamed {
        /// The file.
        path: PathBuf,
    },
}

impl SpoolError {
    /// The error of the system for a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { path: path.to_owned(), error }
    }
}
