//! Which evaluation keys steps use.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Step;

/// The evaluation keys a plan uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeysNeeded {
    /// The relinearisation key.
    pub relinearisation: bool,
    /// A key for each of these rotations; sorted, each once.
    pub rotations: Vec<i32>,
    /// The key that swaps rows.
    pub swap_rows: bool,
}

impl KeysNeeded {
    /// The keys these steps use.
    pub(super) fn of<'s>(steps: impl Iterator<Item = &'s Step>) -> Self {
        let mut rotations = BTreeSet::new();
        let mut needed = Self::default();
        for step in steps {
            match step {
                Step::Relinearise(_) => needed.relinearisation = true,
                Step::SwapRows(_) => needed.swap_rows = true,
                Step::Rotate(_, steps) => {
                    rotations.insert(*steps);
                }
                _ => {}
            }
        }
        needed.rotations = rotations.into_iter().collect();
        needed
    }

    /// Keys for both this and `other`: what a device makes for several plans.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let rotations: BTreeSet<i32> = self.rotations.iter().chain(&other.rotations).copied().collect();
        Self {
            relinearisation: self.relinearisation || other.relinearisation,
            rotations: rotations.into_iter().collect(),
            swap_rows: self.swap_rows || other.swap_rows,
        }
    }

    /// Whether no evaluation key is used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.relinearisation && self.rotations.is_empty() && !self.swap_rows
    }
}
