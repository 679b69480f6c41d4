//! Public constants of a program.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// A public vector. A single value stands in every slot. Several values fill the first slots, row after row; the other
/// slots are 0.
///
/// ```
/// use sotto_program::Constant;
///
/// let gain = Constant::Integers(vec![3]);
/// assert!(gain.is_broadcast());
/// assert_eq!(gain.reals(), [3.0]);
/// let weights = Constant::Reals(vec![0.5, 0.25]);
/// assert_eq!((weights.len(), weights.integers()), (2, None));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constant {
    /// Exact whole numbers. A program on reals rounds them to f64.
    Integers(Vec<i128>),
    /// Finite reals. A program on integers refuses them, even if they are whole.
    Reals(Vec<f64>),
}

impl Constant {
    /// Returns the number of given values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    /// Returns true if there is no value. [`crate::Program`] refuses an empty constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if there is one value, which stands in every slot.
    #[must_use]
    pub fn is_broadcast(&self) -> bool {
        self.len() == 1
    }

    /// Returns the given values as reals; integers are rounded to the nearest f64.
    #[must_use]
    pub fn reals(&self) -> Vec<f64> {
        match self {
            Self::Integers(values) => values.iter().map(|&value| value as f64).collect(),
            Self::Reals(values) => values.clone(),
        }
    }

    /// Returns the given values if they are whole numbers; None for reals.
    #[must_use]
    pub fn integers(&self) -> Option<&[i128]> {
        match self {
            Self::Integers(values) => Some(values),
            Self::Reals(_) => None,
        }
    }

    /// Returns the largest |value|, rounded up if f64 cannot represent it.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        match self {
            Self::Integers(values) => {
                let exact = values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0);
                let near = exact as f64;
                // `exact` is at most 2^127, so the conversion back to u128 does not saturate.
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

    /// Returns a key that is equal for equal constants. Reals compare by their bits, so 0 and −0 differ.
    pub(crate) fn key(&self) -> (bool, Vec<i128>) {
        match self {
            Self::Integers(values) => (true, values.clone()),
            Self::Reals(values) => (false, values.iter().map(|value| i128::from(value.to_bits())).collect()),
        }
    }
}
