//! Upper bounds on the size of every value.

use alloc::vec::Vec;
use core::convert::Infallible;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

use super::evaluate::{ClearArithmetic, evaluate, spread};
use crate::{Constant, ConstantId, NodeId, Program, ProgramError, SlotShape};

/// Bounds on |value|, never rounded down: a sum or product that f64 would round down is rounded up.
struct Bounds {
    /// True if slots in which a constant is zero have a bound of their own.
    by_slot: bool,
}

impl Bounds {
    /// Returns `a + b`, rounded up if f64 cannot represent it. Knuth's two-sum gives the exact rounding error.
    fn sum(a: f64, b: f64) -> f64 {
        let total = a + b;
        if !total.is_finite() {
            return f64::INFINITY;
        }
        let b_part = total - a;
        let error = (a - (total - b_part)) + (b - b_part);
        if error > 0.0 { total.next_up() } else { total }
    }

    /// Returns `a · b`, rounded up if f64 cannot represent it or if it is below 2^-960.
    fn product(a: f64, b: f64) -> f64 {
        if a == 0.0 || b == 0.0 {
            return 0.0;
        }
        let product = a * b;
        if !product.is_finite() {
            return f64::INFINITY;
        }
        // Below 2^-960 the rounding error may underflow to zero.
        if product < 2f64.powi(-960) || a.mul_add(b, -product) > 0.0 { product.next_up() } else { product }
    }
}

impl ClearArithmetic for Bounds {
    type Number = f64;
    type Error = Infallible;

    fn constant(&self, _: ConstantId, constant: &Constant, slots: usize) -> Result<Vec<f64>, Infallible> {
        let largest = constant.magnitude();
        if !self.by_slot || constant.is_broadcast() {
            return Ok(vec![largest; slots]);
        }
        let bound = |value: f64| if value == 0.0 { 0.0 } else { largest };
        Ok(spread(constant.reals().into_iter().map(bound).collect(), slots, 0.0))
    }

    fn add(&self, _: NodeId, a: &f64, b: &f64) -> Result<f64, Infallible> {
        Ok(Self::sum(*a, *b))
    }

    fn sub(&self, _: NodeId, a: &f64, b: &f64) -> Result<f64, Infallible> {
        Ok(Self::sum(*a, *b))
    }

    fn neg(&self, _: NodeId, a: &f64) -> Result<f64, Infallible> {
        Ok(*a)
    }

    fn mul(&self, _: NodeId, a: &f64, b: &f64) -> Result<f64, Infallible> {
        Ok(Self::product(*a, *b))
    }

    fn look_up(&self, _: NodeId, _: &f64, table: &[f64], _: i32) -> Result<f64, Infallible> {
        Ok(table.iter().copied().fold(0.0, f64::max))
    }

    /// No approximation of the sign reaches this.
    fn sign(&self, _: NodeId, _: &f64) -> Result<f64, Infallible> {
        Ok(1.1)
    }
}

/// Returns for each node an upper bound on |value| in any slot, from the declared magnitudes of inputs and the
/// constants. The bound is infinite if f64 cannot represent it.
///
/// Values of a program on integers do not wrap modulo a plain modulus t if `2 · magnitude < t` at every output.
///
/// Runs the clear evaluator on one slot: a rotation changes nothing, and a sum of w neighbours adds the same bound w
/// times.
#[must_use]
pub fn magnitudes(program: &Program) -> Vec<f64> {
    let inputs: Vec<Vec<f64>> = program.inputs().iter().map(|input| vec![input.magnitude]).collect();
    let mut bounds = vec![0.0; program.ops().len()];
    let Ok(_) = evaluate(&Bounds { by_slot: false }, program, &inputs, SlotShape::SCALAR, |node, value| {
        bounds[node.index()] = value[0];
    });
    bounds
}

/// Returns bounds like [`magnitudes`] for slots of one shape. They are smaller where vectors that are zero in different
/// slots are added.
///
/// # Errors
/// [`ProgramError`] if the program does not fit the shape.
///
/// ```
/// use sotto_program::{Constant, ProgramBuilder, SlotShape, magnitudes, slot_magnitudes};
///
/// // Two windows, each in a slot of its own.
/// let mut asked = ProgramBuilder::new();
/// let (a, b) = (asked.input("a", 1.0), asked.input("b", 1.0));
/// let (first, second) =
///     (asked.constant(Constant::Reals(vec![1.0, 0.0])), asked.constant(Constant::Reals(vec![0.0, 1.0])));
/// let (a, b) = (asked.mul(a, first), asked.mul(b, second));
/// let both = asked.add(a, b);
/// asked.output("both", both);
/// let program = asked.finish()?;
/// assert_eq!(magnitudes(&program)[both.index()], 2.0);
/// assert_eq!(slot_magnitudes(&program, SlotShape { rows: 1, columns: 4 })?[both.index()], 1.0);
/// # Ok::<(), sotto_program::ProgramError>(())
/// ```
pub fn slot_magnitudes(program: &Program, shape: SlotShape) -> Result<Vec<f64>, ProgramError> {
    program.fits(shape)?;
    let inputs: Vec<Vec<f64>> =
        program.inputs().iter().map(|input| vec![input.magnitude; shape.slots()]).collect();
    let mut bounds = vec![0.0; program.ops().len()];
    let Ok(_) = evaluate(&Bounds { by_slot: true }, program, &inputs, shape, |node, value| {
        bounds[node.index()] = value.iter().copied().fold(0.0, f64::max);
    });
    Ok(bounds)
}
