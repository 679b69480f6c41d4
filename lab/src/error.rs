//! What can go wrong with an engine.

use std::path::PathBuf;
use std::time::Duration;

/// Why an engine could not be installed or gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// There is nowhere to install engines.
    #[error("no cache folder: set SOTTO_CACHE to a folder that may be written to")]
    NoCache,
    /// The engine was never installed, or its files have changed since.
    #[error("the engine {engine} is not installed: {how}")]
    NotInstalled {
        /// Which.
        engine: &'static str,
        /// The way to install it.
        how: &'static str,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A step of an installation failed.
    #[error("installing {engine}: `{step}` failed: {output}")]
    Install {
        /// Which engine.
        engine: &'static str,
        /// The command.
        step: String,
        /// The last of what it printed.
        output: String,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The engine ended without an answer.
    #[error("the engine {engine} ended without an answer; it last said: {said}")]
    Ended {
        /// Which.
        engine: String,
        /// The last of its standard error.
        said: String,
    },
    /// The engine took too long and was ended.
    #[error("the engine {engine} gave no answer within {limit:?} and was ended")]
    TooSlow {
        /// Which.
        engine: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The engine answered with something else than a reply.
    #[error("the engine {engine} answered something else than the protocol says: {reason}")]
    Reply {
        /// Which.
        engine: String,
        /// What was wrong.
        reason: String,
    },
    /// The engine refused the request.
    #[error("the engine {engine} refused: {reason}")]
    Refused {
        /// Which.
        engine: String,
        /// Its own words.
        reason: String,
    },
}

impl LabError {
    /// A file's error.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
