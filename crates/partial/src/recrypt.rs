//! What a re-encryption agent is asked: the operations that a partially homomorphic scheme lacks.
//!
//! The recryptor holds the keys, the cloud holds the ciphertexts. What the recryptor does with a request is in `sotto-decrypt`, when it is
//! asked in `sotto-emulate`: docs/concepts/partial.md.

use crate::elgamal;
use crate::encoding::Complement;
use crate::error::PartialError;
use crate::paillier;

/// Requests of one trip, at most.
pub const LARGEST_BATCH: usize = 256;

/// One thing asked of the recryptor; a trip carries many.
#[derive(Clone)]
pub enum Request {
    /// E(x·y) of E(x) and E(y), modulo n. The recryptor sees x and y: send them blinded.
    Product(paillier::Ciphertext, paillier::Ciphertext),
    /// The number under ElGamal, in this encoding. The recryptor sees it.
    ToElGamal(paillier::Ciphertext, Complement),
    /// The product under Paillier. The recryptor sees it.
    ToPaillier(elgamal::Ciphertext, Complement),
}

impl Request {
    /// How many numbers the recryptor decrypts for it.
    pub fn decryptions(&self) -> usize {
        match self {
            Self::Product(..) => 2,
            Self::ToElGamal(..) | Self::ToPaillier(..) => 1,
        }
    }
}

/// What a request is answered with, freshly encrypted.
#[derive(Clone)]
pub enum Response {
    /// To [`Request::Product`] and [`Request::ToPaillier`].
    Paillier(paillier::Ciphertext),
    /// To [`Request::ToElGamal`].
    ElGamal(elgamal::Ciphertext),
}

/// Why a trip brought nothing. Says nothing of the numbers: what the recryptor refuses depends on the ciphertexts alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecryptError {
    /// A request was refused, and the batch with it.
    #[error("the recryptor refuses request {request}: {reason}")]
    Refused {
        /// Its place in the batch.
        request: usize,
        /// Why.
        reason: PartialError,
    },
    /// More requests than a trip carries.
    #[error("{found} requests in a trip for {most}")]
    Batch {
        /// Requests.
        found: usize,
        /// [`LARGEST_BATCH`].
        most: usize,
    },
    /// More than this caller may ask.
    #[error("the recryptor decrypts {left} more numbers for this caller, and {asked} were asked")]
    Quota {
        /// Numbers of the trip: [`Request::decryptions`].
        asked: u64,
        /// What is left.
        left: u64,
    },
    /// The recryptor does not know the caller.
    #[error("the recryptor does not know the caller")]
    Stranger,
    /// The recryptor does not take the batch: for a key, a length or a name.
    #[error("the recryptor declines the batch: {reason}")]
    Declined {
        /// In its words.
        reason: String,
    },
    /// The answers are not those of the requests: too few, too many, or of another kind or key.
    #[error("the recryptor's answers do not belong to what was asked")]
    Answers,
    /// The recryptor could not be reached, or broke off.
    #[error("the recryptor was not reached: {reason}")]
    Lost {
        /// In words.
        reason: String,
    },
    /// The system gave no randomness.
    #[error("the system gave no randomness")]
    Randomness,
}

/// Whoever holds the keys and answers: in this process, or far away.
pub trait Recrypt: Sync {
    /// All answers, in the order of the requests, or none. May be called from several threads at once, and a trip sent twice gives
    /// the same numbers: nothing is kept between trips.
    ///
    /// # Errors
    /// [`RecryptError`]; the batch can be sent again.
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError>;
}
