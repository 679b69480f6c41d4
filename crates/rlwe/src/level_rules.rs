//! The rules that manage levels, scales and plaintext factors before and after sums and products. They decide from
//! shapes alone, for the planner and for circuits that compute at once.

use sotto_ring::Scratch;

use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluator::Evaluator;
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;
use crate::slot_value::SlotValue as _;

/// The adjustment of one operand of a sum: lowered to a level ([`Shape::lower`]), then multiplied by an integer that
/// its plaintext factor includes (BGV; 1 if nothing has to match).
///
/// Example: [`LevelRules`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjustment {
    /// The level after the adjustment.
    pub level: usize,
    /// The integer to multiply by.
    pub factor: i64,
}

/// The rules by which a scheme manages levels and scales. They only decide; the caller turns the decision into steps or
/// computes it.
///
/// ```
/// use sotto_rlwe::{Adjustment, Ckks, LevelRules, Origin, Params, Shape};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let fresh = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// let lower = fresh.lower(&params, 0)?;
/// // Before a sum, the operand at level 1 is lowered to level 0.
/// let [first, second] = Ckks::before_sum(&params, &fresh, &lower);
/// assert_eq!(first, Adjustment { level: 0, factor: 1 });
/// assert!(second.is_nothing(0));
/// assert_eq!(first.follow(&params, &fresh)?.level, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait LevelRules: Scheme {
    /// True if the last prime is dropped after every product, with a ciphertext or a plaintext: CKKS rescales.
    const RESCALES: bool;

    /// Returns the scaling of a constant to be added to a ciphertext of this scaling.
    fn addend_scaling(of: Self::Scaling) -> Self::Scaling {
        of
    }

    /// Returns the adjustments that bring two operands to one level and scaling, for a sum or difference.
    fn before_sum(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> [Adjustment; 2] {
        lower_of(a, b)
    }

    /// Returns the best level for a product of two operands; at most the lower of their levels.
    ///
    /// # Errors
    /// [`EvalError::NoLevel`] if the product could not be rescaled.
    fn product_level(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> Result<usize, EvalError> {
        Ok(a.level.min(b.level))
    }

    /// Returns the lowest level at which a relinearised product has at most `bits` bits less room than at the best one, so
    /// that a deep circuit works on few primes. CKKS: [`product_level`](LevelRules::product_level).
    ///
    /// # Errors
    /// As [`product_level`](LevelRules::product_level).
    fn thrifty_level(
        params: &Params<Self>,
        a: &Shape<Self>,
        b: &Shape<Self>,
        bits: f64,
    ) -> Result<usize, EvalError> {
        if Self::RESCALES {
            return Self::product_level(params, a, b);
        }
        let top = a.level.min(b.level);
        let rooms = |level: usize| product_room(params, a, b, level).map_or(f64::NEG_INFINITY, |room| room);
        let rooms: alloc::vec::Vec<f64> = (0..=top).map(rooms).collect();
        let best = rooms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(rooms.iter().position(|room| *room >= best - bits).filter(|_| best >= 0.0).unwrap_or(top))
    }

    /// Sets a shape's plaintext factor, which must be invertible modulo t, and returns the one before. The message is
    /// then another one: old/new times the one before, for which the caller accounts. A circuit that keeps track of
    /// factors adds terms of different ones without a product. 1 in schemes without factors.
    fn replace_factor(_params: &Params<Self>, _shape: &mut Shape<Self>, _factor: Self::Value) -> Self::Value {
        Self::Value::ONE
    }

    /// Returns the level of a transmitted answer. Exact schemes drop primes as long as two bits of room remain, so that
    /// fewer bytes are transmitted.
    ///
    /// # Errors
    /// [`EvalError::Noise`] if the answer could not be decrypted.
    fn answer_level(params: &Params<Self>, answer: &Shape<Self>) -> Result<usize, EvalError> {
        let mut shape = *answer;
        while let Ok(smaller) = shape.drop_prime(params) {
            if smaller.room(params) < 2.0 {
                break;
            }
            shape = smaller;
        }
        Ok(shape.level)
    }

    /// Returns the shape after multiplication by the factor of an [`Adjustment`].
    ///
    /// # Errors
    /// [`EvalError::Unsupported`] in a scheme without factors.
    fn matched(_params: &Params<Self>, shape: &Shape<Self>, factor: i64) -> Result<Shape<Self>, EvalError> {
        if factor == 1 { Ok(*shape) } else { Err(no_factors::<Self>()) }
    }

    /// Multiplies by the factor of an [`Adjustment`], in place.
    ///
    /// # Errors
    /// [`EvalError::Unsupported`] in a scheme without factors.
    fn match_in_place(_: &Evaluator<Self>, _: &mut Ciphertext<Self>, factor: i64) -> Result<(), EvalError> {
        if factor == 1 { Ok(()) } else { Err(no_factors::<Self>()) }
    }
}

impl<S: LevelRules> Ciphertext<S> {
    /// Sets the plaintext factor and returns the one before: see [`LevelRules::replace_factor`].
    pub fn replace_factor(&mut self, factor: S::Value) -> S::Value {
        let mut shape = *self.shape();
        let before = S::replace_factor(self.params(), &mut shape, factor);
        self.set_shape(shape);
        before
    }
}

/// Returns the room of the relinearised product at a level.
pub(crate) fn product_room<S: Scheme>(
    params: &Params<S>,
    a: &Shape<S>,
    b: &Shape<S>,
    level: usize,
) -> Result<f64, EvalError> {
    let product = a.lower(params, level)?.multiply(params, &b.lower(params, level)?)?;
    Ok(product.relinearise(params).unwrap_or(product).room(params))
}

fn no_factors<S: Scheme>() -> EvalError {
    EvalError::Unsupported { operation: "plaintext factor", scheme: S::ID }
}

impl Adjustment {
    /// Returns true if it does not change an operand of this level.
    pub fn is_nothing(&self, level: usize) -> bool {
        self.level == level && self.factor == 1
    }

    /// Returns the operand's shape after the adjustment.
    ///
    /// # Errors
    /// As [`Shape::lower`] and [`LevelRules::matched`].
    pub fn follow<S: LevelRules>(&self, params: &Params<S>, shape: &Shape<S>) -> Result<Shape<S>, EvalError> {
        S::matched(params, &shape.lower(params, self.level)?, self.factor)
    }

    /// Returns the adjusted operand, in buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::lower`] and [`LevelRules::match_in_place`].
    pub fn apply<S: LevelRules>(
        &self,
        evaluator: &Evaluator<S>,
        operand: &Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let mut adjusted = evaluator.lower_with(operand, self.level, scratch)?;
        S::match_in_place(evaluator, &mut adjusted, self.factor)?;
        Ok(adjusted)
    }
}

/// Lowers both operands to the lower of two levels.
pub(crate) fn lower_of<S: Scheme>(a: &Shape<S>, b: &Shape<S>) -> [Adjustment; 2] {
    [Adjustment { level: a.level.min(b.level), factor: 1 }; 2]
}
