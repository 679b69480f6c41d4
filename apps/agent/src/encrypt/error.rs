//! Reasons why a stream or a window cannot be encrypted.

use sotto_pack::PackError;
use sotto_ring::RandomnessUnavailable;
use sotto_rlwe::{EncodeError, EvalError, ParameterError, SchemeId};
use sotto_wire::WireError;

use super::key::KeyError;

/// Reason why a stream cannot be encrypted. Contains no key and no reading.
#[derive(Debug, thiserror::Error)]
pub enum EncryptError {
    /// The parameters are refused.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// The parameters encode one value, not slots.
    #[error("these parameters have no slots: a window of readings needs a plain modulus t with t mod 2n = 1")]
    NoSlots,
    /// Whole numbers for CKKS, or reals for BFV and BGV.
    #[error("{scheme} does not take this encoding: use integer or resolution for BFV and BGV, real for CKKS")]
    Encoding {
        /// The scheme of the stream's parameters.
        scheme: SchemeId,
    },
    /// Two readings could become the same residue modulo t.
    #[error(
        "a reading can become {largest}, and these parameters hold whole numbers up to ±{limit}: declare a narrower range, a coarser \
         resolution or fewer bits, or take a larger plain modulus"
    )]
    TooLarge {
        /// The largest number of any channel.
        largest: u64,
        /// The largest number that a slot holds: (t − 1) / 2.
        limit: u64,
    },
    /// None of the device's keys encrypts the stream.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The slots cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The plaintext cannot be encrypted.
    #[error(transparent)]
    Encrypt(#[from] EvalError),
    /// More slots than the parameters have, or a scheme without a compact form of slots.
    #[error("these parameters do not allow compact windows of {slots} slots")]
    Slots {
        /// Number of slots, as the profile asks.
        slots: u32,
    },
    /// The channels do not fit the layout.
    #[error(transparent)]
    Layout(#[from] PackError),
    /// The pad number of a window of sums is not above the last one, or its values do not fit their places.
    #[error(transparent)]
    Pads(#[from] sotto_sums::EncryptError),
    /// The frame or the stream's header cannot be written.
    #[error(transparent)]
    Frame(#[from] WireError),
    /// The sequence number is not above the last one. Two windows under one mask would reveal their difference.
    #[error("window {sequence} was encrypted before: no mask may be used twice")]
    RepeatedMask {
        /// The sequence number.
        sequence: u64,
    },
    /// The operating system gave no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}
