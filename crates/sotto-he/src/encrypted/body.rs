//! The parts of a vector: ciphertexts, or their shapes in a dry run, with their errors.

use std::sync::{Arc, Mutex};

use sotto_circuits::{ErrorRules, Errors, Event, Tally};
use sotto_rlwe::{Ciphertext, Origin, Params, Shape};

use crate::context::Context;
use crate::error::Result;
use crate::public::Public;
use crate::scheme::Arithmetic;

/// Ciphertexts, or their shapes in a dry run.
#[derive(Clone)]
pub(crate) enum Body<S: Arithmetic> {
    Real {
        parts: Vec<Ciphertext<S>>,
        /// One for each part.
        errors: Vec<Errors>,
        keys: Option<Public<S>>,
        /// The noise bounds are a sender's claim.
        claimed: bool,
    },
    Dry {
        parts: Vec<Shape<S>>,
        /// One for each part.
        errors: Vec<Errors>,
        tally: Arc<Mutex<Tally>>,
    },
}

impl<S: Arithmetic> Body<S> {
    /// Returns the shapes of the parts.
    pub(super) fn shapes(&self) -> Vec<Shape<S>> {
        match self {
            Self::Dry { parts, .. } => parts.clone(),
            Self::Real { parts, .. } => parts.iter().map(|part| *part.shape()).collect(),
        }
    }

    /// Returns the errors of the parts.
    pub(super) fn errors(&self) -> &[Errors] {
        match self {
            Self::Dry { errors, .. } | Self::Real { errors, .. } => errors,
        }
    }

    /// Returns the parts of these numbers.
    pub(super) fn only(&self, numbers: &[usize]) -> Self {
        let errors = numbers.iter().map(|number| self.errors()[*number].clone()).collect();
        match self {
            Self::Dry { parts, tally, .. } => {
                let parts = numbers.iter().map(|number| parts[*number]).collect();
                Self::Dry { parts, errors, tally: Arc::clone(tally) }
            }
            Self::Real { parts, keys, claimed, .. } => {
                let parts = numbers.iter().map(|number| parts[*number].clone()).collect();
                Self::Real { parts, errors, keys: keys.clone(), claimed: *claimed }
            }
        }
    }

    /// Every slot, padding included, is within ±`slots_within`: the bound on the message that operations after this one
    /// start from.
    pub(super) fn bounded(self, params: &Params<S>, slots_within: f64) -> Self {
        let bounded = |shape: &Shape<S>| S::bounded(params, *shape, slots_within);
        match self {
            Self::Dry { parts, errors, tally } => {
                Self::Dry { parts: parts.iter().map(bounded).collect(), errors, tally }
            }
            Self::Real { parts, errors, keys, claimed } => {
                let part = |part: Ciphertext<S>| match bounded(part.shape()) {
                    same if same.noise == part.shape().noise => part,
                    shape => Ciphertext::from_parts(params, part.key(), shape, part.components().to_vec()),
                };
                Self::Real { parts: parts.into_iter().map(part).collect(), errors, keys, claimed }
            }
        }
    }

    /// Returns the parts at the levels that their shapes are given.
    pub(super) fn lowered(&self, context: &Context<S>, level: impl Fn(&Shape<S>) -> usize) -> Result<Self> {
        let params = context.params();
        let shapes = self.shapes();
        let mut lowered = match self {
            Self::Dry { parts, tally, .. } => {
                let lowered = parts.iter().map(|shape| shape.lower(params, level(shape)));
                let parts = lowered.collect::<core::result::Result<_, _>>()?;
                Self::Dry { parts, errors: self.errors().to_vec(), tally: Arc::clone(tally) }
            }
            Self::Real { parts, keys, claimed, .. } => {
                let lowered = parts.iter().map(|part| context.0.evaluator.lower(part, level(part.shape())));
                let parts = lowered.collect::<core::result::Result<_, _>>()?;
                let errors = self.errors().to_vec();
                Self::Real { parts, errors, keys: keys.clone(), claimed: *claimed }
            }
        };
        if let Some(rules) = ErrorRules::new(params) {
            let after = lowered.shapes();
            let (Self::Dry { errors, .. } | Self::Real { errors, .. }) = &mut lowered;
            for (errors, (before, after)) in errors.iter_mut().zip(shapes.iter().zip(&after)) {
                rules.lower(params, errors, before, after);
            }
        }
        Ok(lowered)
    }
}

/// Returns the errors of the parts of one fresh vector of `len` values.
pub(crate) fn fresh_errors<S: Arithmetic>(context: &Context<S>, len: usize, origin: Origin) -> Vec<Errors> {
    let (parts, period, vector) = (context.parts(len) as u32, context.period(len), Event::new());
    match ErrorRules::new(context.params()) {
        Some(rules) => (0..parts).map(|part| rules.fresh(origin, vector, part, period)).collect(),
        None => vec![Errors::default(); parts as usize],
    }
}

/// Returns errors of which no more is known than the bounds of these shapes.
pub(crate) fn claimed_errors<S: Arithmetic>(context: &Context<S>, parts: &[Ciphertext<S>]) -> Vec<Errors> {
    let rules = ErrorRules::new(context.params());
    let unknown = |part: &Ciphertext<S>| rules.map(|rules| rules.unknown(part.shape(), &Errors::default()));
    parts.iter().map(|part| unknown(part).unwrap_or_default()).collect()
}

/// Returns errors as large as the bounds of these shapes, and as random as fresh ones: no bounds. Choices between ways to
/// compute compare them, so that a choice depends on shapes alone, which an owner's plan and a cloud share.
pub(super) fn assumed_errors<S: Arithmetic>(context: &Context<S>, shapes: &[Shape<S>]) -> Vec<Errors> {
    let (rules, vector) = (ErrorRules::new(context.params()), Event::new());
    let assumed = |(part, shape): (u32, &Shape<S>)| rules.map(|rules| rules.like_fresh(shape, vector, part));
    (0..).zip(shapes).map(|part| assumed(part).unwrap_or_default()).collect()
}

/// Returns a bound on the error of every slot of each part, of a vector of `len` values.
pub(crate) fn slot_errors<S: Arithmetic>(
    context: &Context<S>,
    len: usize,
    shapes: &[Shape<S>],
    errors: &[Errors],
) -> Vec<f64> {
    let (params, period) = (context.params(), context.period(len));
    let rules = ErrorRules::new(params);
    let bound = |(shape, errors): (&Shape<S>, &Errors)| match rules {
        Some(rules) => rules.slot_error(params, errors, shape, period),
        None => 0.0,
    };
    shapes.iter().zip(errors).map(bound).collect()
}
