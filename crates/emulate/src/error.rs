//! What is refused, before a key exists and while a flow runs.

use sotto_partial::recrypt::RecryptError;
use sotto_partial::{KeyId, PartialError};
use sotto_program::{NodeId, ProgramError};

use crate::flow::At;

/// Why a program cannot be emulated, and the way out. No key exists yet.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LowerError {
    /// A value may take more bits than a plaintext has room for.
    #[error(
        "the value of node {} may pass {most} bits and a sign: declare smaller inputs, or use a lattice scheme", at.0
    )]
    Range {
        /// The first node where it may.
        at: NodeId,
        /// Bits that there is room for.
        most: u32,
    },
    /// A value that is multiplied under ElGamal may take more bits than travel there.
    #[error(
        "node {} multiplies values of {bits} bits and a sign, and {most} travel through ElGamal: \
         declare smaller inputs, or take blinded products (paillier-blinded)", at.0
    )]
    ElGamalRange {
        /// The product.
        at: NodeId,
        /// Bits of the largest of its operands and itself, without the sign.
        bits: u32,
        /// Bits that there is room for.
        most: u32,
    },
    /// What would blind a factor does not fit the modulus.
    #[error(
        "node {} is blinded by numbers of {bits} bits and the key has room for {most}: \
         take a longer key, or declare smaller inputs", at.0
    )]
    BlindingRoom {
        /// The product.
        at: NodeId,
        /// Bits of the random number.
        bits: u32,
        /// Bits that there is room for.
        most: u32,
    },
    /// There is no such thing here.
    #[error("{what} is not possible here: {instead}")]
    NotSupported {
        /// What is not possible.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// The program is not one of single values.
    #[error(transparent)]
    Invalid(#[from] ProgramError),
}

/// Why a flow did not run to its end. What was computed before is kept: see [`crate::Progress`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// Not as many ciphertexts as the program has inputs.
    #[error("{found} ciphertexts for {expected} inputs")]
    Inputs {
        /// Inputs of the program.
        expected: usize,
        /// Ciphertexts.
        found: usize,
    },
    /// A key of another length, or no ElGamal key, where the flow was made for one.
    #[error("the flow was made for keys of {paillier} bits (Paillier) and {elgamal} (ElGamal; 0: none)")]
    Keys {
        /// Bits of Paillier's key.
        paillier: u32,
        /// Bits of ElGamal's group, 0 where none is needed.
        elgamal: u32,
    },
    /// An input under another key.
    #[error("input {input} is under another key")]
    OtherKey {
        /// The input's place.
        input: usize,
        /// The key that it is under.
        found: KeyId,
    },
    /// An operation failed.
    #[error("step {}: {reason}", at.0)]
    Step {
        /// The step.
        at: At,
        /// Why.
        reason: PartialError,
    },
    /// A trip failed.
    #[error(transparent)]
    Recrypt(#[from] RecryptError),
    /// The system gave no randomness.
    #[error("the system gave no randomness")]
    Randomness,
    /// A step's operand is not there, or of another scheme; or a thread ended early. A fault of the program, not of its input.
    #[error("step {} cannot run: report this", at.0)]
    Broken {
        /// The step.
        at: At,
    },
}
