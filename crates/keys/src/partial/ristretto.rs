//! The secret key of ElGamal on Ristretto: a scalar x.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use sotto_partial::ristretto::PublicKey;
use sotto_partial::{KeyId, PartialError};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::device::DeviceSecret;

/// The scalar x with H = x·B. No Debug, Clone or PartialEq; wiped on drop.
///
/// ```
/// use sotto_keys::{DeviceSecret, partial::ristretto::SecretKey};
///
/// let secret = SecretKey::derive(&DeviceSecret::from_bytes(&[7; 32]));
/// let public = secret.public_key()?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let watt_hours = public.encrypt(1250, &mut rng)?;
/// assert_eq!(watt_hours.key(), secret.id());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct SecretKey {
    scalar: Zeroizing<Scalar>,
    id: KeyId,
}

impl SecretKey {
    /// Draws a scalar, uniform modulo the group's order.
    pub fn generate(rng: &mut impl SecretRng) -> Self {
        let mut wide = Zeroizing::new([0; 64]);
        rng.fill_bytes(wide.as_mut_slice());
        let scalar = Zeroizing::new(Scalar::from_bytes_mod_order_wide(&wide));
        let id = PublicKey::id_of(&RistrettoPoint::mul_base(&scalar));
        Self { scalar, id }
    }

    /// Derives the key of a device; the result is always the same.
    pub fn derive(device: &DeviceSecret) -> Self {
        Self::generate(&mut device.partial_key_stream("elgamal-ristretto", 255, ""))
    }

    /// Returns the public key.
    ///
    /// # Errors
    /// [`PartialError`] for the scalar zero, which is never drawn in practice.
    pub fn public_key(&self) -> Result<PublicKey, PartialError> {
        PublicKey::from_point(RistrettoPoint::mul_base(&self.scalar))
    }

    /// Returns the public key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Returns x. Anybody who has it reads everything under this key.
    pub fn expose_secret_scalar(&self) -> &Scalar {
        &self.scalar
    }
}
