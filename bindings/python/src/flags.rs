//! Encrypted flags of comparisons of real numbers.

use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sotto::{Ckks, Encrypted, Error, Flag};
use sotto_circuits::Sign;

use crate::call::detached;

/// Encrypted flags, one for each value of a vector.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct Flags {
    pub(crate) flags: sotto::Flags,
    /// The gap as a share of the largest possible distance from the limit.
    share: f64,
}

#[pymethods]
impl Flags {
    fn __len__(&self) -> usize {
        self.flags.len()
    }

    /// The least distance from the limit at which no flag is undecided.
    #[getter]
    fn gap(&self) -> f64 {
        self.flags.gap()
    }

    /// The gap as a share of the largest possible distance from the limit.
    #[getter]
    fn share(&self) -> f64 {
        self.share
    }

    /// Levels that later computations can use.
    #[getter]
    fn levels_left(&self) -> usize {
        self.flags.vector().levels_left()
    }

    /// Bytes that the ciphertexts take in memory.
    #[getter]
    fn nbytes(&self) -> usize {
        let params = self.flags.vector().context().params();
        self.flags.vector().ciphertexts().iter().map(|part| part.shape().bytes(params) as usize).sum()
    }

    /// Drops the primes that an answer does not need.
    fn for_answer(&self, py: Python<'_>) -> PyResult<Self> {
        let flags = detached(py, || self.flags.for_answer())?;
        Ok(Self { flags, share: self.share })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || self.flags.vector().to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// The plan of one result that is flags.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct FlagPlan(pub(crate) sotto::FlagPlan);

#[pymethods]
impl FlagPlan {
    /// Products of two ciphertexts, products with plain vectors, rotations.
    #[getter]
    fn counts(&self) -> (usize, usize, usize) {
        self.0.plan().counts()
    }

    /// Bytes of the evaluation keys that the computation needs.
    #[getter]
    fn key_bytes(&self) -> usize {
        self.0.plan().key_bytes()
    }

    /// Bytes of the answer's ciphertexts.
    #[getter]
    fn answer_bytes(&self) -> usize {
        self.0.plan().answer_bytes()
    }

    /// Levels that the computation leaves unused.
    #[getter]
    fn levels_left(&self) -> usize {
        self.0.plan().levels_left()
    }

    /// A bound on the distance of a decrypted flag from 0 or 1, outside of the gap.
    #[getter]
    fn error_bound(&self) -> f64 {
        self.0.error()
    }

    /// The least distance from the limit at which no flag is undecided.
    #[getter]
    fn gap(&self) -> f64 {
        self.0.gap()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// The least number of levels that a comparison takes.
pub(crate) fn least_levels() -> usize {
    Sign::all().map(|sign| sign.depth()).min().unwrap_or(usize::MAX)
}

/// Compares with the smallest gap that the levels and the noise of a vector have room for.
pub(crate) fn compared(vector: &Encrypted<Ckks>, less: bool, limit: f64) -> sotto::Result<Flags> {
    let mut gaps: Vec<f64> = Sign::all().map(|sign| sign.gap()).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.dedup();
    let mut refusal = Error::DryRun;
    for gap in gaps {
        let found = if less { vector.less_than(limit, gap) } else { vector.greater_than(limit, gap) };
        match found {
            Err(error @ Error::Depth { .. }) => refusal = error,
            found => return found.map(|flags| Flags { flags, share: gap }),
        }
    }
    Err(refusal)
}

/// Decrypted flags as numbers: 1 for yes, 0 for no, -1 for undecided.
pub(crate) fn numbers(py: Python<'_>, flags: Vec<Flag>) -> Bound<'_, PyArray1<i8>> {
    let number = |flag| match flag {
        Flag::Yes => 1,
        Flag::No => 0,
        Flag::Undecided => -1,
    };
    flags.into_iter().map(number).collect::<Vec<i8>>().into_pyarray(py)
}
