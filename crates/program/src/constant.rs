//! Public constants of a program.

use serde::{Deserialize, Serialize};

/// A public vector. One value stands in every slot; several stand in the first slots, row after row, and the
/// slots after them are 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constant {
    /// Whole numbers, kept exactly. In a program on reals they are rounded to f64.
    Integers(Vec<i128>),
    /// Finite reals. A program on integers refuses them, whatever their value.
    Reals(Vec<f64>),
}

impl Constant {
    /// How many values are given.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    /// Whether there is no value at all: refused by [`crate::Program`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its one value stands in every slot.
    #[must_use]
    pub fn is_broadcast(&self) -> bool {
        self.len() == 1
    }

    /// The given values as reals, integers rounded to the nearest.
    #[must_use]
    pub fn reals(&self) -> Vec<f64> {
        match self {
            Self::Integers(values) => values.iter().map(|&value| value as f64).collect(),
            Self::Reals(values) => values.clone(),
        }
    }

    /// The given values when they are whole numbers.
    #[must_use]
    pub fn integers(&self) -> Option<&[i128]> {
        match self {
            Self::Integers(values) => Some(values),
            Self::Reals(_) => None,
        }
    }

    /// The largest |value|, rounded up where it is not an f64.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        match self {
            Self::Integers(values) => {
                let exact = values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0);
                let near = exact as f64;
                // 2^127 at most, so the way back does not saturate.
                if (near as u128) < exact { near.next_up() } else { near }
            }
            Self::Reals(values) => values.iter().fold(0.0, |most, value| most.max(value.abs())),
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Integers(_) => true,
            Self::Reals(values) => values.iter().all(|value| value.is_finite()),
        }
    }

    /// Equal keys mean equal constants; reals by their bits, so that 0 and −0 stay apart.
    pub(crate) fn key(&self) -> (bool, Vec<i128>) {
        match self {
            Self::Integers(values) => (true, values.clone()),
            Self::Reals(values) => (false, values.iter().map(|value| i128::from(value.to_bits())).collect()),
        }
    }
}
