//! Compact encryption with a secret key: the device's code, with a device's secret.

use sotto_compact::Profile;
use sotto_device::{EncryptError, Mask, SecretBits, encrypt};
use sotto_ring::{Embedding, SecretRng};
use sotto_rlwe::{KeyId, ParameterSpec};
use zeroize::Zeroizing;

use crate::device::DeviceSecret;
use crate::secret::accepted_secret;

/// The secret key of a device for a parameter specification at two bits a coefficient, as the smallest devices carry it
/// ([`SecretBits`]): the coefficients of [`SecretKey::derive`](crate::SecretKey::derive). None for a degree that is no ring's.
pub fn secret_bits(device: &DeviceSecret, spec: &ParameterSpec) -> Option<Zeroizing<Vec<u8>>> {
    let embedding = Embedding::new(spec.degree)?;
    let secret = accepted_secret(&embedding, &mut device.key_stream(&spec.id()));
    let mut bits = Zeroizing::new(vec![0; spec.degree / 4]);
    SecretBits::write(secret.coefficients().iter().copied(), &mut bits);
    Some(bits)
}

/// Encrypts windows of one form with a device's key.
pub struct CompactEncryptor {
    profile: Profile,
    key: KeyId,
    secret: Zeroizing<Vec<u8>>,
    sums: Zeroizing<Vec<i64>>,
}

impl CompactEncryptor {
    /// With the key of a device. None for a degree that is no ring's.
    pub fn derive(device: &DeviceSecret, profile: &Profile) -> Option<Self> {
        let spec = profile.params().spec();
        let secret = secret_bits(device, spec)?;
        let sums = Zeroizing::new(vec![0; profile.form().places()]);
        Some(Self { profile: profile.clone(), key: device.key_id(&spec.id()), secret, sums })
    }

    /// The key's public name.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The body of a window's values modulo t, one a place. The mask must never have served under this key.
    ///
    /// # Errors
    /// [`EncryptError::Values`] where there are not as many values as places.
    pub fn encrypt(
        &mut self,
        values: &[i64],
        mask: &Mask,
        rng: &mut impl SecretRng,
    ) -> Result<Vec<u8>, EncryptError> {
        let form = self.profile.form();
        let modulus = form.plain() as i64;
        let residues: Zeroizing<Vec<u64>> =
            Zeroizing::new(values.iter().map(|value| value.rem_euclid(modulus) as u64).collect());
        let mut body = vec![0; form.body_bytes()];
        let secret = SecretBits::new(&self.secret);
        let errors = &mut || rng.next_u64();
        encrypt(form, secret, mask, &residues, errors, &mut self.sums, &mut body)?;
        Ok(body)
    }
}
