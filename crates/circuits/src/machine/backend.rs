//! The raw operations under managed arithmetic: on ciphertexts, or on shapes alone.

use sotto_rlwe::{Adjustment, EvalError, LevelRules, Params, Plaintext, Scheme, Shape};

/// Raw operations without managed levels and scales.
///
/// # Errors
/// Each operation returns the evaluator's error for its operands and checks nothing else.
///
/// Example: [`Encrypted`](super::Encrypted)
pub trait Backend {
    /// The scheme whose rules for levels and factors hold.
    type Scheme: LevelRules;
    /// A ciphertext, or its shape.
    type Operand;
    /// A plaintext prepared for products.
    type Multiplier;

    /// Returns the parameters.
    fn params(&self) -> &Params<Self::Scheme>;
    /// Returns true if there is a key for a rotation (0: the row swap).
    fn has_key(&self, step: i32) -> bool;
    /// Returns an operand's shape.
    fn shape(operand: &Self::Operand) -> &Shape<Self::Scheme>;
    /// Returns a copy.
    fn copied(&mut self, a: &Self::Operand) -> Self::Operand;
    /// Takes an operand's buffers for reuse.
    fn give(&mut self, a: Self::Operand);
    /// Replaces the bounds on slots and their error ([`Shape::with_slot_bounds`]).
    fn bounded(&mut self, a: Self::Operand, within: f64, error: f64) -> Self::Operand;
    /// Brings an operand to a level and factor.
    fn adjust(&mut self, a: &Self::Operand, by: Adjustment) -> Result<Self::Operand, EvalError>;
    /// Computes a += b.
    fn add_assign(&mut self, a: &mut Self::Operand, b: &Self::Operand) -> Result<(), EvalError>;
    /// Computes a −= b.
    fn subtract_assign(&mut self, a: &mut Self::Operand, b: &Self::Operand) -> Result<(), EvalError>;
    /// Computes a = −a.
    fn negate_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError>;
    /// Adds to a a plaintext encoded for its level.
    fn add_plain_assign(
        &mut self,
        a: &mut Self::Operand,
        b: &Plaintext<Self::Scheme>,
    ) -> Result<(), EvalError>;
    /// Prepares a plaintext for products at the level that it was encoded for.
    fn multiplier(&mut self, plaintext: &Plaintext<Self::Scheme>) -> Self::Multiplier;
    /// Multiplies a by a prepared plaintext.
    fn multiply_plain_assign(&mut self, a: &mut Self::Operand, b: &Self::Multiplier)
    -> Result<(), EvalError>;
    /// Adds the product of a and a prepared plaintext to `sum`. The product has the sum's level and scaling.
    fn add_multiplied_plain_assign(
        &mut self,
        sum: &mut Self::Operand,
        a: &Self::Operand,
        b: &Self::Multiplier,
    ) -> Result<(), EvalError>;
    /// Multiplies a by an integer.
    fn multiply_integer_assign(&mut self, a: &mut Self::Operand, integer: i64) -> Result<(), EvalError>;
    /// Returns Σ operand·weight for each row of weights. The operands have two components, one level and one scaling.
    fn weighted(
        &mut self,
        terms: &[&Self::Operand],
        weights: &[Vec<i64>],
    ) -> Result<Vec<Self::Operand>, EvalError>;
    /// Switches to a lower level by one division.
    fn dropped_to(&mut self, a: &Self::Operand, level: usize) -> Result<Self::Operand, EvalError>;
    /// Sets the plaintext factor and returns the one before.
    fn replaced_factor(
        &mut self,
        a: &mut Self::Operand,
        factor: <Self::Scheme as Scheme>::Value,
    ) -> <Self::Scheme as Scheme>::Value;
    /// Multiplies by a power of X.
    fn monomial_assign(&mut self, a: &mut Self::Operand, power: usize) -> Result<(), EvalError>;
    /// Returns a·b with three components; a square if both are the same reference.
    fn tensor(&mut self, a: &Self::Operand, b: &Self::Operand) -> Result<Self::Operand, EvalError>;
    /// Relinearises to two components.
    fn relinearise_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError>;
    /// Relinearises to two components and drops the last prime.
    fn relinearise_and_drop_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError>;
    /// Drops the last prime.
    fn drop_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError>;
    /// Returns a rotation (0: the row swap).
    fn rotated(&mut self, a: &Self::Operand, step: i32) -> Result<Self::Operand, EvalError>;
    /// Returns several rotations of one operand.
    fn rotated_many(&mut self, a: &Self::Operand, steps: &[i32]) -> Result<Vec<Self::Operand>, EvalError>;
}
