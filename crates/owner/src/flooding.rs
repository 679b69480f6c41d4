//! Flooding of answers that are given to others: its terms, the budgets of keys, and the error that it adds.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_decrypt::FloodingBudget;
use sotto_rlwe::KeyId;

use crate::error::OwnerError;
use crate::files::make_folder;
use crate::plant::Plant;

/// Bits of statistical security, by default.
const STATISTICAL_BITS: u32 = 30;
/// Number of results of a key that may be released, by default.
const RESULTS: u64 = 1000;
/// The folder of the budgets, in `secrets/`.
const FOLDER: &str = "flooding";

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

/// The flooding of an answer.
///
/// ```
/// use sotto_owner::Flooded;
///
/// // The field `flooded` of an answer's JSON form.
/// let json = r#"{ "statistical_bits": 30, "allowed": 1000, "results": 1, "left": 999 }"#;
/// let flooded: Flooded = serde_json::from_str(json)?;
/// assert_eq!(flooded.left, flooded.allowed - flooded.results);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flooded {
    /// s of the budgets.
    pub statistical_bits: u32,
    /// τ of the budgets.
    pub allowed: u64,
    /// Number of results that the answer used.
    pub results: u64,
    /// Number of results left, for the key with the fewest.
    pub left: u64,
}

impl Plant {
    /// Returns the path of a key's budget.
    fn budget_path(&self, key: KeyId) -> PathBuf {
        self.secret_path(FOLDER).join(format!("{key}.budget"))
    }

    /// Opens the budget of a key, or creates it with the terms in the settings.
    ///
    /// # Errors
    /// [`OwnerError::Flooding`] if the file is damaged or in use; another [`OwnerError`] if it cannot be written.
    pub(crate) fn flooding_budget(&self, key: KeyId) -> Result<FloodingBudget, OwnerError> {
        let path = self.budget_path(key);
        if path.exists() {
            return Ok(FloodingBudget::open(&path)?);
        }
        make_folder(&self.secret_path(FOLDER), true)?;
        let FloodingSettings { statistical_bits, results } = self.settings().flooding;
        Ok(FloodingBudget::create(&path, key, statistical_bits, results)?)
    }
}

impl Flooded {
    /// Counts one more result of a budget.
    pub(crate) fn count(&mut self, budget: &FloodingBudget) {
        let first = self.results == 0;
        let left = budget.left();
        self.left = if first { left } else { self.left.min(left) };
        self.statistical_bits = budget.statistical_bits();
        self.allowed = budget.allowed();
        self.results += 1;
    }
}
