//! What circuits are written on.

mod backend;
mod clear;
mod encrypted;
mod managed;
mod number;
mod outline;

pub use clear::Clear;
pub use encrypted::Encrypted;
pub use managed::Prepared;
pub use number::Number;
pub use outline::{Outline, Tally};

use crate::error::CircuitError;

/// Managed arithmetic on vectors of slots. A vector is a table of rows and columns; a parameter set without slots has one row
/// of one column. Operands may be at any level and scaling, and may be the same vector; results never depend on that.
///
/// Constants modulo t may be any `i64`. A product with a constant that is zero in every slot is refused
/// ([`sotto_rlwe::EvalError::Transparent`]): everybody could read it.
pub trait Machine {
    /// A slot's value: `i64` modulo t, or `f64`.
    type Value: Number;
    /// A vector of slots.
    type Vector;
    /// A public vector prepared for products at one level.
    type Multiplier;

    /// Rows and columns.
    fn slots(&self) -> (usize, usize);

    /// A value as the machine writes it: centred modulo t, or itself.
    fn canonical(&self, value: Self::Value) -> Self::Value;

    /// The level of a vector; 0 where there are none.
    fn level(&self, a: &Self::Vector) -> usize;

    /// Products that levels leave, where every product takes one; None where noise alone decides.
    fn products_left(&self, a: &Self::Vector) -> Option<usize>;

    /// Levels that a [`Machine::weighted_sum`] with these canonical weights takes: 0 or 1.
    fn weighting_depth(&self, weights: &[Self::Value]) -> usize;

    /// Whether a rotation by `step` (0: the row swap) is possible.
    fn can_rotate(&self, step: i32) -> bool;

    /// A copy.
    fn copy(&mut self, a: &Self::Vector) -> Self::Vector;

    /// Takes the buffers of a vector that is no longer needed.
    fn recycle(&mut self, a: Self::Vector);

    /// a + b.
    fn add(&mut self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, CircuitError>;

    /// a − b.
    fn subtract(&mut self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, CircuitError>;

    /// −a.
    fn negate(&mut self, a: &Self::Vector) -> Result<Self::Vector, CircuitError>;

    /// a + the same public value in every slot.
    fn add_constant(&mut self, a: &Self::Vector, value: Self::Value) -> Result<Self::Vector, CircuitError>;

    /// a + a public vector; missing values are zero.
    fn add_vector(&mut self, a: &Self::Vector, values: &[Self::Value]) -> Result<Self::Vector, CircuitError>;

    /// a · the same public value in every slot.
    fn multiply_constant(
        &mut self,
        a: &Self::Vector,
        value: Self::Value,
    ) -> Result<Self::Vector, CircuitError>;

    /// a · a public vector; missing values are zero.
    fn multiply_vector(
        &mut self,
        a: &Self::Vector,
        values: &[Self::Value],
    ) -> Result<Self::Vector, CircuitError>;

    /// Σ a_i · a public value each, rescaled once. At least one term.
    fn weighted_sum(&mut self, terms: &[(&Self::Vector, Self::Value)]) -> Result<Self::Vector, CircuitError>;

    /// Prepares a public vector for products at a level; missing values are zero.
    fn prepare(&mut self, values: &[Self::Value], level: usize) -> Result<Self::Multiplier, CircuitError>;

    /// Σ a_i · a prepared vector each, rescaled once. At least one term, all at the level prepared for.
    fn sum_of_prepared(
        &mut self,
        terms: &[(&Self::Vector, &Self::Multiplier)],
    ) -> Result<Self::Vector, CircuitError>;

    /// a · b; a square where both are the same reference.
    fn multiply(&mut self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, CircuitError> {
        self.sum_of_products(&[(a, b)])
    }

    /// a².
    fn square(&mut self, a: &Self::Vector) -> Result<Self::Vector, CircuitError> {
        self.multiply(a, a)
    }

    /// Σ a_i · b_i, relinearised and rescaled once. At least one term.
    fn sum_of_products(
        &mut self,
        terms: &[(&Self::Vector, &Self::Vector)],
    ) -> Result<Self::Vector, CircuitError>;

    /// Each row rotated left by `step`, right if negative. 0 < |step| < columns.
    fn rotate(&mut self, a: &Self::Vector, step: i32) -> Result<Self::Vector, CircuitError>;

    /// A vector rotated by each step; what the rotations share is done once (Halevi and Shoup, ePrint 2018/244, section 5).
    fn rotate_many(&mut self, a: &Self::Vector, steps: &[i32]) -> Result<Vec<Self::Vector>, CircuitError>;

    /// The two rows swapped; a vector of one row is conjugated.
    fn swap_rows(&mut self, a: &Self::Vector) -> Result<Self::Vector, CircuitError>;
}

/// Refuses before anything is computed if a key is missing.
pub(crate) fn require_keys<M: Machine>(machine: &M, steps: &[i32]) -> Result<(), CircuitError> {
    let missing: Vec<i32> = steps.iter().copied().filter(|step| !machine.can_rotate(*step)).collect();
    if missing.is_empty() { Ok(()) } else { Err(CircuitError::MissingKeys { steps: missing }) }
}

/// Refuses before anything is computed if levels do not suffice.
pub(crate) fn require_levels<M: Machine>(
    machine: &M,
    a: &M::Vector,
    needed: usize,
) -> Result<(), CircuitError> {
    match machine.products_left(a) {
        Some(left) if left < needed => Err(CircuitError::Levels { needed, left }),
        _ => Ok(()),
    }
}
