//! The terms of flooding, for answers that are given to others.

use serde::{Deserialize, Serialize};
use sotto_decrypt::FloodingBudget;
use sotto_rlwe::KeyId;

/// Bits of statistical security, by default.
const STATISTICAL_BITS: u32 = 30;

/// Number of results of a key that may be released, by default.
const RESULTS: u64 = 1000;

/// The terms of flooding, which determine the width of the noise. A key keeps the terms with which its budget was
/// created.
///
/// ```
/// use sotto_owner::FloodingSettings;
///
/// let terms = FloodingSettings::default(); // s = 30, 1000 results
/// let bits = terms.cost_bits(1); // of precision, for results of one value
/// assert!(bits > 21.0 && bits < 22.0);
/// let fewer = FloodingSettings { results: 10, ..terms };
/// assert!(fewer.published_error(1, 1e-9) < terms.published_error(1, 1e-9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FloodingSettings {
    /// s, 30 … 64.
    pub statistical_bits: u32,
    /// τ, 1 … 2^32: the number of answer ciphertexts of one key that may ever be released.
    pub results: u64,
}

impl Default for FloodingSettings {
    fn default() -> Self {
        Self { statistical_bits: STATISTICAL_BITS, results: RESULTS }
    }
}

impl FloodingSettings {
    /// Returns a budget with these terms, for its formulas and for checking the terms.
    ///
    /// # Errors
    /// [`sotto_decrypt::BudgetError`] if the terms are invalid.
    fn budget(self) -> Result<FloodingBudget, sotto_decrypt::BudgetError> {
        FloodingBudget::for_key_of_this_process(KeyId([0; 16]), self.statistical_bits, self.results)
    }

    /// Refuses invalid terms, with the reason.
    pub(crate) fn check(self) -> Result<(), String> {
        self.budget().map(drop).map_err(|error| error.to_string())
    }

    /// Returns the error bound of a flooded result of `values` values whose noise bound is `error`; infinite if no
    /// noise is wide enough.
    #[must_use]
    pub fn published_error(self, values: usize, error: f64) -> f64 {
        self.budget().map_or(f64::INFINITY, |budget| budget.published_error(values, error))
    }

    /// Returns the bits by which the noise is wider than the noise bound of a result of `values` values.
    #[must_use]
    pub fn cost_bits(self, values: usize) -> f64 {
        self.budget().map_or(f64::INFINITY, |budget| budget.cost_bits(values))
    }
}
