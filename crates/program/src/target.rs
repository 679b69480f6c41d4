//! Lowering: from programs to plans.

use alloc::string::String;

use crate::{NodeId, Plan, PlanError, Program, ProgramError};

/// A scheme with its parameters, to which programs can be lowered.
///
/// ```
/// use sotto_program::{LowerError, ParseOptions, Plan, Program, Target, parse};
///
/// /// Parameters with a single level refuse every product.
/// struct OneLevel;
/// impl Target for OneLevel {
///     fn lower(&self, program: &Program) -> Result<Plan, LowerError> {
///         Err(LowerError::TooDeep { levels_needed: program.depth().any, levels_available: 0 })
///     }
/// }
///
/// let asked = parse("3 * 4", &ParseOptions::encrypted_literals())?.program;
/// let refused = OneLevel.lower(&asked);
/// assert_eq!(refused, Err(LowerError::TooDeep { levels_needed: 1, levels_available: 0 }));
/// # Ok::<(), sotto_program::ParseError>(())
/// ```
pub trait Target {
    /// Lowers a program to a plan.
    ///
    /// # Errors
    /// [`LowerError`] if these parameters do not suffice; it names a remedy. No key is needed to find out.
    fn lower(&self, program: &Program) -> Result<Plan, LowerError>;
}

/// The reason why a program cannot be lowered, with a remedy.
///
/// Example: [`Target`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LowerError {
    /// The noise would make the answer wrong.
    #[error(
        "at node {} the noise exceeds the decryption limit by {bits_over:.1} bits: \
         take larger parameters, or multiply less often", at.0
    )]
    NoiseExceeded {
        /// The first node with too much noise.
        at: NodeId,
        /// Bits by which the noise exceeds the limit.
        bits_over: f64,
    },
    /// CKKS: a value times its scale exceeds the modulus.
    #[error(
        "a value may be as large as {largest:.1e}, {bits_over:.0} bits more than the modulus holds beside its precision: \
         scale the readings before they are encrypted, so that a magnitude smaller than {declared:e} can be declared, or sum fewer"
    )]
    TooLarge {
        /// An upper bound on the absolute value.
        largest: f64,
        /// The largest magnitude that an input declares.
        declared: f64,
        /// Bits by which the value exceeds the modulus.
        bits_over: f64,
    },
    /// CKKS: the noise of an operand is too large for the gap of a sign.
    #[error(
        "at node {} the noise is {bits_over:.1} bits too large for the gap of a sign: \
         take a larger scale (and n), or a wider gap", at.0
    )]
    Coarse {
        /// The node's number.
        at: NodeId,
        /// Bits by which the noise exceeds what the gap allows.
        bits_over: f64,
    },
    /// The longest chain of multiplications needs more levels than there are.
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
    /// The target does not support an operation.
    #[error("{what} is not possible here: {instead}")]
    NotSupported {
        /// The unsupported operation.
        what: String,
        /// The remedy.
        instead: String,
    },
    /// A value would wrap around the plain modulus.
    #[error(
        "values need a plain modulus of {needed_bits} bits and it has {bits}: \
         take a larger plain modulus, or declare smaller inputs"
    )]
    PlainModulusTooSmall {
        /// Bits of the smallest modulus under which no output wraps.
        needed_bits: u32,
        /// Bits of the plain modulus.
        bits: u32,
    },
    /// The program does not fit the slots of these parameters, or passes made it too large.
    #[error(transparent)]
    Invalid(#[from] ProgramError),
    /// The resulting plan is invalid, mostly for its size.
    #[error("the plan is invalid: {0}")]
    InvalidPlan(#[from] PlanError),
}
