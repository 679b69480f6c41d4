//! Which evaluation keys steps use.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Step;
use crate::KeyNumber;

/// The evaluation keys a plan uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeysNeeded {
    /// The relinearisation key.
    pub relinearisation: bool,
    /// A key for each of these rotations; sorted, each once.
    pub rotations: Vec<i32>,
    /// The key that swaps rows.
    pub swap_rows: bool,
    /// A transfer key from each of these keys to the answer's; sorted, each once.
    pub transfers: Vec<KeyNumber>,
}

impl KeysNeeded {
    /// The keys these steps use, given whose key each register is under.
    pub(super) fn of<'s>(steps: impl Iterator<Item = &'s Step>, keys: &[KeyNumber]) -> Self {
        let (mut rotations, mut transfers) = (BTreeSet::new(), BTreeSet::new());
        let mut needed = Self::default();
        for step in steps {
            match step {
                Step::Relinearise(_) => needed.relinearisation = true,
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

    /// Keys for both this and `other`: what a device makes for several plans, whose key numbers mean the same keys.
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

    /// The steps of all Galois keys: the rotations, and 0 for the row swap.
    #[must_use]
    pub fn galois_steps(&self) -> Vec<i32> {
        self.rotations.iter().copied().chain(self.swap_rows.then_some(0)).collect()
    }

    /// Whether no evaluation key is used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.relinearisation && self.rotations.is_empty() && !self.swap_rows && self.transfers.is_empty()
    }
}
