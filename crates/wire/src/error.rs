//! Reasons why bytes are refused.

use alloc::string::String;

#[cfg(feature = "partial")]
use sotto_partial::PartialError;
use sotto_rlwe::{KeyId, ParameterError, ParameterId};

use crate::kind::Kind;
use crate::tag::StreamTag;

/// The reason why bytes are refused. Readers return complete objects or an error.
///
/// ```
/// use sotto_wire::{WireError, frame_kind};
///
/// let refused = frame_kind(b"HTTP/1.1 502 Bad Gateway").unwrap_err();
/// assert_eq!(refused, WireError::Magic);
/// assert_eq!(refused.name(), "not-a-frame");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WireError {
    /// There are fewer bytes than the frame declares.
    #[error("the bytes end after {found} of {expected}: they are truncated")]
    Truncated {
        /// Bytes expected.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// There are more bytes than the frame declares.
    #[error("{extra} bytes follow the end of the frame")]
    Trailing {
        /// Bytes after the frame's end.
        extra: u64,
    },
    /// There are more bytes than the reader's limit.
    #[error("{found} bytes are more than the {limit} allowed here")]
    TooLarge {
        /// Maximum bytes.
        limit: u64,
        /// Bytes declared or found.
        found: u64,
    },
    /// The bytes are not a frame.
    #[error("these bytes are not a sotto frame")]
    Magic,
    /// The wire version is not known to this program.
    #[error("wire version {0} is not known here (this is version 1)")]
    Version(u8),
    /// The frame holds another kind of object.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// The kind that the reader expects.
        expected: Kind,
        /// The kind that the frame declares.
        found: String,
    },
    /// The digest does not match: the bytes were changed.
    #[error("the digest does not match: the bytes were changed on the way")]
    Digest,
    /// The payload's length does not match its parameters.
    #[error("the payload has {found} bytes, these parameters give {expected}")]
    Length {
        /// Bytes required.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The object was made for other parameters.
    #[error("made for parameters {found}, expected {expected}")]
    Parameters {
        /// The reader's parameters.
        expected: ParameterId,
        /// The frame's parameters.
        found: ParameterId,
    },
    /// The object was made for another key.
    #[error("made for key {found}, expected {expected}")]
    Key {
        /// The reader's key.
        expected: KeyId,
        /// The frame's key.
        found: KeyId,
    },
    /// A residue is not below its prime.
    #[error("a residue of limb {limb} is not below its prime")]
    Residue {
        /// The index of the limb.
        limb: usize,
    },
    /// Padding bits are not zero.
    #[error("padding bits are not zero")]
    Padding,
    /// A value is impossible; the text says which.
    #[error("{0}")]
    Value(&'static str),
    /// The parameters are invalid.
    #[error(transparent)]
    ParametersRefused(#[from] ParameterError),
    /// A number of the partially homomorphic schemes is invalid.
    #[cfg(feature = "partial")]
    #[error(transparent)]
    Partial(#[from] PartialError),
    /// The plan is invalid.
    #[cfg(feature = "plan")]
    #[error(transparent)]
    Plan(#[from] sotto_program::PlanError),
    /// The window belongs to a stream whose header is not known.
    #[error("the stream {0} of this window is not known: its header comes with the device's registration")]
    UnknownStream(StreamTag),
    /// The bytes are of windows of places, which earlier programs sent.
    #[error(
        "windows of places are not read any more: make a new bundle with `sotto device renew`, then send the readings again"
    )]
    Places,
    /// The signature is not valid under the device's key.
    #[error("the signature is not that of the device's key")]
    Signature,
}

impl WireError {
    /// Returns a short name for programs, used in problem documents.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "truncated",
            Self::Trailing { .. } => "trailing-bytes",
            Self::TooLarge { .. } => "too-large",
            Self::Magic => "not-a-frame",
            Self::Version(_) => "unknown-version",
            Self::Kind { .. } => "wrong-kind",
            Self::Digest => "digest-mismatch",
            Self::Length { .. } => "wrong-length",
            Self::Parameters { .. } => "wrong-parameters",
            Self::Key { .. } => "wrong-key",
            Self::Residue { .. } => "residue-out-of-range",
            Self::Padding => "padding-not-zero",
            Self::Value(_) => "invalid-value",
            Self::ParametersRefused(_) => "parameters-refused",
            #[cfg(feature = "partial")]
            Self::Partial(error) => match error {
                PartialError::OutOfRange => "value-out-of-range",
                PartialError::NoInverse => "not-coprime",
                PartialError::OutsideGroup => "outside-group",
                PartialError::OtherKey => "wrong-key",
                _ => "invalid-value",
            },
            #[cfg(feature = "plan")]
            Self::Plan(_) => "invalid-plan",
            Self::UnknownStream(_) => "unknown-stream",
            Self::Places => "places-not-read",
            Self::Signature => "bad-signature",
        }
    }
}
