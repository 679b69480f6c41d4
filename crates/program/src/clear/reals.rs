//! Evaluation on f64.

use alloc::vec::Vec;
use core::convert::Infallible;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

use super::evaluate::{ClearArithmetic, evaluate, spread};
use super::{ClearError, padded};
use crate::{Constant, ConstantId, NodeId, Program, SlotShape};

struct Reals;

impl ClearArithmetic for Reals {
    type Number = f64;
    type Error = Infallible;

    fn constant(&self, _: ConstantId, constant: &Constant, slots: usize) -> Result<Vec<f64>, Infallible> {
        Ok(spread(constant.reals(), slots, 0.0))
    }

    fn add(&self, _: NodeId, a: &f64, b: &f64) -> Result<f64, Infallible> {
        Ok(a + b)
    }

    fn sub(&self, _: NodeId, a: &f64, b: &f64) -> Result<f64, Infallible> {
        Ok(a - b)
    }

    fn neg(&self, _: NodeId, a: &f64) -> Result<f64, Infallible> {
        Ok(-a)
    }

    fn mul(&self, _: NodeId, a: &f64, b: &f64) -> Result<f64, Infallible> {
        Ok(a * b)
    }

    fn look_up(&self, _: NodeId, a: &f64, table: &[f64], first: i32) -> Result<f64, Infallible> {
        let place = (a - f64::from(first)).round();
        let known = place >= 0.0 && place < table.len() as f64;
        Ok(if known { table[place as usize] } else { 0.0 })
    }

    fn sign(&self, _: NodeId, a: &f64) -> Result<f64, Infallible> {
        Ok(if *a == 0.0 { 0.0 } else { a.signum() })
    }
}

/// Runs a program on reals and returns the slots of each output, in order.
///
/// A value beyond the range of f64 becomes infinite.
///
/// # Errors
/// [`ClearError`] if the inputs or the program do not fit the shape.
pub fn run_real(
    program: &Program,
    inputs: &[Vec<f64>],
    shape: SlotShape,
) -> Result<Vec<Vec<f64>>, ClearError> {
    let inputs = padded(program, inputs, shape, &0.0)?;
    let Ok(outputs) = evaluate(&Reals, program, &inputs, shape, |_, _| ());
    Ok(outputs)
}
