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
        /// Rows.
        rows: usize,
        /// Columns.
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
    /// The list of operands is empty.
    #[error("{0} needs at least one operand")]
    Empty(&'static str),
    /// A polynomial or power that does not depend on its operand.
    #[error("a polynomial of degree 0 does not depend on the operand: it needs no encryption")]
    Constant,
}

impl From<EncodeError> for CircuitError {
    fn from(error: EncodeError) -> Self {
        Self::Eval(error.into())
    }
}
