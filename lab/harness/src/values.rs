//! The values of slots.

use serde::{Deserialize, Serialize};

/// Slot values: integers in exact schemes, reals in CKKS. Some languages write a whole real like an integer, so that
/// readers of reals must accept both forms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Real numbers.
    Reals(Vec<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Integers(Vec::new())
    }
}

impl Values {
    /// Returns whole numbers as f64.
    pub fn reals(&self) -> Vec<f64> {
        match self {
            Self::Integers(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Reals(values) => values.clone(),
        }
    }

    /// Returns the values if they are integers. None for reals.
    pub fn integers(&self) -> Option<&[i64]> {
        if let Self::Integers(values) = self { Some(values) } else { None }
    }
}
