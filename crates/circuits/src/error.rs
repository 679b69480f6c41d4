//! The reasons why a circuit is refused, with the facts and the remedy.

use sotto_rlwe::{EncodeError, EvalError};

/// The reason why a circuit is refused.
///
/// ```
/// use sotto_circuits::{CircuitError, Clear, sum_block};
///
/// let mut machine = Clear::integers(65_537, 2, 4);
/// let readings = machine.vector(&[215, 198, 187, 203])?;
/// let refused = sum_block(&mut machine, &readings, 5);
/// assert_eq!(refused, Err(CircuitError::Block { size: 5, row: 4 }));
/// # Ok::<(), CircuitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CircuitError {
    /// The evaluator refuses one of its operations: noise, levels, a missing key.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Keys for rotations are missing. Nothing was computed.
    #[error(
        "the Galois keys of the rotations by {steps:?} are missing: the owner makes and uploads them (0 is the row swap)"
    )]
    MissingKeys {
        /// The steps of the rotations, 0 for the row swap.
        steps: Vec<i32>,
    },
    /// The circuit needs more levels than the operand has. Nothing was computed.
    #[error(
        "this takes {needed} levels, the operand has {left}: take a larger n, or operands with fewer products behind them"
    )]
    Levels {
        /// Levels that the circuit needs.
        needed: usize,
        /// Levels that the operand has left.
        left: usize,
    },
    /// A sum over a block of slots that does not exist.
    #[error("a sum of {size} slots does not exist: rows hold {row} slots")]
    Block {
        /// Slots of the block.
        size: usize,
        /// Slots of a row.
        row: usize,
    },
    /// A matrix whose rows or columns do not fit the slots.
    #[error(
        "a matrix of {rows} rows and {columns} columns does not fit: both must be powers of two, at most the {row} slots of \
         a row; pad it with zeros"
    )]
    Matrix {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// Slots of a row.
        row: usize,
    },
    /// The number of entries is not rows times columns.
    #[error("{found} entries were given for a matrix of {expected}")]
    Entries {
        /// Rows times columns.
        expected: usize,
        /// Entries given.
        found: usize,
    },
    /// A transform was prepared for another level than the operand's.
    #[error(
        "the transform was prepared for level {prepared}, the operand is at {found}: prepare it for that level"
    )]
    Prepared {
        /// The level of preparation.
        prepared: usize,
        /// The operand's level.
        found: usize,
    },
    /// No composition separates so small a gap with so small an error.
    #[error(
        "no comparison separates {gap:e} of the range with an error of {error:e}: the least gap is {least:e} (2^-12), with \
         an error of 1.1e-5 or more"
    )]
    Gap {
        /// The gap that was asked for.
        gap: f64,
        /// The error that was asked for.
        error: f64,
        /// The least gap.
        least: f64,
    },
    /// The operand of a comparison, or a step of its evaluation, is off by too much for the gap.
    #[error(
        "the noise bound of a comparison with a gap of {gap:e} is {bits:.1} bits too large: take a larger scale (and n), or \
         a larger gap"
    )]
    Coarse {
        /// The sign's gap, as a share of the range.
        gap: f64,
        /// Bits by which the error bound exceeds what the gap allows.
        bits: f64,
    },
    /// The list of operands is empty.
    #[error("{0} needs at least one operand")]
    Empty(&'static str),
    /// A range that is empty, or has too many steps for a table.
    #[error(
        "a table has 1 to {most} steps, not {steps}: declare a smaller range, coarser steps, or send two digits"
    )]
    TableRange {
        /// Whole numbers of the range.
        steps: usize,
        /// The largest number.
        most: usize,
    },
    /// A table with one value for the whole range: the answer is public.
    #[error(
        "the table is {value} for every value of {first}..={last}: the answer is known without the readings"
    )]
    TableConstant {
        /// The table's only value.
        value: i64,
        /// The first number of the range.
        first: i64,
        /// The last number of the range.
        last: i64,
    },
    /// A plain modulus modulo which the table has no polynomial.
    #[error(
        "a table of {steps} steps needs whole numbers modulo a prime above that, not modulo {modulus} (0: reals): take BFV \
         or BGV with t = 65537"
    )]
    TableModulus {
        /// The plain modulus; 0 for reals.
        modulus: u64,
        /// Steps of the table.
        steps: usize,
    },
    /// An operation on coefficients, on a machine that has slots only.
    #[error("a machine in the clear has no coefficients: run this on ciphertexts or shapes")]
    NoCoefficients,
    /// Power sums that no counts have.
    #[error(
        "these are not the power sums of {total} values in {steps} steps: a value lay outside the range, or more were added"
    )]
    PowerSums {
        /// Values counted.
        total: u64,
        /// Steps of the range.
        steps: usize,
    },
    /// More values than a plain modulus counts.
    #[error("{total} values are counted modulo {modulus}: split them, and add the counts after decryption")]
    Counts {
        /// Values.
        total: u64,
        /// The plain modulus.
        modulus: u64,
    },
    /// No chain of primes has room for the circuit.
    #[error(
        "no parameters with 128 bits of security take this, up to n = {degree} ({reason}): declare a range of fewer steps \
         (a table has at most {steps}), coarser steps, or send two digits"
    )]
    NoChain {
        /// The largest degree tried.
        degree: usize,
        /// The reason why its chains were refused.
        reason: String,
        /// The largest number of steps of a table.
        steps: usize,
    },
    /// A polynomial or power that does not depend on its operand.
    #[error("a polynomial of degree 0 does not depend on the operand: it needs no encryption")]
    Constant,
}

impl CircuitError {
    /// True if parameters with more room remedy it.
    pub fn is_room(&self) -> bool {
        matches!(
            self,
            Self::Levels { .. }
                | Self::Eval(
                    EvalError::Noise { .. }
                        | EvalError::NoLevel { .. }
                        | EvalError::NoSpecialPrime
                        | EvalError::LevelMismatch { .. }
                )
        )
    }
}

impl From<EncodeError> for CircuitError {
    fn from(error: EncodeError) -> Self {
        Self::Eval(error.into())
    }
}
