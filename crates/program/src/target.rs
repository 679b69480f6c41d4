//! From what is asked to what is done.

use crate::{NodeId, Plan, PlanError, Program, ProgramError};

/// What a program can be lowered to: a scheme with its parameters.
pub trait Target {
    /// The plan that does what the program asks.
    ///
    /// # Errors
    /// [`LowerError`] when it cannot be done with these parameters, and what would help; before a key exists.
    fn lower(&self, program: &Program) -> Result<Plan, LowerError>;
}

/// Why a program cannot be done, and the way out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LowerError {
    /// The noise would drown the answer.
    #[error(
        "at node {} the noise passes what decryption bears by {bits_over:.1} bits: \
         take larger parameters, or multiply less often", at.0
    )]
    NoiseExceeded {
        /// The first node where it does.
        at: NodeId,
        /// By how many bits.
        bits_over: f64,
    },
    /// CKKS: a value times its scale is larger than the modulus holds.
    #[error(
        "a value may be as large as {largest:.1e}, {bits_over:.0} bits more than the modulus holds beside its precision: \
         scale the readings before they are encrypted, so that a magnitude smaller than {declared:e} can be declared, or sum fewer"
    )]
    TooLarge {
        /// A bound on the absolute value.
        largest: f64,
        /// The largest magnitude that an input declares.
        declared: f64,
        /// By how many bits.
        bits_over: f64,
    },
    /// More multiplications one after another than there are levels.
    #[error(
        "the program needs {levels_needed} levels and the parameters have {levels_available}: \
         take a longer modulus chain, or fewer multiplications one after another"
    )]
    TooDeep {
        /// Levels the program needs.
        levels_needed: u32,
        /// Levels the parameters have.
        levels_available: u32,
    },
    /// The target has no such thing.
    #[error("{what} is not possible here: {instead}")]
    NotSupported {
        /// What is not possible.
        what: String,
        /// What to do instead.
        instead: String,
    },
    /// A value would wrap around the plain modulus.
    #[error(
        "values need a plain modulus of {needed_bits} bits and it has {bits}: \
         take a larger plain modulus, or declare smaller inputs"
    )]
    PlainModulusTooSmall {
        /// Bits of the smallest modulus that keeps every output from wrapping.
        needed_bits: u32,
        /// Bits of the plain modulus.
        bits: u32,
    },
    /// The program does not fit the slots of these parameters, or grew too large on the way.
    #[error(transparent)]
    Invalid(#[from] ProgramError),
    /// The plan would be one that is refused, for its size as a rule.
    #[error("the plan is not one that can be run: {0}")]
    InvalidPlan(#[from] PlanError),
}
