//! Why SEAL's bytes are refused, and why something cannot be written for SEAL.

use sotto_rlwe::{EvalError, ParameterError, SchemeId};

/// Why bytes are refused, or not written. Nothing half-read exists.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SealError {
    /// The bytes end too early.
    #[error("the bytes end: {expected} are needed, {found} are there")]
    Truncated {
        /// Bytes needed.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Bytes follow the end of the object.
    #[error("{extra} bytes follow the end of the object")]
    Trailing {
        /// How many.
        extra: u64,
    },
    /// More bytes than these parameters allow.
    #[error("the object is larger than the {limit} bytes that these parameters allow")]
    TooLarge {
        /// The most allowed, before compression.
        limit: u64,
    },
    /// More bytes than there is memory for.
    #[error(
        "the object takes {bytes} bytes of memory, which are not to be had here: read it on a larger machine"
    )]
    Memory {
        /// What the members take without compression.
        bytes: u64,
    },
    /// Not SEAL's.
    #[error("these bytes do not begin with SEAL's header")]
    Magic,
    /// A version whose layout is another one.
    #[error(
        "SEAL {major}.{minor} wrote this; versions 3.6 to 4.x are read: load and save it with one of those"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// An unknown compression.
    #[error("compression mode {0} is not known")]
    Compression(u8),
    /// The compressed members are damaged.
    #[error("the compressed members cannot be inflated: they are damaged")]
    Inflate,
    /// A `parms_id` that no level of these parameters has.
    #[error("the object belongs to other parameters: no level of these has its parms_id")]
    ParmsId,
    /// An object of a kind of level that it cannot have.
    #[error("{0}")]
    Level(&'static str),
    /// A length that does not follow from the parameters.
    #[error("the object says {found} where these parameters give {expected}")]
    Length {
        /// What the parameters give.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// A word is not below its modulus.
    #[error("a word is not below {modulus}, its modulus")]
    Residue {
        /// The modulus.
        modulus: u64,
    },
    /// A value that cannot occur.
    #[error("{0}")]
    Value(&'static str),
    /// CKKS: a scale that is not near the one of its level.
    #[error(
        "the scale is 2^{found:.6}, and 2^{expected:.6} is the scale at level {level} of these parameters: read them with the \
         scale that the values were encoded with"
    )]
    Scale {
        /// log2 of the scale.
        found: f64,
        /// log2 of the level's scale, or of its square for a product.
        expected: f64,
        /// The level.
        level: usize,
    },
    /// Another scheme.
    #[error("these are parameters for {found}, not for {expected}")]
    Scheme {
        /// What was asked for.
        expected: SchemeId,
        /// What the bytes say.
        found: SchemeId,
    },
    /// SEAL has nothing like it.
    #[error("SEAL cannot read this: {0}")]
    Unwritable(&'static str),
    /// The parameters are refused here.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// A ciphertext with this claim is refused.
    #[error(transparent)]
    Claim(#[from] EvalError),
}
