//! Errors of lowering, before a key exists, and of running a flow.

use sotto_partial::recrypt::RecryptError;
use sotto_partial::{KeyId, PartialError};
use sotto_program::{NodeId, ProgramError};

use crate::flow::At;

/// The reason why a program cannot be emulated, and the way out. No key exists yet.
///
/// ```
/// use sotto_emulate::{Emulation, LowerError, Products};
/// use sotto_program::{ParseOptions, parse};
///
/// let inputs = ParseOptions { undeclared: Some(1e12), ..ParseOptions::default() };
/// let volume = parse("length*width*height*4", &inputs)?.program; // up to 4·10^36: 122 bits
/// let emulation = Emulation { key_bits: 2048, products: Products::Blinded };
/// assert!(emulation.lower(&volume).is_ok());
/// let larger = parse("length*width*height*1000", &inputs)?.program; // 130 bits
/// assert!(matches!(emulation.lower(&larger), Err(LowerError::Range { most: 127, .. })));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LowerError {
    /// A value may need more bits than a plaintext has.
    #[error(
        "the value of node {} may exceed {most} bits and a sign: declare smaller inputs, or use a lattice scheme", at.0
    )]
    Range {
        /// The first node whose value may be too large.
        at: NodeId,
        /// Bits available.
        most: u32,
    },
    /// A value that is multiplied under ElGamal may need more bits than its encoding has.
    #[error(
        "node {} multiplies values of {bits} bits and a sign, but ElGamal carries at most {most}: \
         declare smaller inputs, or take blinded products (paillier-blinded)", at.0
    )]
    ElGamalRange {
        /// The product's node.
        at: NodeId,
        /// Bits of the largest of the product and its operands, without the sign.
        bits: u32,
        /// Bits available.
        most: u32,
    },
    /// A factor's blinding number does not fit the modulus.
    #[error(
        "node {} is blinded by numbers of {bits} bits, but the key has room for {most}: \
         take a longer key, or declare smaller inputs", at.0
    )]
    BlindingRoom {
        /// The product's node.
        at: NodeId,
        /// Bits of the blinding number.
        bits: u32,
        /// Bits available.
        most: u32,
    },
    /// The program needs something that this lowering does not support.
    #[error("{what} is not possible here: {instead}")]
    NotSupported {
        /// The unsupported thing.
        what: &'static str,
        /// The alternative.
        instead: &'static str,
    },
    /// The program is not one on single values.
    #[error(transparent)]
    Invalid(#[from] ProgramError),
}

/// The reason why a flow stopped. Earlier results are kept: see [`crate::Progress`].
///
/// Example: [`crate::Progress`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The number of ciphertexts is not the number of inputs.
    #[error("{found} ciphertexts were given, but the program has {expected} inputs")]
    Inputs {
        /// Inputs of the program.
        expected: usize,
        /// Ciphertexts given.
        found: usize,
    },
    /// A key has another length than the flow was made for, or the ElGamal key is missing.
    #[error("the flow needs keys of {paillier} bits (Paillier) and {elgamal} bits (ElGamal; 0: none)")]
    Keys {
        /// Bits of Paillier's key.
        paillier: u32,
        /// Bits of ElGamal's group, 0 if none is needed.
        elgamal: u32,
    },
    /// An input is under another key.
    #[error("input {input} is under another key")]
    OtherKey {
        /// The input's position.
        input: usize,
        /// The key of the input.
        found: KeyId,
    },
    /// An operation failed.
    #[error("step {}: {reason}", at.0)]
    Step {
        /// The step.
        at: At,
        /// The partial scheme's refusal.
        reason: PartialError,
    },
    /// A trip failed.
    #[error(transparent)]
    Recrypt(#[from] RecryptError),
    /// The system gave no randomness.
    #[error("the system gave no randomness")]
    Randomness,
    /// A step's operand is missing or of another scheme, or a thread ended early. A bug, not a fault of the
    /// input.
    #[error("step {} cannot run: report this", at.0)]
    Broken {
        /// The step.
        at: At,
    },
}
