//! The errors that noise may add to reals.

use crate::streams::Needs;

/// The default bound on a polynomial's or a model's noise error, as a fraction of the size of its coefficients.
pub const REAL_ERROR: f64 = 1e-4;

/// Like [`REAL_ERROR`], for values given to others: the precision that flooding leaves at the largest scales.
pub const SHARED_ERROR: f64 = 2e-2;

/// Returns the largest error allowed in a stream's values, as a fraction of the size of the coefficients.
#[must_use]
pub fn real_error(needs: &Needs) -> f64 {
    let unless_declared = if needs.flooding.is_some() { SHARED_ERROR } else { REAL_ERROR };
    needs.precision.unwrap_or(unless_declared)
}
