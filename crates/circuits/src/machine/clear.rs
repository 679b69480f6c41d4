//! The machine in the clear: the definition of every other machine's results.

use core::marker::PhantomData;

use sotto_rlwe::{EncodeError, EvalError, LevelRules, Params};

use super::{Machine, Number};
use crate::error::CircuitError;

/// Vectors in the clear: integers modulo t, or reals.
///
/// ```
/// use sotto_circuits::{Clear, Machine};
///
/// // Two rows of four slots, integers modulo 257.
/// let mut machine = Clear::integers(257, 2, 4);
/// let volts = machine.vector(&[230, 229, 231])?;
/// let later = machine.rotate(&volts, 1)?;
/// // 229 and 231 are centred modulo 257.
/// assert_eq!(later[..3], [-28, -26, 0]);
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clear<V> {
    modulus: Option<u64>,
    rows: usize,
    columns: usize,
    value: PhantomData<V>,
}

impl Clear<i64> {
    /// Makes a machine on integers modulo t ≥ 2, in rows and columns.
    pub fn integers(modulus: u64, rows: usize, columns: usize) -> Self {
        Self { modulus: Some(modulus), rows, columns, value: PhantomData }
    }
}

impl Clear<f64> {
    /// Makes a machine on reals, in one row.
    pub fn reals(columns: usize) -> Self {
        Self { modulus: None, rows: 1, columns, value: PhantomData }
    }
}

impl<V: Number> Clear<V> {
    /// Makes the machine in the clear for ciphertexts of these parameters.
    pub fn like<S: LevelRules<Value = V>>(params: &Params<S>) -> Self {
        let (rows, columns) = S::slot_shape(params).unwrap_or((1, 1));
        let modulus = S::EXACT.then(|| params.plain_modulus());
        Self { modulus, rows, columns, value: PhantomData }
    }

    /// Returns a vector of these values; missing ones are zero.
    ///
    /// # Errors
    /// [`EncodeError::TooMany`] if there are more values than slots.
    pub fn vector(&self, values: &[V]) -> Result<Vec<V>, CircuitError> {
        let slots = self.rows * self.columns;
        if values.len() > slots {
            return Err(EncodeError::TooMany { given: values.len(), slots }.into());
        }
        let mut vector: Vec<V> = values.iter().map(|v| self.canonical(*v)).collect();
        vector.resize(slots, V::default());
        Ok(vector)
    }

    fn zip(&self, a: &[V], b: &[V], f: impl Fn(V, V) -> V) -> Vec<V> {
        a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
    }

    fn product(&self, a: &[V], b: &[V]) -> Vec<V> {
        self.zip(a, b, |x, y| x.times(y, self.modulus))
    }

    fn sum(&self, terms: impl Iterator<Item = Vec<V>>, what: &'static str) -> Result<Vec<V>, CircuitError> {
        terms.reduce(|a, b| self.zip(&a, &b, |x, y| x.plus(y, self.modulus))).ok_or(CircuitError::Empty(what))
    }

    fn public(&self, values: &[V]) -> Result<Vec<V>, CircuitError> {
        let vector = self.vector(values)?;
        if vector.iter().all(|v| *v == V::default()) {
            return Err(EvalError::Transparent.into());
        }
        Ok(vector)
    }

    fn constant(&self, value: V) -> Vec<V> {
        vec![self.canonical(value); self.rows * self.columns]
    }
}

impl<V: Number> Machine for Clear<V> {
    type Value = V;
    type Vector = Vec<V>;
    type Multiplier = Vec<V>;

    fn slots(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    fn modulus(&self) -> Option<u64> {
        self.modulus
    }

    fn canonical(&self, value: V) -> V {
        value.canonical(self.modulus)
    }

    fn level(&self, _: &Vec<V>) -> usize {
        0
    }

    fn products_left(&self, _: &Vec<V>) -> Option<usize> {
        None
    }

    fn weighting_depth(&self, _: &[V]) -> usize {
        0
    }

    fn slot_error(&self, _: &Vec<V>) -> f64 {
        0.0
    }

    fn with_slot_bounds(&mut self, a: Vec<V>, _within: f64, _error: f64) -> Vec<V> {
        a
    }

    fn can_rotate(&self, step: i32) -> bool {
        step == 0 || (step.unsigned_abs() as usize) < self.columns
    }

    fn thrifty_level(&self, _: &Vec<V>, _: &Vec<V>) -> Result<usize, CircuitError> {
        Ok(0)
    }

    fn level_with_room(&self, _: &Vec<V>, _bits: f64) -> usize {
        0
    }

    fn degree(&self) -> Option<usize> {
        None
    }

    fn multiply_monomial(&mut self, _: &Vec<V>, _power: usize) -> Result<Vec<V>, CircuitError> {
        Err(CircuitError::NoCoefficients)
    }

    fn lower(&mut self, a: &Vec<V>, _level: usize) -> Result<Vec<V>, CircuitError> {
        Ok(a.clone())
    }

    fn replace_factor(&mut self, _: &mut Vec<V>, _factor: V) -> V {
        V::ONE
    }

    fn copy(&mut self, a: &Vec<V>) -> Vec<V> {
        a.clone()
    }

    fn recycle(&mut self, _: Vec<V>) {}

    fn add(&mut self, a: &Vec<V>, b: &Vec<V>) -> Result<Vec<V>, CircuitError> {
        Ok(self.zip(a, b, |x, y| x.plus(y, self.modulus)))
    }

    fn subtract(&mut self, a: &Vec<V>, b: &Vec<V>) -> Result<Vec<V>, CircuitError> {
        Ok(self.zip(a, b, |x, y| x.plus(y.negated(self.modulus), self.modulus)))
    }

    fn negate(&mut self, a: &Vec<V>) -> Result<Vec<V>, CircuitError> {
        Ok(a.iter().map(|v| v.negated(self.modulus)).collect())
    }

    fn add_constant(&mut self, a: &Vec<V>, value: V) -> Result<Vec<V>, CircuitError> {
        let b = self.constant(value);
        self.add(a, &b)
    }

    fn add_vector(&mut self, a: &Vec<V>, values: &[V]) -> Result<Vec<V>, CircuitError> {
        let b = self.vector(values)?;
        self.add(a, &b)
    }

    fn multiply_constant(&mut self, a: &Vec<V>, value: V) -> Result<Vec<V>, CircuitError> {
        self.weighted_sum(&[(a, value)])
    }

    fn multiply_vector(&mut self, a: &Vec<V>, values: &[V]) -> Result<Vec<V>, CircuitError> {
        Ok(self.product(a, &self.public(values)?))
    }

    fn weighted_sum(&mut self, terms: &[(&Vec<V>, V)]) -> Result<Vec<V>, CircuitError> {
        if terms.iter().any(|(_, value)| self.canonical(*value) == V::default()) {
            return Err(EvalError::Transparent.into());
        }
        self.sum(terms.iter().map(|(a, value)| self.product(a, &self.constant(*value))), "a weighted sum")
    }

    fn weighted_sums(&mut self, terms: &[&Vec<V>], weights: &[Vec<V>]) -> Result<Vec<Vec<V>>, CircuitError> {
        weights.iter().map(|row| super::weighted_row(self, terms, row)).collect()
    }

    fn prepare(&mut self, values: &[V], _level: usize) -> Result<Vec<V>, CircuitError> {
        self.public(values)
    }

    fn sum_of_prepared(&mut self, terms: &[(&Vec<V>, &Vec<V>)]) -> Result<Vec<V>, CircuitError> {
        self.sum(terms.iter().map(|(a, b)| self.product(a, b)), "a sum of products")
    }

    fn sum_of_products(&mut self, terms: &[(&Vec<V>, &Vec<V>)]) -> Result<Vec<V>, CircuitError> {
        self.sum_of_prepared(terms)
    }

    fn rotate(&mut self, a: &Vec<V>, step: i32) -> Result<Vec<V>, CircuitError> {
        if step == 0 || !self.can_rotate(step) {
            return Err(EvalError::Step { step, row: self.columns }.into());
        }
        let left = step.rem_euclid(self.columns as i32) as usize;
        let mut rotated = a.clone();
        rotated.chunks_exact_mut(self.columns).for_each(|row| row.rotate_left(left));
        Ok(rotated)
    }

    fn rotate_many(&mut self, a: &Vec<V>, steps: &[i32]) -> Result<Vec<Vec<V>>, CircuitError> {
        steps.iter().map(|step| self.rotate(a, *step)).collect()
    }

    fn swap_rows(&mut self, a: &Vec<V>) -> Result<Vec<V>, CircuitError> {
        let mut swapped = a.clone();
        swapped.rotate_left(if self.rows == 2 { self.columns } else { 0 });
        Ok(swapped)
    }
}
