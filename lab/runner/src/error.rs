//! Errors of the runner. Failures of engines are not among them: they are gaps and end no run.

use std::path::PathBuf;

/// Why a definition cannot be read or a run cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A definition is malformed or contradicts itself.
    #[error("the definition {file}: {reason}")]
    Definition {
        /// The definition's file.
        file: String,
        /// The fault, with its line if known.
        reason: String,
    },
    /// An unknown name.
    #[error("there is no {kind} {name}; there are {known}")]
    Unknown {
        /// The kind of the named thing.
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The selection leaves nothing to measure.
    #[error("nothing of {definition} is left to measure: it has {has}")]
    Nothing {
        /// The definition's name.
        definition: String,
        /// Its sizes and schemes.
        has: String,
    },
    /// No chain of primes fits.
    #[error("no parameters for {scheme}, n = {degree}: {source}")]
    Parameters {
        /// The scheme's name.
        scheme: &'static str,
        /// n.
        degree: usize,
        /// The reason.
        source: sotto_rlwe::ParameterError,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A file lacks the two lines that mark the summary.
    #[error("{path} has no lines `<!-- lab summary: begin -->` and `<!-- lab summary: end -->`", path = path.display())]
    NoPlace {
        /// The file.
        path: PathBuf,
    },
    /// A line of a file of rows is not a row.
    #[error("{path}, line {line}: {reason}", path = path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The fault.
        reason: String,
    },
}

impl RunnerError {
    /// Returns a function that adds the path to an I/O error.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
