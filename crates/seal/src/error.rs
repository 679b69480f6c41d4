//! Errors of reading and writing SEAL's files.

use sotto_rlwe::{EvalError, ParameterError, SchemeId};

use crate::tenseal_object::TensealObject;
use crate::version::Version;

/// The reason why bytes are refused, or an object is not written. No half-read object remains.
///
/// ```
/// use sotto_seal::{SealError, SealParameters};
///
/// assert_eq!(SealParameters::read(b"a text, no parameters of SEAL"), Err(SealError::Magic));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SealError {
    /// The bytes end too early.
    #[error("the bytes end too early: {expected} are needed, {found} are left")]
    Truncated {
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// Bytes follow the end of the object.
    #[error("{extra} bytes follow the end of the object")]
    Trailing {
        /// Number of bytes.
        extra: u64,
    },
    /// The object has more bytes than these parameters allow.
    #[error("the object is larger than the {limit} bytes that these parameters allow")]
    TooLarge {
        /// Maximum bytes, before compression.
        limit: u64,
    },
    /// The object needs more bytes than the machine can allocate.
    #[error(
        "the object takes {bytes} bytes of memory, more than this machine can allocate: read it on a larger one"
    )]
    Memory {
        /// Bytes of the members without compression.
        bytes: u64,
    },
    /// The bytes do not begin with SEAL's header.
    #[error("these bytes do not begin with SEAL's header")]
    Magic,
    /// The version has another file format.
    #[error(
        "SEAL {major}.{minor} wrote this; versions 3.6 to 4.x are read: load and save it with one of those"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// A version later than the known ones wrote the object, which does not have the known layout.
    #[error(
        "{refused}; SEAL {version} wrote this, later than the known versions up to {}, and its layout may have changed: if the file is \
         not damaged, make it with SEAL {} or earlier",
        Version::LATEST_KNOWN,
        Version::LATEST_KNOWN
    )]
    Later {
        /// The version of the writer.
        version: Version,
        /// The refusal by the known layout.
        refused: Box<Self>,
    },
    /// The bytes are of TenSEAL's `serialize()`, which wraps SEAL's objects.
    #[error("{}", .0.way_out())]
    Tenseal(TensealObject),
    /// CKKS parameters have a plain modulus.
    #[error(
        "the CKKS parameters have the plain modulus {0}, and SEAL loads no CKKS parameters with one: make them and their objects again \
         with SEAL, which leaves it at 0"
    )]
    PlainModulus(u64),
    /// The compression mode is not known.
    #[error("compression mode {0} is not known")]
    Compression(u8),
    /// The compressed members are damaged.
    #[error("the compressed members cannot be inflated: they are damaged")]
    Inflate,
    /// No level of these parameters has the object's `parms_id`.
    #[error("the object belongs to other parameters: no level of these has its parms_id")]
    ParmsId,
    /// The object is at a level that it cannot have.
    #[error("{0}")]
    Level(&'static str),
    /// A length in the file is not the one that follows from the parameters.
    #[error("the object holds the number {found}, but these parameters need {expected}")]
    Length {
        /// The length from the parameters.
        expected: u64,
        /// The length in the file.
        found: u64,
    },
    /// A word is not below its modulus.
    #[error("a word is not below {modulus}, its modulus")]
    Residue {
        /// The prime of the word's limb.
        modulus: u64,
    },
    /// The file holds a value that cannot occur.
    #[error("{0}")]
    Value(&'static str),
    /// CKKS: the scale is not near the one of its level.
    #[error(
        "the scale is 2^{found:.6}, and 2^{expected:.6} is the scale at level {level} of these parameters: read them with the \
         scale that the values were encoded with"
    )]
    Scale {
        /// log2 of the scale.
        found: f64,
        /// log2 of the level's scale, or of its square for a product.
        expected: f64,
        /// The ciphertext's level.
        level: usize,
    },
    /// The parameters are for another scheme.
    #[error("these are parameters for {found}, not for {expected}")]
    Scheme {
        /// The scheme asked for.
        expected: SchemeId,
        /// The scheme in the bytes.
        found: SchemeId,
    },
    /// SEAL has no equivalent.
    #[error("SEAL cannot read this: {0}")]
    Unwritable(&'static str),
    /// Our library refuses the parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// A ciphertext with this claim is refused.
    #[error(transparent)]
    Claim(#[from] EvalError),
}

impl SealError {
    /// Adds the version of the writer to a refusal of an object's layout, if the version is later than the known
    /// ones.
    pub(crate) fn of_version(self, version: Version) -> Self {
        if !version.is_later_than_known() || !self.is_about_layout() {
            return self;
        }
        Self::Later { version, refused: Box::new(self) }
    }

    /// Returns true for refusals of bytes that another layout could explain.
    fn is_about_layout(&self) -> bool {
        match self {
            Self::Truncated { .. }
            | Self::Trailing { .. }
            | Self::TooLarge { .. }
            | Self::Magic
            | Self::Version { .. }
            | Self::Compression(_)
            | Self::Inflate
            | Self::Length { .. }
            | Self::Residue { .. }
            | Self::Value(_) => true,
            Self::Memory { .. }
            | Self::Later { .. }
            | Self::Tenseal(_)
            | Self::PlainModulus(_)
            | Self::ParmsId
            | Self::Level(_)
            | Self::Scale { .. }
            | Self::Scheme { .. }
            | Self::Unwritable(_)
            | Self::Parameters(_)
            | Self::Claim(_) => false,
        }
    }
}
