//! The facts that a file shows without its words being read.

use sotto_rlwe::SchemeId;

use crate::compression::Compression;
use crate::header::Header;
use crate::parameters::ParmsId;
use crate::version::Version;

/// A kind of object, as precisely as the bytes show it.
///
/// Example: [`Description`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Encryption parameters.
    Parameters,
    /// An encoded message.
    Plaintext,
    /// The key that decrypts.
    SecretKey,
    /// An encrypted message.
    Ciphertext,
    /// The key that encrypts.
    PublicKey,
    /// A ciphertext or a public key: only the parameters can distinguish them.
    CiphertextOrPublicKey,
    /// Keys for products of ciphertexts.
    RelinearisationKeys,
    /// Keys for rotations.
    GaloisKeys,
}

impl Kind {
    /// Returns the kind in words, such as `secret key`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Plaintext => "plaintext",
            Self::SecretKey => "secret key",
            Self::Ciphertext => "ciphertext",
            Self::PublicKey => "public key",
            Self::CiphertextOrPublicKey => "ciphertext or public key",
            Self::RelinearisationKeys => "relinearisation keys",
            Self::GaloisKeys => "Galois keys",
        }
    }
}

/// The facts about a file that are known without reading its words. `None` marks facts that the bytes do not
/// show.
///
/// ```
/// use sotto_rlwe::{Bfv, Params};
/// use sotto_seal::{Chain, Description, Kind, Writing, inspect};
///
/// let chain = Chain::new(&Params::<Bfv>::default_chain(4096, 65537)?)?;
/// let file = chain.seal().write(Writing::default());
/// let found: Description = inspect(&file, None, 1 << 20)?;
/// assert_eq!((found.kind, found.kind.name()), (Kind::Parameters, "parameters"));
/// assert_eq!((found.degree, found.primes, found.plain_modulus), (Some(4096), Some(3), Some(65537)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// What the file holds.
    pub kind: Kind,
    /// The version of the writer.
    pub version: Version,
    /// How its contents are packed.
    pub compression: Compression,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of the file without compression; None if they exceed the limit given.
    pub inflated: Option<u64>,
    /// The scheme, if the file shows it.
    pub scheme: Option<SchemeId>,
    /// n.
    pub degree: Option<u64>,
    /// Number of primes.
    pub primes: Option<u64>,
    /// The level: level 0 has one prime. None for keys, and if it cannot be determined without the
    /// parameters.
    pub level: Option<u64>,
    /// Polynomials of a ciphertext, or keys of a set.
    pub parts: Option<u64>,
    /// True if a seed replaces the mask.
    pub seeded: Option<bool>,
    /// CKKS: the scale.
    pub scale: Option<f64>,
    /// BGV: the correction factor.
    pub factor: Option<u64>,
    /// The plain modulus, if the file holds parameters.
    pub plain_modulus: Option<u64>,
    /// The level's name, if the file does not hold parameters.
    pub parms_id: Option<ParmsId>,
}

impl Description {
    /// Returns the facts in a header, with the bytes that the file has without compression.
    pub(crate) fn blank(header: &Header, inflated: Option<u64>) -> Self {
        Self {
            kind: Kind::Parameters,
            version: header.version,
            compression: header.compression,
            bytes: header.bytes,
            inflated,
            scheme: None,
            degree: None,
            primes: None,
            level: None,
            parts: None,
            seeded: None,
            scale: None,
            factor: None,
            plain_modulus: None,
            parms_id: None,
        }
    }
}
