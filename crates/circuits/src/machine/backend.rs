//! What management is written on: raw operations on ciphertexts, or on shapes alone.

use sotto_rlwe::{Adjustment, EvalError, LevelRules, Params, Plaintext, Shape};

/// Raw operations. Each refuses what the evaluator refuses and checks nothing else.
pub trait Backend {
    /// The scheme.
    type Scheme: LevelRules;
    /// What is computed on.
    type Operand;
    /// A plaintext prepared for products.
    type Multiplier;

    /// The parameters.
    fn params(&self) -> &Params<Self::Scheme>;
    /// Whether there is a key for a rotation (0: the row swap).
    fn has_key(&self, step: i32) -> bool;
    /// An operand's shape.
    fn shape(operand: &Self::Operand) -> &Shape<Self::Scheme>;
    /// A copy.
    fn copied(&mut self, a: &Self::Operand) -> Self::Operand;
    /// Takes an operand's buffers.
    fn give(&mut self, a: Self::Operand);
    /// Brings an operand to a level and factor.
    fn adjust(&mut self, a: &Self::Operand, by: Adjustment) -> Result<Self::Operand, EvalError>;
    /// a += b.
    fn add_assign(&mut self, a: &mut Self::Operand, b: &Self::Operand) -> Result<(), EvalError>;
    /// a −= b.
    fn subtract_assign(&mut self, a: &mut Self::Operand, b: &Self::Operand) -> Result<(), EvalError>;
    /// a = −a.
    fn negate_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError>;
    /// a += a plaintext encoded for its level.
    fn add_plain_assign(
        &mut self,
        a: &mut Self::Operand,
        b: &Plaintext<Self::Scheme>,
    ) -> Result<(), EvalError>;
    /// Prepares a plaintext for products at the level it was encoded for.
    fn multiplier(&mut self, plaintext: &Plaintext<Self::Scheme>) -> Self::Multiplier;
    /// a ·= a prepared plaintext.
    fn multiply_plain_assign(&mut self, a: &mut Self::Operand, b: &Self::Multiplier)
    -> Result<(), EvalError>;
    /// sum += a · a prepared plaintext; the product has the sum's level and scaling.
    fn add_multiplied_plain_assign(
        &mut self,
        sum: &mut Self::Operand,
        a: &Self::Operand,
        b: &Self::Multiplier,
    ) -> Result<(), EvalError>;
    /// a ·= an integer.
    fn multiply_integer_assign(&mut self, a: &mut Self::Operand, integer: i64) -> Result<(), EvalError>;
    /// a · b, three components; a square where both are the same reference.
    fn tensor(&mut self, a: &Self::Operand, b: &Self::Operand) -> Result<Self::Operand, EvalError>;
    /// Back to two components.
    fn relinearise_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError>;
    /// Drops the last prime.
    fn drop_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError>;
    /// A rotation (0: the row swap).
    fn rotated(&mut self, a: &Self::Operand, step: i32) -> Result<Self::Operand, EvalError>;
    /// Several rotations of one operand.
    fn rotated_many(&mut self, a: &Self::Operand, steps: &[i32]) -> Result<Vec<Self::Operand>, EvalError>;
}
