//! The secret keys that a sum is under.

use std::collections::BTreeSet;

use crate::parameters::KeyId;

/// The secret keys whose sum a ciphertext or switching key is under, each of them once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySum(BTreeSet<KeyId>);

impl KeySum {
    /// The public name of the sum: of one key its own; of more the first 16 bytes of BLAKE3-derive_key("sotto sum of keys v1", their names in
    /// ascending order). Equal names mean the same devices. None if there is no key.
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

    /// The keys, ascending.
    pub fn iter(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.0.iter().copied()
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the key is one of the addends.
    #[must_use]
    pub fn contains(&self, key: KeyId) -> bool {
        self.0.contains(&key)
    }

    pub(super) fn insert(&mut self, key: KeyId) {
        self.0.insert(key);
    }

    /// The first key that is in one of two sums only.
    pub(super) fn difference(&self, other: &Self) -> Option<KeyId> {
        self.0.symmetric_difference(&other.0).next().copied()
    }
}

impl FromIterator<KeyId> for KeySum {
    /// A key that occurs twice is taken once.
    fn from_iter<I: IntoIterator<Item = KeyId>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}
