//! Why bytes are refused.

use sotto_partial::PartialError;
use sotto_rlwe::{KeyId, ParameterError, ParameterId};

use crate::frame::Kind;
use crate::stream::StreamTag;

/// Why bytes are refused. Nothing half-read exists.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WireError {
    /// Fewer bytes than the frame says.
    #[error("the bytes end after {found} of {expected}: they are truncated")]
    Truncated {
        /// Bytes expected.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// More bytes than the frame says.
    #[error("{extra} bytes follow the end of the frame")]
    Trailing {
        /// How many.
        extra: u64,
    },
    /// More bytes than are ever allowed here.
    #[error("{found} bytes are more than the {limit} allowed here")]
    TooLarge {
        /// The most allowed.
        limit: u64,
        /// Bytes announced.
        found: u64,
    },
    /// Not a frame.
    #[error("these bytes are not a sotto frame")]
    Magic,
    /// A version that this program does not know.
    #[error("wire version {0} is not known here (this is version 1)")]
    Version(u8),
    /// Another kind of object.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// What was asked for.
        expected: Kind,
        /// What the frame says.
        found: String,
    },
    /// The digest does not match: bytes were changed.
    #[error("the digest does not match: the bytes were changed on the way")]
    Digest,
    /// The payload's length is not the one that its parameters give.
    #[error("the payload has {found} bytes, these parameters give {expected}")]
    Length {
        /// Bytes that it must have.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// Other parameters.
    #[error("made for parameters {found}, expected {expected}")]
    Parameters {
        /// The parameters here.
        expected: ParameterId,
        /// The parameters of the frame.
        found: ParameterId,
    },
    /// Another key.
    #[error("made for key {found}, expected {expected}")]
    Key {
        /// The key here.
        expected: KeyId,
        /// The key of the frame.
        found: KeyId,
    },
    /// A residue is not below its prime.
    #[error("a residue of limb {limb} is not below its prime")]
    Residue {
        /// The limb.
        limb: usize,
    },
    /// Padding bits that are not zero.
    #[error("padding bits are not zero")]
    Padding,
    /// A value that cannot occur.
    #[error("{0}")]
    Value(&'static str),
    /// The parameters themselves are refused.
    #[error(transparent)]
    ParametersRefused(#[from] ParameterError),
    /// A number of the partially homomorphic schemes is refused.
    #[error(transparent)]
    Partial(#[from] PartialError),
    /// The plan is refused.
    #[error(transparent)]
    Plan(#[from] sotto_program::PlanError),
    /// A window of a stream whose header is not known.
    #[error("the stream {0} of this window is not known: its header comes with the device's registration")]
    UnknownStream(StreamTag),
    /// The signature is not the device's.
    #[error("the signature is not that of the device's key")]
    Signature,
}

impl WireError {
    /// A short name for machines, as problem documents carry it.
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
            Self::Partial(error) => match error {
                PartialError::OutOfRange => "value-out-of-range",
                PartialError::NoInverse => "not-coprime",
                PartialError::OutsideGroup => "outside-group",
                PartialError::OtherKey => "wrong-key",
                _ => "invalid-value",
            },
            Self::Plan(_) => "invalid-plan",
            Self::UnknownStream(_) => "unknown-stream",
            Self::Signature => "bad-signature",
        }
    }
}
