//! The flooding of an answer.

use serde::{Deserialize, Serialize};
use sotto_decrypt::FloodingBudget;

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
