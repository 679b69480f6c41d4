//! The error of a request.

use sotto_circuits::CircuitError;
use sotto_decrypt::DecryptError;
use sotto_program::{LowerError, ProgramError};
use sotto_rlwe::{EncodeError, EvalError, ParameterError};
use sotto_runtime::RunError;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A command, scheme or operation that this engine lacks.
    #[error("unsupported")]
    Unsupported,
    /// The request is malformed, or asks for impossible parameters.
    #[error("{0}")]
    Request(String),
    /// An operation's result differs from arithmetic on the clear values.
    #[error("the result is wrong")]
    Wrong,
    /// The wire format refuses the bytes.
    #[error(transparent)]
    Wire(#[from] sotto_wire::WireError),
    /// A file of a round trip cannot be read or written.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// A conventional cipher refuses.
    #[error("the cipher refuses")]
    Cipher,
    /// The system has no random numbers.
    #[error(transparent)]
    Randomness(#[from] sotto_ring::RandomnessUnavailable),
    /// A partially homomorphic scheme refuses.
    #[error(transparent)]
    Partial(#[from] sotto_partial::PartialError),
    /// A window or a sum with tags is refused.
    #[error("{0}")]
    Sums(String),
    /// A task cannot be emulated.
    #[error(transparent)]
    Emulation(#[from] sotto_emulate::LowerError),
    /// An emulated task stopped.
    #[error(transparent)]
    Emulated(#[from] sotto_emulate::RunError),
    /// The parameters are refused.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// The program is refused.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The planner refuses.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// Values cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The evaluator refuses.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The plan is refused.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A comparison's circuit is refused.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    /// Decryption is refused.
    #[error(transparent)]
    Decrypt(#[from] DecryptError),
}
