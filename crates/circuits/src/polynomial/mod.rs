//! Polynomials of a vector, slot by slot, in minimal depth with about 2·√(2·degree) products (Paterson and Stockmeyer,
//! SIAM Journal on Computing 2, 1973, "On the number of nonscalar multiplications necessary to evaluate polynomials").
//!
//! p = Σ q_i·x^(2^i) + leaf, where each q_i has the same form and a leaf is a weighted sum of low powers. The split at
//! powers of two keeps the depth at ⌈log2(degree + 1)⌉ if a weight takes a level like a product (Bossuat, Mouchet,
//! Troncoso-Pastoriza and Hubaux, ePrint 2020/1203, section 5.2): only the branch of the highest powers is split below
//! the size of a leaf. All products of one sum are relinearised and rescaled once.
//!
//! Scales never match by a tolerance: a weight is encoded for the level at which it is used, and all operands of a sum
//! have exactly the same scale.

mod split;

use crate::error::CircuitError;
use crate::machine::{Machine, require_levels};
use crate::powers::Powers;
use split::{Split, best};

/// A polynomial with public coefficients.
///
/// ```
/// use sotto_circuits::{Clear, Cost, Polynomial};
///
/// // A sensor's characteristic: 1 + 2·x + x³.
/// let mut machine = Clear::integers(65_537, 1, 2);
/// let curve = Polynomial::new(vec![1, 2, 0, 1]);
/// assert_eq!(curve.evaluate(&mut machine, &vec![3, -4])?, [34, -71]);
/// let cost: Cost = curve.cost(&machine)?;
/// assert_eq!((cost.depth, cost.products), (2, 2));
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial<V> {
    coefficients: Vec<V>,
}

/// The cost of evaluating a polynomial.
///
/// Example: [`Polynomial`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Levels if every product takes one, else the number of consecutive products.
    pub depth: usize,
    /// Products of two ciphertexts, squares included.
    pub products: usize,
    /// Key switches that bring products back to two components.
    pub relinearisations: usize,
}

impl<V: crate::Number> Polynomial<V> {
    /// Makes a polynomial from its coefficients, that of x^0 first.
    pub fn new(coefficients: Vec<V>) -> Self {
        Self { coefficients }
    }

    /// Returns the coefficients, that of x^0 first.
    pub fn coefficients(&self) -> &[V] {
        &self.coefficients
    }

    /// Returns the cost of the evaluation on this machine. It is the same for every operand.
    ///
    /// # Errors
    /// [`CircuitError::Constant`] for a polynomial of degree 0.
    pub fn cost<M: Machine<Value = V>>(&self, machine: &M) -> Result<Cost, CircuitError> {
        Ok(best(machine, &self.canonical(machine)?).cost())
    }

    /// Returns p(a) in every slot. Zero coefficients cost nothing.
    ///
    /// # Errors
    /// [`CircuitError::Constant`] for degree 0; [`CircuitError::Levels`] before the first operation; the errors of
    /// products.
    pub fn evaluate<M: Machine<Value = V>>(
        &self,
        machine: &mut M,
        a: &M::Vector,
    ) -> Result<M::Vector, CircuitError> {
        let split = best(machine, &self.canonical(machine)?);
        require_levels(machine, a, split.cost().depth)?;
        let mut powers = Powers::of(a);
        for power in split.powers() {
            powers.make(machine, power)?;
        }
        let value = value(machine, &split, &powers)?;
        powers.recycle(machine);
        Ok(value)
    }

    /// Returns the canonical coefficients without trailing zeros.
    fn canonical<M: Machine<Value = V>>(&self, machine: &M) -> Result<Vec<V>, CircuitError> {
        let mut coefficients: Vec<V> = self.coefficients.iter().map(|c| machine.canonical(*c)).collect();
        while coefficients.pop_if(|last| *last == V::default()).is_some() {}
        if coefficients.len() < 2 { Err(CircuitError::Constant) } else { Ok(coefficients) }
    }
}

fn value<M: Machine>(
    machine: &mut M,
    split: &Split<M::Value>,
    powers: &Powers<'_, M>,
) -> Result<M::Vector, CircuitError> {
    let mut parts = Vec::new();
    if !split.weights.is_empty() {
        let terms: Vec<_> =
            split.weights.iter().map(|(power, weight)| (powers.at(*power), *weight)).collect();
        parts.push(machine.weighted_sum(&terms)?);
    }
    if !split.products.is_empty() {
        let mut factors = Vec::with_capacity(split.products.len());
        for (_, factor) in &split.products {
            factors.push(value(machine, factor, powers)?);
        }
        let terms: Vec<_> = split
            .products
            .iter()
            .zip(&factors)
            .map(|((power, _), factor)| (factor, powers.at(*power)))
            .collect();
        parts.push(machine.sum_of_products(&terms)?);
        factors.into_iter().for_each(|factor| machine.recycle(factor));
    }
    let mut sum = parts.pop().ok_or(CircuitError::Constant)?;
    if let Some(other) = parts.pop() {
        let both = machine.add(&sum, &other)?;
        machine.recycle(other);
        machine.recycle(core::mem::replace(&mut sum, both));
    }
    if let Some(constant) = split.constant {
        let shifted = machine.add_constant(&sum, constant)?;
        machine.recycle(core::mem::replace(&mut sum, shifted));
    }
    Ok(sum)
}
