//! Keys of many devices, 16 at a time: BLAKE3 in lanes.
//!
//! The crate `blake3` computes the blocks of one long input at once. The material of a key is one block or two.

use blake3::hazmat::hash_derive_key_context;
use sotto_kernels::{BlockLanes, Streams, Target, ValueLanes};
use zeroize::Zeroize;

use crate::key::{COUNT_KEY, PADS, SALT_BYTES, SECRET_BYTES, TAG_KEY, TAG_PADS};
use crate::lanes::LANES;

/// Bytes of a block, which is the material of a stream's keys: secret ‖ stream id.
const BLOCK_BYTES: usize = 2 * SECRET_BYTES;

/// The keys of a window.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Pads,
    TagPads,
    Tag,
    Count,
}

/// Secrets of a group of devices, and a key of each. Wiped when dropped.
pub(crate) struct Deriver {
    /// Hashes of the contexts, in the order of [`Purpose`].
    contexts: [[u8; 32]; 4],
    /// Secret ‖ stream id, and salt ‖ zeros.
    material: [BlockLanes; 2],
    keys: ValueLanes,
    streams: &'static Streams,
}

impl Deriver {
    pub(crate) fn new() -> Self {
        Self {
            contexts: [PADS, TAG_PADS, TAG_KEY, COUNT_KEY].map(hash_derive_key_context),
            material: [[[0; LANES]; 16]; 2],
            keys: [[0; LANES]; 8],
            streams: &Target::best().streams,
        }
    }

    /// Sets the device, the stream and the start of a lane.
    pub(crate) fn set(
        &mut self,
        lane: usize,
        secret: &[u8; SECRET_BYTES],
        stream: &[u8; SECRET_BYTES],
        salt: &[u8; SALT_BYTES],
    ) {
        let parts = [secret.as_chunks().0, stream.as_chunks().0, salt.as_chunks().0];
        for (word, bytes) in self.material.as_flattened_mut().iter_mut().zip(parts.into_iter().flatten()) {
            word[lane] = u32::from_le_bytes(*bytes);
        }
    }

    /// Derives the keys that [`StartKeys`](crate::StartKeys) and [`StreamKeys`](crate::StreamKeys) derive.
    pub(crate) fn derive(&mut self, purpose: Purpose) -> &ValueLanes {
        let context = &self.contexts[purpose as usize];
        let (blocks, bytes) = match purpose {
            Purpose::Pads | Purpose::TagPads => (&self.material[..], SALT_BYTES),
            Purpose::Tag | Purpose::Count => (&self.material[..1], BLOCK_BYTES),
        };
        self.streams.derive_keys(context, blocks, bytes as u32, &mut self.keys);
        &self.keys
    }
}

impl Drop for Deriver {
    fn drop(&mut self) {
        self.material.as_flattened_mut().as_flattened_mut().zeroize();
        self.keys.as_flattened_mut().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{StartKeys, StreamKeys};

    #[test]
    fn keys_are_those_of_one_device() {
        let mut deriver = Deriver::new();
        for group in 0..4_u8 {
            let device = |lane: usize| {
                let at = group * LANES as u8 + lane as u8;
                ([at; 32], [at ^ 0x5a; 32], [at.wrapping_mul(7); 12])
            };
            for lane in 0..LANES {
                let (secret, stream, salt) = device(lane);
                deriver.set(lane, &secret, &stream, &salt);
            }
            let derived = [Purpose::Pads, Purpose::TagPads, Purpose::Tag, Purpose::Count]
                .map(|purpose| *deriver.derive(purpose));
            for lane in 0..LANES {
                let (secret, stream, salt) = device(lane);
                let (start, keys) =
                    (StartKeys::derive(&secret, &stream, &salt), StreamKeys::derive(&secret, &stream));
                let expected = [&start.pads, &start.tag_pads, &keys.tag, &keys.count];
                for (words, expected) in derived.iter().zip(expected) {
                    let key: Vec<u8> = words.iter().flat_map(|word| word[lane].to_le_bytes()).collect();
                    assert_eq!(key, expected.bytes(), "lane {lane}");
                }
            }
        }
    }
}
