//! The Ed25519 identity with which a device signs its envelopes.

use ed25519_dalek::{Signer, SigningKey};
use sotto_ring::SecretRng;

/// An Ed25519 signing key. It authenticates a device and cannot decrypt.
///
/// ```
/// use ed25519_dalek::{Signature, VerifyingKey};
/// use sotto_keys::SigningIdentity;
///
/// let boiler = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
/// let signature = boiler.sign(b"window 17");
/// let key = VerifyingKey::from_bytes(&boiler.verifying_key())?; // known to the cloud
/// key.verify_strict(b"window 17", &Signature::from_bytes(&signature))?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct SigningIdentity {
    key: SigningKey,
}

impl SigningIdentity {
    /// Draws an Ed25519 key.
    pub fn generate(rng: &mut impl SecretRng) -> Self {
        let mut bytes = zeroize::Zeroizing::new([0; 32]);
        rng.fill_bytes(bytes.as_mut_slice());
        Self::from_bytes(&bytes)
    }

    /// Makes the identity of these secret bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self { key: SigningKey::from_bytes(bytes) }
    }

    /// Returns the secret bytes. Anybody who has them can send in the device's name.
    pub fn expose_secret_bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// Returns the public key.
    pub fn verifying_key(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    /// Returns the Ed25519 signature of these bytes.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }
}
