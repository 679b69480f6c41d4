//! Plans: the cost of a computation, and the expectations that an answer is compared with.

use pyo3::prelude::*;
use sotto::{Bfv, Ckks};

use crate::schemes::each;

pub(crate) enum Plans {
    Reals(sotto::Plan<Ckks>),
    Integers(sotto::Plan<Bfv>),
}

/// The plan of one result.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct Plan(pub(crate) Plans);

#[pymethods]
impl Plan {
    /// Products of two ciphertexts, products with plain vectors, rotations.
    #[getter]
    fn counts(&self) -> (usize, usize, usize) {
        each!(Plans, &self.0, plan => plan.counts())
    }

    /// Bytes of the evaluation keys that the computation needs.
    #[getter]
    fn key_bytes(&self) -> usize {
        each!(Plans, &self.0, plan => plan.key_bytes())
    }

    /// Bytes of the answer's ciphertexts.
    #[getter]
    fn answer_bytes(&self) -> usize {
        each!(Plans, &self.0, plan => plan.answer_bytes())
    }

    /// Levels that the computation leaves unused.
    #[getter]
    fn levels_left(&self) -> usize {
        each!(Plans, &self.0, plan => plan.levels_left())
    }

    /// A bound on the error of every value.
    #[getter]
    fn error_bound(&self) -> f64 {
        each!(Plans, &self.0, plan => plan.error_bound())
    }

    /// A bound on the absolute value of every value.
    #[getter]
    fn magnitude(&self) -> f64 {
        each!(Plans, &self.0, plan => plan.magnitude())
    }

    fn __repr__(&self) -> String {
        each!(Plans, &self.0, plan => plan.to_string())
    }
}
