//! Plaintexts, and plaintexts prepared for the evaluator.

use pyo3::prelude::*;

use super::parameters::Parameters;
use sotto_rlwe::{map_any, with_any, with_same};

use super::scheme::{AnyAddend, AnyMultiplier, AnyParams, AnyPlaintext};

/// An encoded message. It may be secret: it shows no values, has no bytes, and is wiped when it is freed.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct Plaintext(pub(crate) AnyPlaintext);

/// A plaintext prepared for sums at one level and scaling: see `Evaluator.prepare_addend`.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct Addend {
    pub(crate) prepared: AnyAddend,
    pub(crate) params: AnyParams,
}

/// A plaintext prepared for products at one level: see `Evaluator.prepare_multiplier`.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct Multiplier {
    pub(crate) prepared: AnyMultiplier,
    pub(crate) params: AnyParams,
}

#[pymethods]
impl Plaintext {
    /// The parameter set that it was encoded with.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters(self.params())
    }

    /// The level that it was encoded for. Plaintexts of BFV and BGV fit every level.
    #[getter]
    fn level(&self) -> usize {
        with_any!(&self.0, plaintext => plaintext.level())
    }

    /// The declared largest absolute value (CKKS). Public.
    #[getter]
    fn magnitude(&self) -> f64 {
        with_any!(&self.0, plaintext => plaintext.magnitude())
    }

    /// log2 of a bound on its canonical norm: the largest absolute value at a root.
    #[getter]
    fn norm_bits(&self) -> f64 {
        with_any!(&self.0, plaintext => plaintext.norm().0)
    }

    fn __repr__(&self) -> String {
        let scheme = with_any!(&self.0, plaintext => plaintext.params().scheme());
        format!("Plaintext({}, level {})", scheme.name(), self.level())
    }
}

impl Plaintext {
    pub(crate) fn params(&self) -> AnyParams {
        map_any!(&self.0, plaintext => plaintext.params().clone())
    }

    /// Returns true if the plaintext belongs to these parameters.
    pub(crate) fn is_of(&self, params: &AnyParams) -> bool {
        with_same!((&self.0, params), (plaintext, params) => plaintext.params() == params).unwrap_or(false)
    }
}
