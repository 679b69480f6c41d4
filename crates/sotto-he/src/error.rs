//! The errors of the facade, each with its remedy.

use sotto_circuits::CircuitError;
use sotto_decrypt::{DecryptError, PublishError, RangeError};
use sotto_ring::RandomnessUnavailable;
use sotto_rlwe::{EncodeError, EvalError, ParameterError, SchemeId, Unexpected};
use sotto_wire::WireError;

/// The result of everything in this crate.
///
/// ```
/// use sotto::{Ckks, Context, Result};
///
/// /// Returns the number of values that a vector of this context holds.
/// fn length(depth: usize) -> Result<usize> {
///     Ok(Context::<Ckks>::for_depth(depth)?.slots())
/// }
/// assert!(length(1)?.is_power_of_two());
/// # Ok::<(), sotto::Error>(())
/// ```
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The reason why an operation is refused. No error holds a secret or a value.
///
/// ```
/// use sotto::{Ckks, Context, Error};
///
/// let context = Context::<Ckks>::for_depth(1)?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// let refused = secret.encrypt(&[2000.0]).unwrap_err();
/// assert!(matches!(refused, Error::Value { index: 0, within } if within == 1000.0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that is not a number, or is larger than the context declares.
    #[error("{}", value_refused(*index, *within))]
    Value {
        /// The index of the value.
        index: usize,
        /// The declared bound.
        within: f64,
    },
    /// A value outside the declared range: comparisons would be wrong for it.
    #[error(
        "value number {index} is outside the declared range {first}..={last}: declare a wider range, \
         `Context::builder().range(..)`, or leave the value out"
    )]
    OutsideRange {
        /// The index of the value.
        index: usize,
        /// The first number of the range.
        first: i64,
        /// The last number of the range.
        last: i64,
    },
    /// A vector whose values may lie outside a table's range.
    #[error(
        "values may be {first}..={last}, and the table covers {table_first}..={table_last}: make the table for the whole range, \
         or declare a tighter one, `Encrypted::with_range(..)`"
    )]
    NotInTable {
        /// The least possible value.
        first: i64,
        /// The largest possible value.
        last: i64,
        /// The first number of the table.
        table_first: i64,
        /// The last number of the table.
        table_last: i64,
    },
    /// Edges of bins that are fewer than two, or do not ascend.
    #[error("a histogram takes two edges or more, in ascending order")]
    Edges,
    /// A declared bound on values that is not a positive number.
    #[error(
        "the bound {} on the values of inputs is not a positive number: declare their largest absolute value",
        shown(*.0)
    )]
    Bound(f64),
    /// No value at all, or more than a vector holds.
    #[error("a vector holds 1 to {most} values, not {found}: split it")]
    Count {
        /// Values given.
        found: usize,
        /// The largest number.
        most: usize,
    },
    /// Two vectors of different lengths.
    #[error(
        "a vector of {left} values does not go with one of {right}: lengths must be equal, or one of them 1"
    )]
    Length {
        /// Length of the left operand.
        left: usize,
        /// Length of the right operand.
        right: usize,
    },
    /// A value that a vector does not have.
    #[error("there is no value number {index}: the vector has {len} values, numbered from 0")]
    Index {
        /// The index asked for.
        index: usize,
        /// The length of the vector.
        len: usize,
    },
    /// Numbers of vectors and of weights that differ.
    #[error("{vectors} vectors do not go with {weights} weights: give one weight for each vector")]
    Weights {
        /// Vectors given.
        vectors: usize,
        /// Weights given.
        weights: usize,
    },
    /// Limits in the wrong order.
    #[error("nothing lies between {} and {}: give the lower limit first", shown(*low), shown(*high))]
    Limits {
        /// The lower limit.
        low: f64,
        /// The upper limit.
        high: f64,
    },
    /// Vectors of two contexts, or a dry run mixed with encrypted values.
    #[error(
        "the vectors belong to different contexts, or one is part of a dry run: use one context for both"
    )]
    Mixed,
    /// A product or rotation of a vector that came without evaluation keys.
    #[error(
        "no evaluation keys are attached to this vector: read it with `Public::read`, or pass it to `Public::attach`"
    )]
    NoKeys,
    /// An observer stopped the call ([`watched`](crate::watched)). Nothing was changed.
    #[error("the call was stopped before its end")]
    Interrupted,
    /// The circuit is too deep for the parameters, or its values grow beyond them.
    #[error(
        "n = {degree} has no room for this ({reason}): let `Context::builder().build_for(..)` find the parameters of the whole \
         computation, or make the context with a larger depth, `Context::for_depth(..)`"
    )]
    Depth {
        /// The ring degree.
        degree: usize,
        /// The message of the layer below.
        reason: String,
    },
    /// Real numbers: a public number that a function of slots takes, and the scale cannot hold beside the encrypted ones.
    #[error(
        "a public number is more than {times:.0} times as large as the encrypted values may be, and this function needs both \
         in one slot: add the number afterwards, or encrypt with a wider bound, `Secret::encrypt_within(..)`"
    )]
    Constant {
        /// The largest ratio.
        times: f64,
    },
    /// No parameters allow the computation.
    #[error(
        "no {scheme} parameters with 128 bits of security take this: {reason}; multiply less deeply, or declare smaller values"
    )]
    NoParameters {
        /// The scheme asked for.
        scheme: SchemeId,
        /// The reason why the largest ones were refused.
        reason: String,
    },
    /// Whole numbers that may exceed half of the plain modulus.
    #[error(
        "a result may be as large as {0:.1e}, and this context tells whole numbers apart up to ±{limit}: make it with \
         `Context::builder().results_within({0:.1e})`",
        rounded_up(*magnitude)
    )]
    Wraps {
        /// A bound on the result.
        magnitude: f64,
        /// Half of the plain modulus.
        limit: u64,
    },
    /// Whole numbers that follow from public ones alone, and may exceed 2^53.
    #[error(
        "whole numbers that follow from public ones alone are exact up to 2^53, and these may be as large as {:.1e}: compute them \
         in the clear, and add them after decryption",
        rounded_up(*magnitude)
    )]
    PublicWhole {
        /// A bound on the numbers.
        magnitude: f64,
    },
    /// A vector that came as bytes, whose noise bound is only its sender's claim.
    #[error(
        "this vector came as bytes, and its error bound is a claim of its sender: decrypt the bytes with \
         `Secret::decrypt_answer` and the plan of the computation"
    )]
    Claimed,
    /// The vector of a dry run holds nothing to decrypt or to send.
    #[error("a vector of a dry run holds no values")]
    DryRun,
    /// An answer that is not the plan's.
    #[error(
        "the answer is not the one that was planned: {0}; unless the plan is of another computation, or of inputs of other \
         lengths or bounds, do not act on it"
    )]
    Unplanned(String),
    /// Parameters are refused.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// A circuit is refused.
    #[error(transparent)]
    Circuit(CircuitError),
    /// A ciphertext is not decrypted.
    #[error(transparent)]
    Decrypt(#[from] DecryptError),
    /// A decrypted value lies outside the bounds of the computation.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// A decrypted value cannot be rounded as asked.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The bytes cannot be read.
    #[error(transparent)]
    Bytes(#[from] WireError),
    /// The operating system gave no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

/// Rounds a positive number up to two digits, so that the shown bound suffices.
#[doc(hidden)]
pub fn rounded_up(number: f64) -> f64 {
    let shown = |number: f64| format!("{number:.1e}").parse().unwrap_or(number);
    let nearest: f64 = shown(number);
    if nearest < number { shown(number * 1.05) } else { nearest }
}

/// Writes a number in few digits, whatever its size.
#[doc(hidden)]
pub fn shown(number: f64) -> String {
    match number.abs() {
        size if size != 0.0 && size.is_finite() && !(1e-4..1e16).contains(&size) => format!("{number:e}"),
        _ => number.to_string(),
    }
}

/// A refusal's reason without advice on parameters, which the context chooses.
fn facts(error: &CircuitError) -> String {
    match error {
        CircuitError::Levels { needed, left } => format!("it takes {needed} levels, and {left} are left"),
        CircuitError::Coarse { bits, .. } => format!("the error is {bits:.1} bits too large for the gap"),
        CircuitError::Eval(EvalError::Noise { over }) => {
            format!("the noise bound would pass the decryption limit by {over:.1} bits")
        }
        CircuitError::Eval(EvalError::NoLevel { .. }) => "no level is left".into(),
        other => other.to_string(),
    }
}

fn value_refused(index: usize, within: f64) -> String {
    if within == f64::MAX {
        return format!(
            "value number {index}, or the bound on the result, is not a finite number: leave the value out, or declare smaller \
             bounds on the inputs"
        );
    }
    format!(
        "value number {index} is not a number within ±{}: declare a larger bound, \
         `Context::builder().values_within(..)`, or leave the value out",
        shown(within)
    )
}

impl Error {
    /// Names the degree where a refusal is one of room. `exact`: of whole numbers.
    pub(crate) fn of_circuit(error: CircuitError, degree: usize, exact: bool) -> Self {
        match error {
            CircuitError::Eval(EvalError::Encode(EncodeError::OutOfRange { limit, .. })) if !exact => {
                Self::Constant { times: limit }
            }
            CircuitError::Levels { .. }
            | CircuitError::Coarse { .. }
            | CircuitError::Eval(
                EvalError::Noise { .. }
                | EvalError::NoLevel { .. }
                | EvalError::ScalePower { .. }
                | EvalError::NoSpecialPrime,
            ) => Self::Depth { degree, reason: facts(&error) },
            CircuitError::Eval(EvalError::Interrupted) => Self::Interrupted,
            other => Self::Circuit(other),
        }
    }

    /// True if more room would help.
    pub(crate) fn is_room(&self) -> bool {
        matches!(self, Self::Depth { .. } | Self::Constant { .. } | Self::Parameters(_))
    }
}

impl From<CircuitError> for Error {
    fn from(error: CircuitError) -> Self {
        Self::Circuit(error)
    }
}

impl From<EvalError> for Error {
    fn from(error: EvalError) -> Self {
        Self::Circuit(error.into())
    }
}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        Self::Circuit(error.into())
    }
}

impl From<Unexpected> for Error {
    fn from(error: Unexpected) -> Self {
        Self::Unplanned(error.to_string())
    }
}
