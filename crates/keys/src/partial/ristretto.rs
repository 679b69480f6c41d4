//! The secret key of ElGamal on Ristretto: a scalar.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use sotto_partial::ristretto::PublicKey;
use sotto_partial::{KeyId, PartialError};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::device::DeviceSecret;

/// x with H = x·B. No Debug, Clone or PartialEq; wiped on drop.
pub struct SecretKey {
    scalar: Zeroizing<Scalar>,
    id: KeyId,
}

impl SecretKey {
    /// A new key.
    pub fn generate(rng: &mut impl SecretRng) -> Self {
        let mut wide = Zeroizing::new([0; 64]);
        rng.fill_bytes(wide.as_mut_slice());
        let scalar = Zeroizing::new(Scalar::from_bytes_mod_order_wide(&wide));
        let id = PublicKey::id_of(&RistrettoPoint::mul_base(&scalar));
        Self { scalar, id }
    }

    /// The key of a device, always the same one.
    pub fn derive(device: &DeviceSecret) -> Self {
        Self::generate(&mut device.partial_key_stream("elgamal-ristretto", 255, ""))
    }

    /// The public key. Refused for the scalar zero, which is never drawn.
    pub fn public_key(&self) -> Result<PublicKey, PartialError> {
        PublicKey::from_point(RistrettoPoint::mul_base(&self.scalar))
    }

    /// The public key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// x: whoever has it reads everything under this key.
    pub fn expose_secret_scalar(&self) -> &Scalar {
        &self.scalar
    }
}
