//! The Ed25519 identity with which a device signs its envelopes.

use ed25519_dalek::{Signer, SigningKey};
use sotto_ring::SecretRng;

/// A signing key. It authenticates, and decrypts nothing.
pub struct SigningIdentity {
    key: SigningKey,
}

impl SigningIdentity {
    /// A new one.
    pub fn generate(rng: &mut impl SecretRng) -> Self {
        let mut bytes = zeroize::Zeroizing::new([0; 32]);
        rng.fill_bytes(bytes.as_mut_slice());
        Self::from_bytes(&bytes)
    }

    /// From its bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self { key: SigningKey::from_bytes(bytes) }
    }

    /// The bytes: whoever has them can send in the device's name.
    pub fn expose_secret_bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// The public half.
    pub fn verifying_key(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    /// Signs.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }
}
