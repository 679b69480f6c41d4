//! Reasons why a plan is refused.

use alloc::string::String;

use super::Register;
use crate::{ConstantId, KeyNumber};

/// The reason why a plan is refused. `step` is a position in the list of steps.
///
/// ```
/// use sotto_program::{Plan, PlanError};
/// # use sotto_program::{KeyNumber, KeysNeeded, PlanInput, Predicted};
/// # let input = PlanInput { name: "load".into(), key: KeyNumber::ANSWER };
/// # let (parameter_id, keys, predicted) = ([0; 32], KeysNeeded::default(), Predicted::default());
///
/// let plan = Plan {
///     inputs: vec![input],
///     outputs: vec![], // nothing to answer
/// #     parameter_id, constants: vec![], steps: vec![], keys, predicted,
///     // …
/// };
/// assert_eq!(plan.validate(), Err(PlanError::None { what: "output" }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The plan exceeds a limit.
    #[error("the plan has {count} {what}; at most {limit} are allowed: split it")]
    TooMany {
        /// The kind of part.
        what: &'static str,
        /// Number of parts.
        count: usize,
        /// Maximum number of parts.
        limit: usize,
    },
    /// The plan has no input, or no output.
    #[error("the plan has no {what}")]
    None {
        /// `input` or `output`.
        what: &'static str,
    },
    /// A name is empty, too long, or has a character that is not allowed.
    #[error("{name:?} cannot name an {what}: use 1 to 64 of A-Z a-z 0-9 _ . -")]
    Name {
        /// `input` or `output`.
        what: &'static str,
        /// The start of the name, escaped.
        name: String,
    },
    /// Two inputs, or two outputs, have the same name.
    #[error("two {what}s are called {name}")]
    DuplicateName {
        /// `input` or `output`.
        what: &'static str,
        /// The repeated name.
        name: String,
    },
    /// A constant has no coefficients, or more than any parameter set allows.
    #[error("constant {} has {coefficients} coefficients: 1 to 131072 are possible", constant.0)]
    Constant {
        /// The constant's number.
        constant: ConstantId,
        /// Number of coefficients.
        coefficients: usize,
    },
    /// A step writes another register than the next one.
    #[error("step {step} writes register {}; the next one is {}", found.0, expected.0)]
    Output {
        /// The step's position, from 0.
        step: usize,
        /// The next register.
        expected: Register,
        /// The register that the step writes.
        found: Register,
    },
    /// A step reads a register that is not written before it.
    #[error("step {step} reads register {}, which is not written before it", register.0)]
    Operand {
        /// The step's position, from 0.
        step: usize,
        /// The register's number.
        register: Register,
    },
    /// A step reads a constant that does not exist.
    #[error("step {step} reads constant {}, which does not exist", constant.0)]
    MissingConstant {
        /// The step's position, from 0.
        step: usize,
        /// The constant's number.
        constant: ConstantId,
    },
    /// A step reads a ciphertext with the wrong number of components.
    #[error("step {step} takes ciphertexts of {expected} components and register {} has {found}", register.0)]
    Components {
        /// The step's position, from 0.
        step: usize,
        /// The register that the step reads.
        register: Register,
        /// Number of components required.
        expected: u8,
        /// Number of components of the register.
        found: u8,
    },
    /// An impossible amount: a rotation by 0 or beyond every row, a drop of 0 primes, a factor of 0, a power of X or
    /// a gap out of range.
    #[error("step {step}: {what} by {by} is not possible")]
    Amount {
        /// The step's position, from 0.
        step: usize,
        /// The name of the step.
        what: &'static str,
        /// The amount.
        by: i64,
    },
    /// An output names a register that does not exist.
    #[error("output {name} is register {}, which does not exist", register.0)]
    MissingOutput {
        /// The output.
        name: String,
        /// The register's number.
        register: Register,
    },
    /// Keys are not numbered in the order of the inputs.
    #[error(
        "input {input} is under key {key}: the answer's key is 0, others are numbered from 1 in the order of the \
         inputs, up to 64"
    )]
    KeyNumber {
        /// The position of the input.
        input: usize,
        /// The key's number.
        key: KeyNumber,
    },
    /// A step reads registers under different keys.
    #[error(
        "step {step} reads register {} under key {left_key} and register {} under key {right_key}: \
         switch the foreign one to the answer's key first", left.0, right.0
    )]
    MixedKeys {
        /// The step's position, from 0.
        step: usize,
        /// The first operand.
        left: Register,
        /// The first operand's key.
        left_key: KeyNumber,
        /// The second operand.
        right: Register,
        /// The second operand's key.
        right_key: KeyNumber,
    },
    /// A step that needs evaluation keys reads a register under a foreign key, which has none.
    #[error(
        "step {step} ({what}) reads register {} under key {key}: switch it to the answer's key first", register.0
    )]
    Foreign {
        /// The step's position, from 0.
        step: usize,
        /// The name of the step.
        what: &'static str,
        /// The register that the step reads.
        register: Register,
        /// The register's key.
        key: KeyNumber,
    },
    /// A step switches a register that is already under the answer's key.
    #[error("step {step} switches register {} to the answer's key, which it is under already", register.0)]
    NotForeign {
        /// The step's position, from 0.
        step: usize,
        /// The register that the step reads.
        register: Register,
    },
    /// An output is under a foreign key.
    #[error("output {name} is under key {key}: switch it to the answer's key first")]
    ForeignOutput {
        /// The output.
        name: String,
        /// The key's number.
        key: KeyNumber,
    },
    /// An output's form is invalid.
    #[error(
        "output {name} has an invalid form: it must have 8 to 56 bits, a spacing that is a power of two, \
         a count below it, and a ciphertext of two components"
    )]
    OutputForm {
        /// The output.
        name: String,
    },
    /// The listed keys differ from those that the steps use.
    #[error("the plan lists other keys than its steps use: list exactly the keys used")]
    Keys,
    /// The predicted noise is not a finite number.
    #[error("the predicted noise is not a finite number")]
    Predicted,
}
