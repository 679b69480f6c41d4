//! Keys of many devices: each context is hashed once.

use blake3::Hasher;
use zeroize::Zeroize;

use crate::key::{COUNT_KEY, PADS, SALT_BYTES, SECRET_BYTES, TAG_KEY, TAG_PADS};

/// Bytes of the material of a stream's keys: secret ‖ stream id.
const STREAM_BYTES: usize = 2 * SECRET_BYTES;

/// States of BLAKE3 with their contexts: 8 KB.
pub(crate) struct Deriver {
    pads: Hasher,
    tag_pads: Hasher,
    tag: Hasher,
    count: Hasher,
    /// Secret ‖ stream id ‖ salt. Wiped when dropped.
    material: [u8; STREAM_BYTES + SALT_BYTES],
}

/// The four keys of a window: of K, of F, of k and of k′. The caller wipes them.
pub(crate) type WindowKeys = [[u8; 32]; 4];

impl Deriver {
    pub(crate) fn new() -> Self {
        let [pads, tag_pads, tag, count] = [PADS, TAG_PADS, TAG_KEY, COUNT_KEY].map(Hasher::new_derive_key);
        Self { pads, tag_pads, tag, count, material: [0; STREAM_BYTES + SALT_BYTES] }
    }

    /// Derives the keys that [`StartKeys`](crate::StartKeys) and [`StreamKeys`](crate::StreamKeys) derive.
    pub(crate) fn derive(
        &mut self,
        secret: &[u8; SECRET_BYTES],
        stream: &[u8; SECRET_BYTES],
        salt: &[u8; SALT_BYTES],
    ) -> WindowKeys {
        self.material[..SECRET_BYTES].copy_from_slice(secret);
        self.material[SECRET_BYTES..STREAM_BYTES].copy_from_slice(stream);
        self.material[STREAM_BYTES..].copy_from_slice(salt);
        let derive = |hasher: &mut Hasher, material: &[u8]| {
            let key = hasher.update(material).finalize().into();
            // Overwrites the material, too.
            hasher.reset();
            key
        };
        [
            derive(&mut self.pads, &self.material),
            derive(&mut self.tag_pads, &self.material),
            derive(&mut self.tag, &self.material[..STREAM_BYTES]),
            derive(&mut self.count, &self.material[..STREAM_BYTES]),
        ]
    }
}

impl Drop for Deriver {
    fn drop(&mut self) {
        self.material.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{StartKeys, StreamKeys};

    #[test]
    fn keys_are_those_of_one_device() {
        let mut deriver = Deriver::new();
        for at in 0..50_u8 {
            let (secret, stream, salt) = ([at; 32], [at ^ 0x5a; 32], [at.wrapping_mul(7); 12]);
            let (start, keys) =
                (StartKeys::derive(&secret, &stream, &salt), StreamKeys::derive(&secret, &stream));
            let expected = [&start.pads, &start.tag_pads, &keys.tag, &keys.count].map(|key| *key.bytes());
            assert_eq!(deriver.derive(&secret, &stream, &salt), expected);
        }
    }
}
