//! Whose secret key an input is under.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;

/// One of the secret keys that the inputs of a program or a plan are under. The answer's is number 0; the others, the
/// foreign keys, are numbered from 1 in the order of the inputs. Which keys they are is known when a plan is run, so the
/// same plan serves any two devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyNumber(pub u16);

impl KeyNumber {
    /// The key that the answer is under.
    pub const ANSWER: Self = Self(0);

    /// Whether it is another key than the answer's.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        self != Self::ANSWER
    }

    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for KeyNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The first of the inputs' keys that is more than one above all before it, or above [`limits::FOREIGN_KEYS`]: its
/// position and number.
pub(crate) fn first_misnumbered(keys: impl Iterator<Item = KeyNumber>) -> Option<(usize, KeyNumber)> {
    let mut highest = 0;
    keys.enumerate().find(|(_, key)| {
        let wrong = usize::from(key.0) > (highest + 1).min(limits::FOREIGN_KEYS);
        highest = highest.max(key.index());
        wrong
    })
}
