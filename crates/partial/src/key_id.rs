//! The public name of a key.

/// The first 16 bytes of a hash over the public key.
///
/// ```
/// use sotto_partial::KeyId;
///
/// let name = KeyId::of("meter", &[b"ab", b"c"]);
/// assert_eq!(name, KeyId::of("meter", &[b"ab", b"c"]));
/// assert_ne!(name, KeyId::of("meter", &[b"a", b"bc"]), "parts have lengths");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(pub [u8; 16]);

impl KeyId {
    /// Hashes the parts of a key, each preceded by its length.
    pub fn of(purpose: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut id = [0; 16];
        id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(id)
    }
}
