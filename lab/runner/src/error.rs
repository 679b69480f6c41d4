//! What can go wrong beside the engines, whose failures are gaps and end nothing.

use std::path::PathBuf;

/// Why a definition cannot be read or a run not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A definition's text is not one.
    #[error("the definition {file}: {reason}")]
    Definition {
        /// Its file.
        file: String,
        /// What is wrong, with the line where there is one.
        reason: String,
    },
    /// A name that is not known.
    #[error("there is no {kind} {name}; there is {known}")]
    Unknown {
        /// What kind of thing.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Nothing is left to measure.
    #[error("nothing of {definition} is left to measure: it has {has}")]
    Nothing {
        /// Which definition.
        definition: String,
        /// Its sizes and schemes.
        has: String,
    },
    /// No chain of primes fits.
    #[error("no parameters for {scheme}, n = {degree}: {source}")]
    Parameters {
        /// The scheme.
        scheme: &'static str,
        /// n.
        degree: usize,
        /// Why.
        source: sotto_rlwe::ParameterError,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file has no place for a summary.
    #[error("{path} has no lines `<!-- lab summary: begin -->` and `<!-- lab summary: end -->`", path = path.display())]
    NoPlace {
        /// Which.
        path: PathBuf,
    },
    /// A file of rows holds something else.
    #[error("{path}, line {line}: {reason}", path = path.display())]
    Row {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl RunnerError {
    /// A file's error.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
