//! The clear backend: evaluation without encryption. It defines the meaning of a program.
//!
//! One evaluator, [`evaluate`], is generic in a [`ClearArithmetic`]: reals ([`run_real`]), exact integers and integers
//! modulo t ([`run_integer`]), and upper bounds ([`magnitudes`]).
//!
//! Slot `(row, column)` of a vector is its value `row · columns + column`. An input with fewer values than slots is
//! padded with 0. Only constants are broadcast: an input of one value is not.

mod bounds;
mod evaluate;
mod integers;
mod reals;

pub use bounds::{magnitudes, slot_magnitudes};
pub use evaluate::{ClearArithmetic, evaluate};
pub use integers::run_integer;
pub use reals::run_real;

use alloc::string::String;
use alloc::vec::Vec;

use crate::{ConstantId, NodeId, Program, ProgramError, SlotShape};

/// The reason why a program has no clear result.
///
/// ```
/// use sotto_program::clear::{ClearError, run_integer};
/// use sotto_program::{ParseOptions, SlotShape, parse};
///
/// let options = ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() };
/// let asked = parse("inlet - outlet", &options)?.program;
/// let refused = run_integer(&asked, &[vec![41]], SlotShape::SCALAR, None);
/// assert_eq!(refused, Err(ClearError::InputCount { declared: 2, given: 1 }));
/// # Ok::<(), sotto_program::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClearError {
    /// The program does not fit the slots.
    #[error(transparent)]
    Shape(#[from] ProgramError),
    /// The number of inputs differs from the declared number.
    #[error("the program has {declared} inputs and {given} were given")]
    InputCount {
        /// Number of declared inputs.
        declared: usize,
        /// Number of given inputs.
        given: usize,
    },
    /// An input has more values than slots.
    #[error("input {name} has {values} values and there are {slots} slots")]
    InputTooLong {
        /// The input's name.
        name: String,
        /// Number of values.
        values: usize,
        /// Number of slots.
        slots: usize,
    },
    /// A program on integers has a constant with reals.
    #[error("constant {} is not of whole numbers: scale it, or compute on reals (CKKS)", constant.0)]
    NotIntegers {
        /// The constant's number.
        constant: ConstantId,
    },
    /// A program on integers has a sign.
    #[error("node {} is the sign of a real: look whole numbers up in a table", node.0)]
    Sign {
        /// The node's number.
        node: NodeId,
    },
    /// An exact value does not fit 128 bits.
    #[error("the value of node {} does not fit 128 bits: compute modulo the plain modulus", node.0)]
    Overflow {
        /// The node's number.
        node: NodeId,
    },
    /// The modulus is 0 or 1.
    #[error("the modulus is {modulus}: it must be at least 2")]
    Modulus {
        /// The modulus given.
        modulus: u64,
    },
}

/// Returns each input padded with zeros to the number of slots.
fn padded<N: Clone>(
    program: &Program,
    inputs: &[Vec<N>],
    shape: SlotShape,
    zero: &N,
) -> Result<Vec<Vec<N>>, ClearError> {
    program.fits(shape)?;
    let (declared, slots) = (program.inputs(), shape.slots());
    if declared.len() != inputs.len() {
        return Err(ClearError::InputCount { declared: declared.len(), given: inputs.len() });
    }
    let pad = |(declaration, values): (&crate::InputDeclaration, &Vec<N>)| {
        if values.len() > slots {
            let (name, values) = (declaration.name.clone(), values.len());
            return Err(ClearError::InputTooLong { name, values, slots });
        }
        let mut values = values.clone();
        values.resize(slots, zero.clone());
        Ok(values)
    };
    declared.iter().zip(inputs).map(pad).collect()
}
