//! Errors of engines.

use std::path::PathBuf;
use std::time::Duration;

/// Why an engine could not be installed or gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// There is no folder to install engines in.
    #[error("no cache folder: set SOTTO_CACHE to a folder that may be written to")]
    NoCache,
    /// The engine was never installed, or its files have changed since.
    #[error("the engine {engine} is not installed: {how}")]
    NotInstalled {
        /// The engine's name.
        engine: &'static str,
        /// The way to install it.
        how: &'static str,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A step of an installation failed.
    #[error("installing {engine}: `{step}` failed: {output}")]
    Install {
        /// The engine's name.
        engine: &'static str,
        /// The failed command.
        step: String,
        /// The end of its output.
        output: String,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// Its path, or the command line.
        program: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The engine ended without an answer.
    #[error("the engine {engine} ended without an answer; it last said: {said}")]
    Ended {
        /// The engine's name.
        engine: String,
        /// The end of its standard error.
        said: String,
    },
    /// The engine exceeded its time limit and was ended.
    #[error("the engine {engine} gave no answer within {limit:?} and was ended")]
    TooSlow {
        /// The engine's name.
        engine: String,
        /// The time limit.
        limit: Duration,
    },
    /// The engine's answer is not a reply of the protocol.
    #[error("the engine {engine} gave an answer outside the protocol: {reason}")]
    Reply {
        /// The engine's name.
        engine: String,
        /// The fault.
        reason: String,
    },
    /// The engine refused the request.
    #[error("the engine {engine} refused: {reason}")]
    Refused {
        /// The engine's name.
        engine: String,
        /// The engine's own words.
        reason: String,
    },
}

impl LabError {
    /// Returns a function that adds the path to an I/O error.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
