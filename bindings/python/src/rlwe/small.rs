//! Small polynomials from arrays.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sotto_ring::SmallPoly;

use super::arrays::slice;

/// Small coefficients.
pub(super) type Small<'py> = PyReadonlyArray1<'py, i64>;

/// Makes a small polynomial of n coefficients within ±`limit`.
pub(super) fn small(values: &Small<'_>, degree: usize, limit: u64) -> PyResult<SmallPoly> {
    let values = slice(values)?;
    // Reads all, so that timing does not depend on the position of a large one.
    let beyond = values.iter().fold(false, |any, c| any | (c.unsigned_abs() > limit));
    if values.len() != degree || beyond {
        return Err(PyTypeError::new_err(format!("give {degree} coefficients from -{limit} to {limit}")));
    }
    Ok(SmallPoly::from_coefficients(values.to_vec()))
}
