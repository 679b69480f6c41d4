//! The evaluation keys that steps use.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Step;
use crate::KeyNumber;

/// The evaluation keys that a plan uses.
///
/// ```
/// use sotto_program::KeysNeeded;
///
/// let mean = KeysNeeded { rotations: vec![1, 2, 4], swap_rows: true, ..KeysNeeded::default() };
/// let variance = KeysNeeded { relinearisation: true, rotations: vec![1, 8], ..KeysNeeded::default() };
/// let both = mean.and(&variance);
/// assert_eq!(both.to_string(), "relinearisation, rotation by 1 2 4 8, row swap");
/// assert_eq!(both.galois_steps(), [1, 2, 4, 8, 0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeysNeeded {
    /// True if the relinearisation key is used.
    pub relinearisation: bool,
    /// Rotations, each with a key; sorted, without repetition.
    pub rotations: Vec<i32>,
    /// True if the key for the row swap is used.
    pub swap_rows: bool,
    /// Foreign keys with a transfer key to the answer's; sorted, without repetition.
    pub transfers: Vec<KeyNumber>,
}

impl KeysNeeded {
    /// Collects the keys of these steps, given the key of each register.
    pub(super) fn of<'s>(steps: impl Iterator<Item = &'s Step>, keys: &[KeyNumber]) -> Self {
        let (mut rotations, mut transfers) = (BTreeSet::new(), BTreeSet::new());
        let mut needed = Self::default();
        for step in steps {
            match step {
                Step::Relinearise(_) | Step::Table { .. } | Step::Sign { .. } => {
                    needed.relinearisation = true;
                }
                Step::SwapRows(_) => needed.swap_rows = true,
                Step::Rotate(_, steps) => {
                    rotations.insert(*steps);
                }
                Step::SwitchKey(from) => transfers.extend(keys.get(from.index()).copied()),
                _ => {}
            }
        }
        needed.rotations = rotations.into_iter().collect();
        needed.transfers = transfers.into_iter().collect();
        needed
    }

    /// Returns the union of both: the keys for several plans whose key numbers mean the same keys.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let rotations: BTreeSet<i32> = self.rotations.iter().chain(&other.rotations).copied().collect();
        let transfers: BTreeSet<KeyNumber> = self.transfers.iter().chain(&other.transfers).copied().collect();
        Self {
            relinearisation: self.relinearisation || other.relinearisation,
            rotations: rotations.into_iter().collect(),
            swap_rows: self.swap_rows || other.swap_rows,
            transfers: transfers.into_iter().collect(),
        }
    }

    /// Returns the steps of all Galois keys: the rotations, and 0 for the row swap.
    #[must_use]
    pub fn galois_steps(&self) -> Vec<i32> {
        self.rotations.iter().copied().chain(self.swap_rows.then_some(0)).collect()
    }

    /// Returns true if no evaluation key is used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.relinearisation && self.rotations.is_empty() && !self.swap_rows && self.transfers.is_empty()
    }
}
