//! The secret of a device, from which its keys are derived.

#[cfg(feature = "partial")]
use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_ring::SecretRng;
use sotto_rlwe::{KeyId, ParameterId};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// 32 random bytes from which the secret keys of all schemes and parameters of one device are derived.
///
/// ```
/// use sotto_keys::DeviceSecret;
/// use sotto_rlwe::{Bfv, Ckks, Params};
///
/// let boiler = DeviceSecret::from_bytes(&[7; 32]); // a real one: DeviceSecret::generate
/// let integers = Params::<Bfv>::default_chain(4096, 65537)?.id();
/// let reals = Params::<Ckks>::default_chain(4096, 0)?.id();
/// assert_ne!(boiler.key_id(&integers), boiler.key_id(&reals), "one key for each parameter set");
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct DeviceSecret {
    bytes: [u8; 32],
}

impl DeviceSecret {
    /// Draws 32 bytes.
    pub fn generate(rng: &mut impl SecretRng) -> Self {
        let mut bytes = [0; 32];
        rng.fill_bytes(&mut bytes);
        Self { bytes }
    }

    /// Takes 32 uniform bytes, such as those of a key file.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self { bytes: *bytes }
    }

    /// Returns the bytes. Anybody who has them can read all data of the device.
    pub fn expose_secret_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// Returns the stream that a secret key is drawn from (BLAKE3's key derivation, then ChaCha20).
    pub(crate) fn key_stream(&self, parameters: &ParameterId) -> ChaCha20Rng {
        let mut material = Zeroizing::new([0; 64]);
        material[..32].copy_from_slice(&self.bytes);
        material[32..].copy_from_slice(&parameters.0);
        let seed = Zeroizing::new(blake3::derive_key("sotto secret key v1", material.as_slice()));
        ChaCha20Rng::from_seed(*seed)
    }

    /// Returns the stream that a key of a partially homomorphic scheme is drawn from. `bits` is the key's
    /// length; `kind` tells keys of one length apart.
    #[cfg(feature = "partial")]
    pub(crate) fn partial_key_stream(&self, scheme: &str, bits: u32, kind: &str) -> ChaCha20Rng {
        let name = format!("{scheme} {bits} {kind}");
        // The capacity is exact: a vector that grows leaves a copy of the secret behind.
        let mut material = Zeroizing::new(Vec::with_capacity(self.bytes.len() + name.len()));
        material.extend_from_slice(self.bytes.as_slice());
        material.extend_from_slice(name.as_bytes());
        let seed = Zeroizing::new(blake3::derive_key("sotto partial secret key v1", &material));
        ChaCha20Rng::from_seed(*seed)
    }

    /// Returns the public name of the key derived for these parameters.
    pub fn key_id(&self, parameters: &ParameterId) -> KeyId {
        let mut material = Zeroizing::new([0; 64]);
        material[..32].copy_from_slice(&self.bytes);
        material[32..].copy_from_slice(&parameters.0);
        let name = blake3::derive_key("sotto key id v1", material.as_slice());
        let mut id = [0; 16];
        id.copy_from_slice(&name[..16]);
        KeyId(id)
    }
}
