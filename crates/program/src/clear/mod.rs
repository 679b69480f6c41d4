//! The clear backend: it defines what a program means.
//!
//! One evaluator, [`evaluate`], over an [`Arithmetic`]: reals ([`run_real`]), exact integers and integers modulo t
//! ([`run_integer`]), and largest possible sizes ([`magnitudes`]).
//!
//! Slot `(row, column)` of a vector is its value `row · columns + column`. An input may have fewer values than there
//! are slots: the rest are 0. One value is not broadcast: only constants are.

mod bounds;
mod evaluate;
mod integers;
mod reals;

pub use bounds::magnitudes;
pub use evaluate::{Arithmetic, evaluate};
pub use integers::run_integer;
pub use reals::run_real;

use crate::{ConstantId, NodeId, Program, ProgramError, SlotShape};

/// Why a program has no clear result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClearError {
    /// The program does not fit the slots.
    #[error(transparent)]
    Shape(#[from] ProgramError),
    /// Not as many inputs as are declared.
    #[error("the program has {declared} inputs and {given} were given")]
    InputCount {
        /// Inputs of the program.
        declared: usize,
        /// Inputs given.
        given: usize,
    },
    /// An input has more values than there are slots.
    #[error("input {name} has {values} values and there are {slots} slots")]
    InputTooLong {
        /// The input.
        name: String,
        /// How many values it has.
        values: usize,
        /// How many slots there are.
        slots: usize,
    },
    /// A program on integers has a constant of reals.
    #[error("constant {} is not of whole numbers: scale it, or compute on reals (CKKS)", constant.0)]
    NotIntegers {
        /// The constant.
        constant: ConstantId,
    },
    /// An exact value does not fit 128 bits.
    #[error("the value of node {} does not fit 128 bits: compute modulo the plain modulus", node.0)]
    Overflow {
        /// The node.
        node: NodeId,
    },
    /// No ring has this many elements, or none of ours.
    #[error("integers modulo {modulus} are none: the modulus must be at least 2")]
    Modulus {
        /// The modulus asked for.
        modulus: u64,
    },
}

/// Each input with as many values as there are slots, zeros after those given.
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
