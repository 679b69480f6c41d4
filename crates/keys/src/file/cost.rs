//! The cost of opening a key file under a passphrase.

use alloc::vec::Vec;

use argon2::{Algorithm, Argon2, Version};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::KeyInit;
use zeroize::Zeroizing;

/// Bytes of a cost in a file.
pub(super) const COST: usize = 12;

/// The cost of one guess of the passphrase: the parameters of Argon2id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// 8·`lanes` to [`Cost::MOST_MEMORY`].
    memory_kib: u32,
    /// 1 to [`Cost::MOST_PASSES`].
    passes: u32,
    /// 1 to [`Cost::MOST_LANES`].
    lanes: u32,
}

impl Cost {
    /// The cost of files of protection 1.
    pub(super) const FIXED: Self = Self { memory_kib: 64 << 10, passes: 3, lanes: 1 };
    /// The cost of new files.
    pub(super) const NEW: Self = Self::FIXED;
    /// 1 GiB, so that a hostile file cannot exhaust memory.
    const MOST_MEMORY: u32 = 1 << 20;
    const MOST_PASSES: u32 = 16;
    const MOST_LANES: u32 = 16;

    /// Decodes a cost. Returns None if it exceeds the bounds.
    pub(super) fn read(bytes: &[u8; COST]) -> Option<Self> {
        let [memory_kib, passes, lanes] =
            [0, 4, 8].map(|at| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        let within = (1..=Self::MOST_LANES).contains(&lanes)
            && (1..=Self::MOST_PASSES).contains(&passes)
            && (8 * lanes..=Self::MOST_MEMORY).contains(&memory_kib);
        within.then_some(Self { memory_kib, passes, lanes })
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        [self.memory_kib, self.passes, self.lanes].map(u32::to_le_bytes).concat()
    }

    pub(super) fn cipher(self, passphrase: &str, salt: &[u8]) -> Option<XChaCha20Poly1305> {
        let params = argon2::Params::new(self.memory_kib, self.passes, self.lanes, Some(32)).ok()?;
        let mut key = Zeroizing::new([0; 32]);
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon.hash_password_into(passphrase.as_bytes(), salt, key.as_mut_slice()).ok()?;
        XChaCha20Poly1305::new_from_slice(key.as_slice()).ok()
    }
}
