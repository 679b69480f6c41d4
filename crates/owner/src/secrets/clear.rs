//! The list of secrets in the clear while a passphrase is set or removed: only these may be in the clear in a plant that
//! has one. It is sealed under the plant's key, and names each by a keyed digest, so that nobody else can add to it.

use sotto_keys::PlantKey;

const DIGEST: usize = 32;

/// Digests of secrets in the clear.
#[derive(Debug, Default, PartialEq)]
pub(super) struct InTheClear(Vec<[u8; DIGEST]>);

impl InTheClear {
    pub(super) fn add(&mut self, key: &PlantKey, file: &[u8]) {
        self.0.push(digest(key, file));
    }

    pub(super) fn holds(&self, key: &PlantKey, file: &[u8]) -> bool {
        self.0.contains(&digest(key, file))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.concat()
    }

    /// Reads a list. Returns None if its length is not that of whole digests.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (digests, rest) = bytes.as_chunks();
        rest.is_empty().then(|| Self(digests.to_vec()))
    }
}

fn digest(key: &PlantKey, file: &[u8]) -> [u8; DIGEST] {
    blake3::keyed_hash(&key.derived("sotto list of secrets in the clear v1"), file).into()
}
