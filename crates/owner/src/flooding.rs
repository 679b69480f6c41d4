//! Flooding of answers that are given to others: terms, budgets by key, and the error that it adds.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sotto_decrypt::FloodingBudget;
use sotto_rlwe::KeyId;

use crate::error::OwnerError;
use crate::plant::{Plant, make_folder};

/// Bits of statistical security, unless `sotto.toml` says otherwise.
const STATISTICAL_BITS: u32 = 30;
/// Results of a key that may be released, unless `sotto.toml` says otherwise.
const RESULTS: u64 = 1000;
/// Folder of the budgets, in `secrets/`.
const FOLDER: &str = "flooding";

/// Terms on which answers are flooded: they decide how wide the noise is. A key keeps those with which its budget was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FloodingSettings {
    /// s, 30 … 64.
    pub statistical_bits: u32,
    /// τ, 1 … 2^32: ciphertexts of answers of one key that are ever released.
    pub results: u64,
}

impl Default for FloodingSettings {
    fn default() -> Self {
        Self { statistical_bits: STATISTICAL_BITS, results: RESULTS }
    }
}

impl FloodingSettings {
    /// A budget of these terms, for its formulas and for a check of the terms.
    ///
    /// # Errors
    /// Terms that no budget has.
    fn budget(self) -> Result<FloodingBudget, sotto_decrypt::BudgetError> {
        FloodingBudget::for_key_of_this_process(KeyId([0; 16]), self.statistical_bits, self.results)
    }

    /// Refuses terms that no budget has, with the reason.
    pub(crate) fn check(self) -> Result<(), String> {
        self.budget().map(drop).map_err(|error| error.to_string())
    }

    /// The error bound of a flooded result of so many values whose noise bound is `error`; infinite where no noise is wide enough.
    #[must_use]
    pub fn published_error(self, values: usize, error: f64) -> f64 {
        self.budget().map_or(f64::INFINITY, |budget| budget.published_error(values, error))
    }

    /// Bits that the noise is wider than the noise bound of a result of so many values.
    #[must_use]
    pub fn cost_bits(self, values: usize) -> f64 {
        self.budget().map_or(f64::INFINITY, |budget| budget.cost_bits(values))
    }
}

/// How an answer was flooded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flooded {
    /// s of the budgets.
    pub statistical_bits: u32,
    /// τ of the budgets.
    pub allowed: u64,
    /// Results that the answer spent.
    pub results: u64,
    /// Results that are left to the key that has fewest.
    pub left: u64,
}

impl Plant {
    /// Where a key's budget is kept.
    fn budget_path(&self, key: KeyId) -> PathBuf {
        self.secret_path(FOLDER).join(format!("{key}.budget"))
    }

    /// The budget of a key, made by the settings' terms when the key is first asked to share something.
    ///
    /// # Errors
    /// The file is damaged, in use, or cannot be written.
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
    /// One result more of a budget.
    pub(crate) fn count(&mut self, budget: &FloodingBudget) {
        let first = self.results == 0;
        let left = budget.left();
        self.left = if first { left } else { self.left.min(left) };
        self.statistical_bits = budget.statistical_bits();
        self.allowed = budget.allowed();
        self.results += 1;
    }
}
