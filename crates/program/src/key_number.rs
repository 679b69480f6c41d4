//! Numbers of the secret keys that inputs are under.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;

/// The number of a secret key that inputs of a program or a plan are under. The answer's key has number 0. The other
/// keys, the foreign keys, are numbered from 1 in the order of the inputs. The keys themselves are given when a plan is
/// run, so one plan serves any two devices.
///
/// ```
/// use sotto_program::{InputDeclaration, KeyNumber};
///
/// let own = InputDeclaration::new("own-load", 127.0);
/// let neighbour = InputDeclaration::new("neighbour-load", 127.0).under(KeyNumber(1));
/// assert_eq!(own.key, KeyNumber::ANSWER);
/// assert!(neighbour.key.is_foreign());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyNumber(pub u16);

impl KeyNumber {
    /// The answer's key.
    pub const ANSWER: Self = Self(0);

    /// Returns true if this is not the answer's key.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        self != Self::ANSWER
    }

    /// Returns 0 for the answer's key, 1 and more for foreign ones.
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

/// Returns the position and number of the first key that is more than one above all keys before it, or above
/// [`limits::FOREIGN_KEYS`].
pub(crate) fn first_misnumbered(keys: impl Iterator<Item = KeyNumber>) -> Option<(usize, KeyNumber)> {
    let mut highest = 0;
    keys.enumerate().find(|(_, key)| {
        let wrong = usize::from(key.0) > (highest + 1).min(limits::FOREIGN_KEYS);
        highest = highest.max(key.index());
        wrong
    })
}
