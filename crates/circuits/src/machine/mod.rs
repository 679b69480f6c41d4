//! The machines that run circuits.

mod backend;
mod clear;
mod encrypted;
mod managed;
mod number;
mod outline;
mod tracked;
mod tracking;

pub use clear::Clear;
pub use encrypted::{Encrypted, Watch};
pub use managed::Prepared;
pub use number::Number;
pub use outline::{Outline, Tally};
pub use tracked::{Factor, Tracked};
pub use tracking::Tracking;

use crate::error::CircuitError;

/// Managed arithmetic on vectors of slots. A vector is a table of rows and columns; a parameter set without slots has
/// one row of one column. Operands may be at any level and scaling, and may be the same vector; results do not depend
/// on that.
///
/// Constants modulo t may be any `i64`. A product with a constant that is zero in every slot is refused
/// ([`sotto_rlwe::EvalError::Transparent`]): everybody could read it.
///
/// ```
/// use sotto_circuits::{CircuitError, Clear, Machine, Outline};
/// use sotto_rlwe::{Ckks, Origin, Params, Shape};
///
/// /// Calibrates: one public factor for each sensor, and one offset for all.
/// fn calibrated<M: Machine<Value = f64>>(machine: &mut M, a: &M::Vector) -> Result<M::Vector, CircuitError> {
///     // On ciphertexts and shapes this is a `Prepared`.
///     let factors = machine.prepare(&[2.0, 0.5], machine.level(a))?;
///     let scaled = machine.sum_of_prepared(&[(a, &factors)])?;
///     machine.add_constant(&scaled, -1.0)
/// }
/// let mut clear = Clear::reals(2);
/// assert_eq!(calibrated(&mut clear, &vec![10.0, 30.0])?, [19.0, 14.0]);
/// // The same circuit on shapes alone.
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let fresh = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// assert_eq!(calibrated(&mut Outline::new(&params), &fresh)?.level, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Operations return [`CircuitError::Eval`] if noise, levels or keys do not suffice, [`CircuitError::Levels`] if a
/// product has no level left, and [`CircuitError::Empty`] for a sum without terms.
pub trait Machine {
    /// A slot's value: `i64` modulo t, or `f64`.
    type Value: Number;
    /// A vector of slots.
    type Vector;
    /// A public vector prepared for products at one level.
    type Multiplier;

    /// Returns the numbers of rows and columns.
    fn slots(&self) -> (usize, usize);

    /// Returns the modulus t of the values, or None for reals.
    fn modulus(&self) -> Option<u64>;

    /// Returns the machine's representative of a value: centred modulo t, or the value itself.
    fn canonical(&self, value: Self::Value) -> Self::Value;

    /// Returns the level of a vector, or 0 for a machine without levels.
    fn level(&self, a: &Self::Vector) -> usize;

    /// Returns the number of products that the levels allow, or None if the scheme spends no level on a product and
    /// noise alone decides.
    fn products_left(&self, a: &Self::Vector) -> Option<usize>;

    /// Returns the levels of a [`Machine::weighted_sum`] with these canonical weights: 0 or 1.
    fn weighting_depth(&self, weights: &[Self::Value]) -> usize;

    /// Returns a bound on the error of every slot: 0 in the clear and in exact schemes.
    fn slot_error(&self, a: &Self::Vector) -> f64;

    /// Replaces the bounds by those that the caller has proved: every slot within ±`within`, and off by at most
    /// `error`. Machines without such bounds ignore it.
    #[must_use]
    fn with_slot_bounds(&mut self, a: Self::Vector, within: f64, error: f64) -> Self::Vector;

    /// Returns true if a rotation by `step` (0: the row swap) is possible.
    fn can_rotate(&self, step: i32) -> bool;

    /// Returns the lowest level at which the product of two vectors keeps nearly all of its room: fewer primes make every
    /// operation faster. A machine without levels returns 0.
    ///
    /// # Errors
    /// As [`Machine`].
    fn thrifty_level(&self, a: &Self::Vector, b: &Self::Vector) -> Result<usize, CircuitError>;

    /// Returns the lowest level at which a vector keeps this many bits of room, or its own level if there is none.
    fn level_with_room(&self, a: &Self::Vector, bits: f64) -> usize;

    /// Returns the degree n of the polynomials behind the slots, or None on a machine in the clear.
    fn degree(&self) -> Option<usize>;

    /// Multiplies by X^power: coefficients move, slots are multiplied by roots of unity. Range: `power` < n.
    ///
    /// # Errors
    /// [`CircuitError::NoCoefficients`] on a machine in the clear; otherwise as [`Machine`].
    fn multiply_monomial(&mut self, a: &Self::Vector, power: usize) -> Result<Self::Vector, CircuitError>;

    /// Returns a copy at a level, which is at most the vector's.
    ///
    /// # Errors
    /// As [`Machine`].
    fn lower(&mut self, a: &Self::Vector, level: usize) -> Result<Self::Vector, CircuitError>;

    /// Sets the plaintext factor (BGV) and returns the one before: the slots are then old/new times those before
    /// ([`sotto_rlwe::LevelRules::replace_factor`]). Returns 1 on machines without factors.
    fn replace_factor(&mut self, a: &mut Self::Vector, factor: Self::Value) -> Self::Value;

    /// Returns a copy that can be changed and recycled.
    fn copy(&mut self, a: &Self::Vector) -> Self::Vector;

    /// Takes the buffers of a vector that is no longer needed.
    fn recycle(&mut self, a: Self::Vector);

    /// Returns a + b.
    ///
    /// # Errors
    /// As [`Machine`].
    fn add(&mut self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, CircuitError>;

    /// Returns a − b.
    ///
    /// # Errors
    /// As [`Machine`].
    fn subtract(&mut self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, CircuitError>;

    /// Returns −a.
    ///
    /// # Errors
    /// As [`Machine`].
    fn negate(&mut self, a: &Self::Vector) -> Result<Self::Vector, CircuitError>;

    /// Adds the same public value to every slot.
    ///
    /// # Errors
    /// As [`Machine`].
    fn add_constant(&mut self, a: &Self::Vector, value: Self::Value) -> Result<Self::Vector, CircuitError>;

    /// Like [`Machine::add_constant`], in the vector's own buffers.
    ///
    /// # Errors
    /// As [`Machine`].
    fn shift(&mut self, a: Self::Vector, value: Self::Value) -> Result<Self::Vector, CircuitError> {
        let sum = self.add_constant(&a, value)?;
        self.recycle(a);
        Ok(sum)
    }

    /// Adds a public vector; missing values are zero.
    ///
    /// # Errors
    /// As [`Machine`].
    fn add_vector(&mut self, a: &Self::Vector, values: &[Self::Value]) -> Result<Self::Vector, CircuitError>;

    /// Multiplies every slot by the same public value.
    ///
    /// # Errors
    /// As [`Machine`].
    fn multiply_constant(
        &mut self,
        a: &Self::Vector,
        value: Self::Value,
    ) -> Result<Self::Vector, CircuitError>;

    /// Multiplies by a public vector; missing values are zero.
    ///
    /// # Errors
    /// As [`Machine`].
    fn multiply_vector(
        &mut self,
        a: &Self::Vector,
        values: &[Self::Value],
    ) -> Result<Self::Vector, CircuitError>;

    /// Returns Σ a_i·weight_i with a public value as each weight, rescaled once. Range: at least one term.
    ///
    /// # Errors
    /// As [`Machine`].
    fn weighted_sum(&mut self, terms: &[(&Self::Vector, Self::Value)]) -> Result<Self::Vector, CircuitError>;

    /// Returns Σ a_j·weight_ij for each row i of weights; a weight may be 0. Vectors of one level and scaling are read once
    /// for all rows.
    ///
    /// # Errors
    /// As [`Machine`].
    fn weighted_sums(
        &mut self,
        terms: &[&Self::Vector],
        weights: &[Vec<Self::Value>],
    ) -> Result<Vec<Self::Vector>, CircuitError>;

    /// Prepares a public vector for products at a level; missing values are zero.
    ///
    /// # Errors
    /// As [`Machine`].
    fn prepare(&mut self, values: &[Self::Value], level: usize) -> Result<Self::Multiplier, CircuitError>;

    /// Returns Σ a_i·b_i with prepared vectors b_i, rescaled once. Range: at least one term, each a_i at the level of
    /// its b_i's preparation.
    ///
    /// # Errors
    /// As [`Machine`].
    fn sum_of_prepared(
        &mut self,
        terms: &[(&Self::Vector, &Self::Multiplier)],
    ) -> Result<Self::Vector, CircuitError>;

    /// Returns a·b; a square if both are the same reference.
    ///
    /// # Errors
    /// As [`Machine`].
    fn multiply(&mut self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, CircuitError> {
        self.sum_of_products(&[(a, b)])
    }

    /// Returns a².
    ///
    /// # Errors
    /// As [`Machine`].
    fn square(&mut self, a: &Self::Vector) -> Result<Self::Vector, CircuitError> {
        self.multiply(a, a)
    }

    /// Returns Σ a_i·b_i, relinearised and rescaled once. Range: at least one term.
    ///
    /// # Errors
    /// As [`Machine`].
    fn sum_of_products(
        &mut self,
        terms: &[(&Self::Vector, &Self::Vector)],
    ) -> Result<Self::Vector, CircuitError>;

    /// Like [`Machine::sum_of_products`], for a sum that is multiplied again: drops a prime at once if the next product
    /// would.
    ///
    /// # Errors
    /// As [`Machine`].
    fn sum_of_products_to_multiply(
        &mut self,
        terms: &[(&Self::Vector, &Self::Vector)],
    ) -> Result<Self::Vector, CircuitError> {
        self.sum_of_products(terms)
    }

    /// Rotates each row left by `step`, right if negative. Range: 0 < |step| < columns.
    ///
    /// # Errors
    /// As [`Machine`].
    fn rotate(&mut self, a: &Self::Vector, step: i32) -> Result<Self::Vector, CircuitError>;

    /// Rotates a vector by each step, sharing the decomposition between the rotations (Halevi and Shoup, ePrint
    /// 2018/244, section 5).
    ///
    /// # Errors
    /// As [`Machine`].
    fn rotate_many(&mut self, a: &Self::Vector, steps: &[i32]) -> Result<Vec<Self::Vector>, CircuitError>;

    /// Swaps the two rows; conjugates a vector of one row.
    ///
    /// # Errors
    /// As [`Machine`].
    fn swap_rows(&mut self, a: &Self::Vector) -> Result<Self::Vector, CircuitError>;
}

/// Refuses before the first operation if a key is missing.
pub(crate) fn require_keys<M: Machine>(machine: &M, steps: &[i32]) -> Result<(), CircuitError> {
    let missing: Vec<i32> = steps.iter().copied().filter(|step| !machine.can_rotate(*step)).collect();
    if missing.is_empty() { Ok(()) } else { Err(CircuitError::MissingKeys { steps: missing }) }
}

/// Refuses before the first operation if levels do not suffice.
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

/// Returns one weighted sum without the terms of weight 0.
fn weighted_row<M: Machine>(
    machine: &mut M,
    terms: &[&M::Vector],
    weights: &[M::Value],
) -> Result<M::Vector, CircuitError> {
    let pairs = terms.iter().copied().zip(weights.iter().copied());
    let used: Vec<_> =
        pairs.filter(|(_, weight)| machine.canonical(*weight) != M::Value::default()).collect();
    if used.is_empty() && !terms.is_empty() {
        return Err(sotto_rlwe::EvalError::Transparent.into());
    }
    machine.weighted_sum(&used)
}
