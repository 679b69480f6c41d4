//! Reasons why the lake gives no answer.

use std::io;
use std::path::PathBuf;

use datafusion::error::DataFusionError;
use sotto_segment::SegmentError;
use sotto_sums::SumError;
use sotto_wire::WireError;

/// A reason why the lake gives no answer. It names the thing and the way out.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    /// An address that is neither a folder's nor a bucket's.
    #[error("{0}")]
    Address(String),
    /// No store of a cloud.
    #[error("{0} has no cloud.sqlite: name the folder of a cloud's store, or a place of its backups")]
    NoStore(String),
    /// A catalogue of another version.
    #[error(
        "the catalogue has version {found}, and this program reads version {known}: bring both to the same release"
    )]
    Version {
        /// Its version.
        found: i64,
        /// The version of this program.
        known: i64,
    },
    /// The catalogue cannot be read.
    #[error("the catalogue: {0}")]
    Catalogue(#[from] rusqlite::Error),
    /// The catalogue has something that is no window.
    #[error("the catalogue is damaged: {0}: run `sotto-cloud check`")]
    Damaged(String),
    /// A segment of the catalogue is nowhere.
    #[error(
        "segment {0} is missing: the store may have changed since the plan was made, ask again; else run `sotto-cloud check`"
    )]
    Missing(String),
    /// A segment is not the one that was written.
    #[error("segment {name}: {reason}: run `sotto-cloud check`, and `repair` it from a backup")]
    Segment {
        /// The name of its file.
        name: String,
        /// The fault.
        reason: String,
    },
    /// A bucket does not answer as it should.
    #[error("{place}: cannot read {name}: {reason}")]
    Bucket {
        /// The address.
        place: String,
        /// The file that was asked for.
        name: String,
        /// The fault.
        reason: String,
    },
    /// A file of this machine.
    #[error("cannot {doing} {}: {error}", file.display())]
    File {
        /// The work.
        doing: &'static str,
        /// The file.
        file: PathBuf,
        /// The fault.
        error: io::Error,
    },
    /// A window is not one of its stream.
    #[error("window {number} of stream `{stream}` of `{device}`: {reason}")]
    Window {
        /// Its device.
        device: String,
        /// Its stream.
        stream: String,
        /// Its number.
        number: u64,
        /// The fault.
        reason: String,
    },
    /// A sum that cannot be made.
    #[error("{0}")]
    Sum(String),
    /// A plan that no lake wrote.
    #[error("the plan: {0}")]
    Plan(String),
    /// A file of the store is nowhere.
    #[error(
        "{0} is missing: the store may have changed since the plan was made, ask again; else run `sotto-cloud check`"
    )]
    Gone(String),
    /// A file of the store is not the one that was written.
    #[error("{name}: {reason}: run `sotto-cloud check`, and `repair` it from a backup")]
    Object {
        /// Its name, with its folder.
        name: String,
        /// The fault.
        reason: String,
    },
    /// A ciphertext that a function cannot take.
    #[error("ciphertext {number} of stream `{stream}` of `{device}`: {reason}")]
    Ciphertext {
        /// Its device.
        device: String,
        /// Its stream.
        stream: String,
        /// Its number.
        number: u64,
        /// The fault.
        reason: String,
    },
    /// An evaluation that is refused.
    #[error("{0}")]
    Evaluation(String),
}

impl LakeError {
    pub(crate) fn file(doing: &'static str, file: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |error| Self::File { doing, file, error }
    }

    /// `.map_err(LakeError::segment(name))`
    pub(crate) fn segment(name: &str) -> impl Fn(SegmentError) -> Self {
        let name = name.to_owned();
        move |error| Self::Segment { name: name.clone(), reason: error.to_string() }
    }
}

impl From<WireError> for LakeError {
    fn from(error: WireError) -> Self {
        Self::Sum(error.to_string())
    }
}

impl From<SumError> for LakeError {
    fn from(error: SumError) -> Self {
        Self::Sum(error.to_string())
    }
}

impl From<LakeError> for DataFusionError {
    fn from(error: LakeError) -> Self {
        Self::External(Box::new(error))
    }
}
