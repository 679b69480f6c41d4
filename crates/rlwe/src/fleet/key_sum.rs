//! The secret keys behind a sum.

use alloc::collections::BTreeSet;

use crate::parameters::KeyId;

/// A set of secret keys; a ciphertext or switching key is under their sum.
///
/// ```
/// use sotto_rlwe::{KeyId, KeySum};
///
/// let (boiler, pump) = (KeyId([1; 16]), KeyId([2; 16]));
/// let fleet: KeySum = [boiler, pump].into_iter().collect();
/// assert!(fleet.contains(pump) && fleet.len() == 2);
/// // The name does not depend on the order.
/// assert_eq!(fleet.id(), [pump, boiler].into_iter().collect::<KeySum>().id());
/// assert_eq!(KeySum::default().id(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySum(BTreeSet<KeyId>);

impl KeySum {
    /// Returns the public name of the sum: for one key its own id; for more the first 16 bytes of
    /// BLAKE3-derive_key("sotto sum of keys v1", the ids in ascending order). Equal names mean the same devices.
    /// Returns None if there is no key.
    #[must_use]
    pub fn id(&self) -> Option<KeyId> {
        let first = self.0.first()?;
        if self.0.len() == 1 {
            return Some(*first);
        }
        let mut hasher = blake3::Hasher::new_derive_key("sotto sum of keys v1");
        self.0.iter().for_each(|key| {
            hasher.update(&key.0);
        });
        let mut id = KeyId([0; 16]);
        hasher.finalize_xof().fill(&mut id.0);
        Some(id)
    }

    /// Returns the keys, ascending.
    pub fn iter(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.0.iter().copied()
    }

    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if the key is one of the addends.
    #[must_use]
    pub fn contains(&self, key: KeyId) -> bool {
        self.0.contains(&key)
    }

    pub(super) fn insert(&mut self, key: KeyId) {
        self.0.insert(key);
    }

    /// Returns the first key that is in only one of two sums, or None if they are equal.
    pub(super) fn difference(&self, other: &Self) -> Option<KeyId> {
        self.0.symmetric_difference(&other.0).next().copied()
    }
}

impl FromIterator<KeyId> for KeySum {
    /// Collects keys; repeated ones count once.
    fn from_iter<I: IntoIterator<Item = KeyId>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}
