//! The evaluator: operations on ciphertexts, once for every scheme.
//!
//! Every operation comes twice: with buffers of the caller's (`…_with`, `…_assign`), where nothing is allocated in steady
//! state, and as a plain function that allocates what it needs.

mod automorphism;
mod counters;
mod expand;
mod expand_sum;
mod linear;
mod modulus;
mod product;
mod transfer;

pub use automorphism::Hoisted;
pub use counters::{Counters, Operation};
pub use modulus::Lowering;
pub(crate) use modulus::match_constant;

use sotto_ring::{Eval, Poly, Scratch};

use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// Computes on ciphertexts of one parameter set. Every operation checks shapes and the noise bound before it computes.
#[derive(Debug)]
pub struct Evaluator<S: Scheme> {
    params: Params<S>,
    counters: Counters,
}

impl<S: Scheme> Evaluator<S> {
    /// An evaluator.
    pub fn new(params: &Params<S>) -> Self {
        Self { params: params.clone(), counters: Counters::default() }
    }

    /// The parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// What ran so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A copy in buffers of the caller's.
    pub fn copy_with(&self, a: &Ciphertext<S>, scratch: &mut Scratch) -> Ciphertext<S> {
        self.result(a, *a.shape(), a.components().iter().map(|c| scratch.copy(c)))
    }

    /// Takes a ciphertext's buffers back.
    pub fn recycle(&self, a: Ciphertext<S>, scratch: &mut Scratch) {
        a.into_components().for_each(|component| scratch.give(component));
    }

    /// The same ciphertext in buffers at most an eighth longer than it: for what is kept for long.
    pub fn fitted(&self, a: Ciphertext<S>, scratch: &mut Scratch) -> Ciphertext<S> {
        a.map_components(|component| component.fitted(scratch))
    }

    fn belongs(&self, a: &Ciphertext<S>) -> Result<(), EvalError> {
        if *a.params() == self.params { Ok(()) } else { Err(EvalError::ParameterMismatch) }
    }

    fn pair(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<(), EvalError> {
        self.belongs(a)?;
        self.belongs(b)?;
        if a.key() != b.key() {
            return Err(EvalError::KeyMismatch { left: a.key(), right: b.key() });
        }
        Ok(())
    }

    fn keys_fit(&self, a: &Ciphertext<S>, keys: &EvaluationKeys<S>) -> Result<(), EvalError> {
        if keys.params != self.params {
            return Err(EvalError::ParameterMismatch);
        }
        if keys.key != a.key() {
            return Err(EvalError::KeyMismatch { left: a.key(), right: keys.key });
        }
        Ok(())
    }

    fn result(
        &self,
        a: &Ciphertext<S>,
        shape: Shape<S>,
        components: impl IntoIterator<Item = Poly<Eval>>,
    ) -> Ciphertext<S> {
        Ciphertext::from_parts(&self.params, a.key(), shape, components)
    }
}
