//! Sums of many ciphertexts, plain or weighted: all terms in one pass.

use alloc::vec::Vec;

use sotto_ring::{Eval, MOST_SOURCES, Poly, Scratch, weighted_sums};

use super::{Evaluator, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;

impl<S: Scheme> Shape<S> {
    /// Returns the shape of Σ shape·weight; terms of weight 0 are left out.
    ///
    /// # Errors
    /// [`EvalError::Transparent`] if every weight is 0; [`EvalError::LevelMismatch`] and [`EvalError::ScalingMismatch`] if
    /// the terms differ; [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn weighted_sum<'a>(
        params: &Params<S>,
        terms: impl IntoIterator<Item = (&'a Self, i64)>,
    ) -> Result<Self, EvalError>
    where
        S: 'a,
    {
        let mut total: Option<Self> = None;
        for (shape, weight) in terms.into_iter().filter(|(_, weight)| *weight != 0) {
            let term = shape.multiply_scalar(params, weight)?;
            total = Some(match total {
                None => term,
                Some(sum) => sum.add(params, &term)?,
            });
        }
        total.ok_or(EvalError::Transparent)
    }
}

impl<S: Scheme> Evaluator<S> {
    /// Returns the sum of ciphertexts with the same number of components. Each is read once;
    /// [`Evaluator::add_assign`] would read and write the sum for every term. The estimated noise takes the terms as
    /// independent.
    ///
    /// # Errors
    /// [`EvalError::Components`] for no ciphertext, or if their numbers of components differ; otherwise as
    /// [`Evaluator::add`].
    pub fn sum_with(
        &self,
        terms: &[&Ciphertext<S>],
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let [first, rest @ ..] = terms else { return Err(EvalError::Components { components: 0 }) };
        self.belongs(first)?;
        let mut shape = *first.shape();
        for term in rest {
            self.pair(first, term)?;
            if term.components().len() != first.components().len() {
                return Err(EvalError::Components { components: term.components().len() });
            }
            shape = shape.add(&self.params, term.shape())?;
        }
        rest.iter().for_each(|_| self.counters.count(Operation::Add));
        let mut sum = self.copy_with(first, scratch);
        for (k, component) in sum.components_mut().iter_mut().enumerate() {
            let others: Vec<&Poly<Eval>> = rest.iter().map(|term| &term.components()[k]).collect();
            component.add_all(&others);
        }
        sum.set_shape(shape);
        Ok(sum)
    }

    /// Returns Σ_j ciphertext_j·weight_ij for each row i of weights. Every ciphertext is read once for all rows, in
    /// chunks of [`MOST_SOURCES`]: for polynomials with public whole coefficients. The ciphertexts have two components.
    ///
    /// # Errors
    /// [`EvalError::Components`] for no ciphertext or one of three components; [`EvalError::Transparent`] for a row of
    /// zeros; [`EvalError::ParameterMismatch`], [`EvalError::KeyMismatch`], [`EvalError::LevelMismatch`] and
    /// [`EvalError::ScalingMismatch`] if the ciphertexts differ; [`EvalError::Noise`] if the noise bound passes the
    /// decryption limit.
    pub fn weighted_sums_with(
        &self,
        terms: &[&Ciphertext<S>],
        weights: &[Vec<i64>],
        scratch: &mut Scratch,
    ) -> Result<Vec<Ciphertext<S>>, EvalError> {
        let [first, rest @ ..] = terms else { return Err(EvalError::Components { components: 0 }) };
        self.belongs(first)?;
        for term in rest {
            self.pair(first, term)?;
        }
        if let Some(term) = terms.iter().find(|term| term.components().len() != 2) {
            return Err(EvalError::Components { components: term.components().len() });
        }
        let shape = |row: &Vec<i64>| {
            let terms = terms.iter().map(|term| term.shape()).zip(row.iter().copied());
            Shape::weighted_sum(&self.params, terms)
        };
        let shapes: Vec<Shape<S>> = weights.iter().map(shape).collect::<Result<_, _>>()?;
        for _ in weights.iter().flatten().filter(|weight| **weight != 0) {
            self.counters.count(Operation::MultiplyScalar);
        }
        let limbs = self.params.limbs(first.level());
        let mut halves = [0, 1].map(|k| {
            let mut sums: Vec<Poly<Eval>> = Vec::new();
            for start in (0..terms.len()).step_by(MOST_SOURCES) {
                let chunk = start..(start + MOST_SOURCES).min(terms.len());
                let sources: Vec<&Poly<Eval>> =
                    terms[chunk.clone()].iter().map(|term| &term.components()[k]).collect();
                let rows: Vec<Vec<i64>> = weights.iter().map(|row| row[chunk.clone()].to_vec()).collect();
                let new = || scratch.poly::<Eval>(self.params.ring(), limbs.clone());
                let mut part: Vec<Poly<Eval>> = core::iter::repeat_with(new).take(weights.len()).collect();
                weighted_sums(&mut part, &sources, &rows);
                if sums.is_empty() {
                    sums = part;
                } else {
                    sums.iter_mut().zip(&part).for_each(|(sum, part)| sum.add_assign(part));
                    part.into_iter().for_each(|part| scratch.give(part));
                }
            }
            sums.into_iter()
        });
        let [bodies, masks] = &mut halves;
        let both = shapes.into_iter().zip(bodies.zip(masks));
        Ok(both.map(|(shape, (body, mask))| self.result(first, shape, [body, mask])).collect())
    }
}
