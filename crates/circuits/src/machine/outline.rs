//! The machine on shapes: refuses a circuit exactly as the machine on ciphertexts, before any computation.

use std::collections::BTreeSet;

use sotto_rlwe::{
    Adjustment, EvalError, EvaluationKeys, LevelRules, Params, PlainSize, Plaintext, Scheme, Shape,
};

use super::backend::Backend;

/// Follows shapes through a circuit without computing: levels, scalings, noise bounds and refusals are exactly those of
/// the ciphertexts. Counts the operations and collects the steps of the keys.
///
/// ```
/// use sotto_circuits::{Outline, Polynomial};
/// use sotto_rlwe::{Bfv, Origin, Params, Shape};
///
/// let params = Params::<Bfv>::default_chain(8192, 65_537)?;
/// let fresh = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// let mut outline = Outline::new(&params);
/// let result = Polynomial::new(vec![1, 0, 3]).evaluate(&mut outline, &fresh)?;
/// assert!(result.room(&params) >= 0.0);
/// // The run needs one product and the relinearisation key, and no rotation.
/// assert_eq!((outline.tally().products, outline.tally().relinearisations), (1, 1));
/// assert!(outline.tally().steps.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Outline<'a, S: LevelRules> {
    params: &'a Params<S>,
    keys: Option<&'a EvaluationKeys<S>>,
    tally: Tally,
}

/// The operations and keys that a circuit needs.
///
/// Example: [`Outline`]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Products of two ciphertexts.
    pub products: usize,
    /// Products with a prepared plaintext.
    pub plain_products: usize,
    /// Relinearisations; if there is one, the relinearisation key is needed.
    pub relinearisations: usize,
    /// Rotations and row swaps.
    pub rotations: usize,
    /// The steps of the rotations (0: the row swap); each needs a Galois key.
    pub steps: BTreeSet<i32>,
}

impl Tally {
    /// Returns the number of all operations, as a [`Watch`](super::Watch) counts them.
    pub fn operations(&self) -> usize {
        self.products + self.plain_products + self.relinearisations + self.rotations
    }
}

impl core::ops::AddAssign<&Self> for Tally {
    fn add_assign(&mut self, other: &Self) {
        let Self { products, plain_products, relinearisations, rotations, steps } = other;
        self.products += products;
        self.plain_products += plain_products;
        self.relinearisations += relinearisations;
        self.rotations += rotations;
        self.steps.extend(steps);
    }
}

impl<'a, S: LevelRules> Outline<'a, S> {
    /// Makes an outline as if every key existed.
    pub fn new(params: &'a Params<S>) -> Self {
        Self { params, keys: None, tally: Tally::default() }
    }

    /// Makes an outline with these keys only.
    pub fn with_keys(params: &'a Params<S>, keys: &'a EvaluationKeys<S>) -> Self {
        Self { keys: Some(keys), ..Self::new(params) }
    }

    /// Returns the operations so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    fn rotation(&mut self, a: &Shape<S>, step: i32) -> Result<Shape<S>, EvalError> {
        let shape = a.rotate(self.params, step)?;
        if !self.has_key(step) {
            return Err(EvalError::MissingKey(match step {
                0 => "Galois key of the row swap".into(),
                _ => format!("Galois key of the rotation by {step}"),
            }));
        }
        self.tally.rotations += 1;
        self.tally.steps.insert(step);
        Ok(shape)
    }
}

/// Level and bounds of a plaintext.
type Bounds = (usize, PlainSize);

fn bounds<S: Scheme>(plaintext: &Plaintext<S>) -> Bounds {
    (plaintext.level(), plaintext.size())
}

impl<S: LevelRules> Backend for Outline<'_, S> {
    type Scheme = S;
    type Operand = Shape<S>;
    type Multiplier = Bounds;

    fn params(&self) -> &Params<S> {
        self.params
    }

    fn has_key(&self, step: i32) -> bool {
        let exists = self.params.can_switch_keys() && self.params.galois_element(step).is_some();
        exists && self.keys.is_none_or(|keys| keys.can_rotate(step))
    }

    fn shape(operand: &Shape<S>) -> &Shape<S> {
        operand
    }

    fn copied(&mut self, a: &Shape<S>) -> Shape<S> {
        *a
    }

    fn give(&mut self, _: Shape<S>) {}

    fn bounded(&mut self, a: Shape<S>, within: f64, error: f64) -> Shape<S> {
        a.with_slot_bounds(self.params, within, error)
    }

    fn adjust(&mut self, a: &Shape<S>, by: Adjustment) -> Result<Shape<S>, EvalError> {
        by.follow(self.params, a)
    }

    fn add_assign(&mut self, a: &mut Shape<S>, b: &Shape<S>) -> Result<(), EvalError> {
        *a = a.add(self.params, b)?;
        Ok(())
    }

    fn subtract_assign(&mut self, a: &mut Shape<S>, b: &Shape<S>) -> Result<(), EvalError> {
        self.add_assign(a, b)
    }

    fn negate_assign(&mut self, _: &mut Shape<S>) -> Result<(), EvalError> {
        Ok(())
    }

    fn add_plain_assign(&mut self, a: &mut Shape<S>, b: &Plaintext<S>) -> Result<(), EvalError> {
        let (level, size) = bounds(b);
        *a = a.add_plain(self.params, level, S::addend_scaling(a.scaling), size)?;
        Ok(())
    }

    fn multiplier(&mut self, plaintext: &Plaintext<S>) -> Bounds {
        bounds(plaintext)
    }

    fn multiply_plain_assign(&mut self, a: &mut Shape<S>, (level, size): &Bounds) -> Result<(), EvalError> {
        self.tally.plain_products += 1;
        *a = a.multiply_plain(self.params, *level, *size)?;
        Ok(())
    }

    fn add_multiplied_plain_assign(
        &mut self,
        sum: &mut Shape<S>,
        a: &Shape<S>,
        b: &Bounds,
    ) -> Result<(), EvalError> {
        let mut product = *a;
        self.multiply_plain_assign(&mut product, b)?;
        self.add_assign(sum, &product)
    }

    fn multiply_integer_assign(&mut self, a: &mut Shape<S>, integer: i64) -> Result<(), EvalError> {
        *a = a.multiply_scalar(self.params, integer)?;
        Ok(())
    }

    fn weighted(&mut self, terms: &[&Shape<S>], weights: &[Vec<i64>]) -> Result<Vec<Shape<S>>, EvalError> {
        let sum =
            |row: &Vec<i64>| Shape::weighted_sum(self.params, terms.iter().copied().zip(row.iter().copied()));
        weights.iter().map(sum).collect()
    }

    fn dropped_to(&mut self, a: &Shape<S>, level: usize) -> Result<Shape<S>, EvalError> {
        a.drop_to(self.params, level)
    }

    fn replaced_factor(&mut self, a: &mut Shape<S>, factor: S::Value) -> S::Value {
        S::replace_factor(self.params, a, factor)
    }

    fn monomial_assign(&mut self, a: &mut Shape<S>, power: usize) -> Result<(), EvalError> {
        *a = a.multiply_monomial(self.params, power)?;
        Ok(())
    }

    fn tensor(&mut self, a: &Shape<S>, b: &Shape<S>) -> Result<Shape<S>, EvalError> {
        self.tally.products += 1;
        // The evaluator too estimates the noise of a square differently.
        if core::ptr::eq(a, b) { a.square(self.params) } else { a.multiply(self.params, b) }
    }

    fn relinearise_assign(&mut self, a: &mut Shape<S>) -> Result<(), EvalError> {
        *a = a.relinearise(self.params)?;
        if self.keys.is_some_and(|keys| keys.relinearisation.is_none()) {
            return Err(EvalError::MissingKey("relinearisation key".into()));
        }
        self.tally.relinearisations += 1;
        Ok(())
    }

    fn relinearise_and_drop_assign(&mut self, a: &mut Shape<S>) -> Result<(), EvalError> {
        self.relinearise_assign(a)?;
        self.drop_assign(a)
    }

    fn drop_assign(&mut self, a: &mut Shape<S>) -> Result<(), EvalError> {
        *a = a.drop_prime(self.params)?;
        Ok(())
    }

    fn rotated(&mut self, a: &Shape<S>, step: i32) -> Result<Shape<S>, EvalError> {
        self.rotation(a, step)
    }

    fn rotated_many(&mut self, a: &Shape<S>, steps: &[i32]) -> Result<Vec<Shape<S>>, EvalError> {
        steps.iter().map(|step| self.rotation(a, *step)).collect()
    }
}
