//! Requests to a re-encryption agent ("recryptor"): the operations that a partially homomorphic scheme lacks.
//!
//! The recryptor holds the keys, the cloud holds the ciphertexts. `sotto-decrypt` answers requests,
//! `sotto-emulate` decides when to send them: docs/concepts/partial.md.

use alloc::string::String;
use alloc::vec::Vec;

use crate::elgamal;
use crate::encoding::Complement;
use crate::error::PartialError;
use crate::paillier;

/// Maximum requests of one trip.
pub const LARGEST_BATCH: usize = 256;

/// One request to the recryptor; a trip carries many.
///
/// ```
/// use sotto_partial::recrypt::Request;
/// # use rand_core::SeedableRng;
/// # use sotto_partial::paillier::{PublicKey, Randomness};
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
/// # let n = sotto_partial::elgamal::Group::new(sotto_partial::elgamal::GroupName::Ffdhe2048)?.prime().clone();
/// # let key = PublicKey::new(&n, Randomness::Textbook)?;
///
/// // Under `key`, a Paillier public key. In use, both numbers are blinded first.
/// let mut encrypted = |number| key.encrypt(&key.signed(number), &mut rng);
/// let request = Request::Product(encrypted(230)?, encrypted(5)?);
/// assert_eq!(request.decryptions(), 2);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone)]
pub enum Request {
    /// Asks for E(x·y) modulo n, given E(x) and E(y). The recryptor sees x and y: send them blinded.
    Product(paillier::Ciphertext, paillier::Ciphertext),
    /// Asks for the number under ElGamal, in this encoding. The recryptor sees it.
    ToElGamal(paillier::Ciphertext, Complement),
    /// Asks for the number under Paillier. The recryptor sees it.
    ToPaillier(elgamal::Ciphertext, Complement),
}

impl Request {
    /// Returns how many numbers the recryptor decrypts for the request.
    pub fn decryptions(&self) -> usize {
        match self {
            Self::Product(..) => 2,
            Self::ToElGamal(..) | Self::ToPaillier(..) => 1,
        }
    }
}

/// The answer to a request, freshly encrypted.
///
/// Example: [`Recrypt`]
#[derive(Clone)]
pub enum Response {
    /// Answers [`Request::Product`] and [`Request::ToPaillier`].
    Paillier(paillier::Ciphertext),
    /// Answers [`Request::ToElGamal`].
    ElGamal(elgamal::Ciphertext),
}

/// The reason why a trip failed. Reveals nothing of the numbers: refusals depend on the ciphertexts alone.
///
/// Example: [`Recrypt`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecryptError {
    /// A request was refused, so the whole batch failed.
    #[error("the recryptor refuses request {request}: {reason}")]
    Refused {
        /// The request's position in the batch.
        request: usize,
        /// The first fault of that request.
        reason: PartialError,
    },
    /// The trip has too many requests.
    #[error("a trip of {found} requests is too long: send at most {most}")]
    Batch {
        /// Requests of the trip.
        found: usize,
        /// [`LARGEST_BATCH`].
        most: usize,
    },
    /// The caller's quota does not suffice.
    #[error("the quota of this caller allows {left} more decryptions, but {asked} were asked for")]
    Quota {
        /// Numbers to decrypt for the trip: [`Request::decryptions`].
        asked: u64,
        /// Numbers left in the quota.
        left: u64,
    },
    /// The recryptor does not know the caller.
    #[error("the recryptor does not know the caller")]
    Stranger,
    /// The recryptor declines the batch because of its key, its length or its name.
    #[error("the recryptor declines the batch: {reason}")]
    Declined {
        /// The recryptor's reason.
        reason: String,
    },
    /// The answers do not fit the requests: too few, too many, or of another kind or key.
    #[error("the recryptor's answers do not fit the requests")]
    Answers,
    /// The recryptor could not be reached, or the connection broke.
    #[error("the recryptor was not reached: {reason}")]
    Lost {
        /// The client's words.
        reason: String,
    },
    /// The system gave no randomness.
    #[error("the system gave no randomness")]
    Randomness,
}

/// A holder of the keys that answers requests: in this process, or over the network.
///
/// ```
/// use sotto_partial::recrypt::{LARGEST_BATCH, Recrypt, RecryptError, Request, Response};
///
/// /// Passes batches of at most `LARGEST_BATCH` requests on.
/// struct Limited<R>(R);
///
/// impl<R: Recrypt> Recrypt for Limited<R> {
///     fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError> {
///         if batch.len() > LARGEST_BATCH {
///             return Err(RecryptError::Batch { found: batch.len(), most: LARGEST_BATCH });
///         }
///         self.0.exchange(batch)
///     }
/// }
/// # struct Nobody;
/// # impl Recrypt for Nobody {
/// #     fn exchange(&self, _: &[Request]) -> Result<Vec<Response>, RecryptError> { Err(RecryptError::Stranger) }
/// # }
/// # assert_eq!(Limited(Nobody).exchange(&[]).err(), Some(RecryptError::Stranger));
/// ```
pub trait Recrypt: Sync {
    /// Returns all answers, in the order of the requests, or none. May be called from several threads at
    /// once. No state is kept between trips: a trip sent twice gives the same numbers.
    ///
    /// # Errors
    /// [`RecryptError`]. The batch may be sent again.
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError>;
}
