//! Keys of a stream and of a start.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::field::Residue;
use crate::words::Words;

/// Bytes of a device's secret, and of a stream's id.
pub const SECRET_BYTES: usize = 32;
/// Bytes of the salt that a device draws when it starts.
pub const SALT_BYTES: usize = 12;

pub(crate) const PADS: &str = "sotto 2026 sums pads v1";
pub(crate) const TAG_PADS: &str = "sotto 2026 sums tag pads v1";
pub(crate) const TAG_KEY: &str = "sotto 2026 sums tag key v1";
pub(crate) const COUNT_KEY: &str = "sotto 2026 sums count key v1";
const KEY_ID: &str = "sotto 2026 sums key id v1";
/// Bytes of the id of a stream's keys.
pub const KEY_ID_BYTES: usize = 16;

/// A ChaCha20 key, wiped when dropped.
pub(crate) struct Key([u8; 32]);

impl Key {
    fn derive(context: &str, parts: [&[u8]; 3]) -> Self {
        let mut material = [0; 2 * SECRET_BYTES + SALT_BYTES];
        let mut used = 0;
        for part in parts {
            material[used..used + part.len()].copy_from_slice(part);
            used += part.len();
        }
        // Without a `Hasher`, which takes 2 KB of stack.
        let key = Self(blake3::derive_key(context, &material[..used]));
        material.zeroize();
        key
    }

    #[cfg(test)]
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    #[cfg(any(test, feature = "alloc"))]
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Starts the key stream of a pad number and a part, from which `count` words are read.
    pub(crate) fn words(&self, number: u64, part: u32, count: usize) -> Words<'_> {
        Words::new(&self.0, number, part, count)
    }

    /// Returns the first residue of a key stream.
    #[inline(never)]
    pub(crate) fn residue(&self, number: u64, part: u32) -> Residue {
        self.words(number, part, 2).residue(0)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Key {}

/// The secret keys of a stream's tags: k for places, k′ for counts. Wiped when dropped.
///
/// Example: [`TagKey`](crate::TagKey)
pub struct StreamKeys {
    pub(crate) tag: Key,
    pub(crate) count: Key,
}

impl StreamKeys {
    /// Derives the keys from the device's secret and the stream's id.
    pub fn derive(secret: &[u8; SECRET_BYTES], stream: &[u8; SECRET_BYTES]) -> Self {
        let derive = |context| Key::derive(context, [secret, stream, &[]]);
        Self { tag: derive(TAG_KEY), count: derive(COUNT_KEY) }
    }

    /// Returns the id by which a stream's header names these keys: a hash of them, which is public.
    ///
    /// ```
    /// use sotto_sums::StreamKeys;
    ///
    /// let id = StreamKeys::derive(&[1; 32], &[2; 32]).id();
    /// assert_eq!(id, StreamKeys::derive(&[1; 32], &[2; 32]).id());
    /// assert_ne!(id, StreamKeys::derive(&[1; 32], &[3; 32]).id());
    /// ```
    pub fn id(&self) -> [u8; KEY_ID_BYTES] {
        let long = Key::derive(KEY_ID, [&self.tag.0, &self.count.0, &[]]);
        let mut id = [0; KEY_ID_BYTES];
        id.copy_from_slice(&long.0[..KEY_ID_BYTES]);
        id
    }
}

/// The secret keys of the pads of one start of a stream: K for places, F for tags. Wiped when dropped.
///
/// Example: [`Opening`](crate::Opening)
pub struct StartKeys {
    pub(crate) pads: Key,
    pub(crate) tag_pads: Key,
}

impl StartKeys {
    /// Derives the keys from the device's secret, the stream's id and the salt that the device drew at this start.
    pub fn derive(secret: &[u8; SECRET_BYTES], stream: &[u8; SECRET_BYTES], salt: &[u8; SALT_BYTES]) -> Self {
        let derive = |context| Key::derive(context, [secret, stream, salt]);
        Self { pads: derive(PADS), tag_pads: derive(TAG_PADS) }
    }
}
