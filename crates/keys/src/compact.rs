//! Compact encryption with a secret key, by the code that runs on devices.

use alloc::vec::Vec;

use sotto_compact::{MaskSum, Profile};
use sotto_device::{EncryptError, Mask, SecretBits, encrypt_products};
use sotto_ring::{Coeff, Embedding, Eval, Poly, SecretRng};
use sotto_rlwe::{Bfv, KeyId, ParameterSpec, Params};
use zeroize::Zeroizing;

use crate::device::DeviceSecret;
use crate::secret::{SecretKey, accepted_secret};

/// Derives a device's secret key at two bits a coefficient, as the smallest devices store it
/// ([`SecretBits`]). The coefficients are those of [`SecretKey::derive`](crate::SecretKey::derive). Returns
/// None if no ring has the specification's degree.
pub fn secret_bits(device: &DeviceSecret, spec: &ParameterSpec) -> Option<Zeroizing<Vec<u8>>> {
    let embedding = Embedding::new(spec.degree)?;
    let secret = accepted_secret(&embedding, &mut device.key_stream(&spec.id()));
    let mut bits = Zeroizing::new(vec![0; spec.degree / 4]);
    SecretBits::write(secret.coefficients().iter().copied(), &mut bits);
    Some(bits)
}

/// Multiplies a sum of masks by a secret key of the form's parameters. The product is wiped when dropped.
pub fn mask_product(key: &SecretKey<Bfv>, masks: &MaskSum) -> Zeroizing<Poly<Coeff>> {
    multiply(key.params(), key.expose_secret_eval(), masks)
}

fn multiply(params: &Params<Bfv>, secret: &Poly<Eval>, masks: &MaskSum) -> Zeroizing<Poly<Coeff>> {
    // Each form reuses the buffer of the one before, so that memory holds one copy of the product.
    let mut product = masks.polynomial(params).into_eval();
    product.multiply_assign(secret);
    Zeroizing::new(product.into_coeff())
}

/// Σ s_i of several devices' secrets for one parameter set. It decrypts sums of windows that share a mask,
/// and is as secret as its addends. Wiped when dropped.
///
/// ```
/// use sotto_keys::{DeviceSecret, SecretKey, SecretSum};
/// use sotto_rlwe::Params;
///
/// let params = Params::default_chain(2048, 4096)?;
/// let mut fleet = SecretSum::new(&params);
/// for device in [[1; 32], [2; 32]] {
///     let added = fleet.add(&SecretKey::derive(&DeviceSecret::from_bytes(&device), &params));
///     assert!(added);
/// }
/// assert_eq!(fleet.keys(), 2);
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
pub struct SecretSum {
    params: Params<Bfv>,
    eval: Zeroizing<Poly<Eval>>,
    names: Vec<KeyId>,
}

impl SecretSum {
    /// Makes an empty sum, for parameters of one prime and without special primes.
    pub fn new(params: &Params<Bfv>) -> Self {
        let eval = Zeroizing::new(Poly::zero(params.ring(), params.key_limbs()));
        Self { params: params.clone(), eval, names: Vec::new() }
    }

    /// Adds a secret. Returns false and adds nothing if the key has other parameters. O(n).
    #[must_use]
    pub fn add(&mut self, key: &SecretKey<Bfv>) -> bool {
        let same = key.params() == &self.params;
        if same {
            self.eval.add_assign(key.expose_secret_eval());
            self.names.push(key.id());
        }
        same
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<Bfv> {
        &self.params
    }

    /// Returns the number of secrets added.
    pub fn keys(&self) -> u64 {
        self.names.len() as u64
    }

    /// Returns the public name of the sum: a hash of the keys' names in ascending order, so that equal names
    /// mean the same devices.
    pub fn id(&self) -> KeyId {
        let mut names: Vec<[u8; 16]> = self.names.iter().map(|name| name.0).collect();
        names.sort_unstable();
        let hash = blake3::derive_key("sotto sum of secrets v1", names.as_flattened());
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        KeyId(id)
    }

    /// Multiplies a sum of masks by the sum of the secrets. The product is wiped when dropped.
    pub fn mask_product(&self, masks: &MaskSum) -> Zeroizing<Poly<Coeff>> {
        multiply(&self.params, &self.eval, masks)
    }
}

/// Encrypts windows with a device's key. The bodies equal those of [`sotto_device::encrypt`], but are
/// computed by a transform.
///
/// ```
/// use sotto_compact::{Profile, mask_key};
/// use sotto_keys::{CompactEncryptor, DeviceSecret};
/// use sotto_rlwe::Params;
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let params = Params::default_chain(2048, 4096)?;
/// let profile = Profile::new(&params, 60, 20)?; // 60 readings of 20 bits each
/// let boiler = CompactEncryptor::derive(&DeviceSecret::generate(&mut rng), &params);
/// let (salt, sequence) = ([7; 12], 0); // once only: a window has a mask of its own
/// let mask = mask_key(boiler.key(), "boiler").mask(&salt, sequence);
/// let body = boiler.encrypt(&profile, &[72; 60], &mask, &mut rng)?;
/// assert_eq!(body.len(), 60 * 20 / 8);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct CompactEncryptor {
    key: SecretKey<Bfv>,
}

impl CompactEncryptor {
    /// Derives the key of a device for these parameters.
    pub fn derive(device: &DeviceSecret, params: &Params<Bfv>) -> Self {
        Self { key: SecretKey::derive(device, params) }
    }

    /// Returns the key's public name.
    pub fn key(&self) -> KeyId {
        self.key.id()
    }

    /// Encrypts a window's values, one a place, modulo t, and returns the body. The mask must never have been
    /// used under this key.
    ///
    /// # Errors
    /// [`EncryptError::Secret`] for a form of other parameters, [`EncryptError::Values`] if the number of
    /// values is not the number of places.
    pub fn encrypt(
        &self,
        profile: &Profile,
        values: &[i64],
        mask: &Mask,
        rng: &mut impl SecretRng,
    ) -> Result<Vec<u8>, EncryptError> {
        let (params, form) = (profile.params(), profile.form());
        if params != self.key.params() {
            return Err(EncryptError::Secret);
        }
        let mut masks = MaskSum::new(form);
        masks.add(mask, 1);
        let product = mask_product(&self.key, &masks);
        let whole = product.limb(params.limbs(0).start);
        let at = |place: usize| whole[place * form.spacing()] as i64;
        let products: Zeroizing<Vec<i64>> = Zeroizing::new((0..form.places()).map(at).collect());
        let modulus = form.plain() as i64;
        let residues: Zeroizing<Vec<u64>> =
            Zeroizing::new(values.iter().map(|value| value.rem_euclid(modulus) as u64).collect());
        let mut body = vec![0; form.body_bytes()];
        encrypt_products(form, &products, &residues, &mut || rng.next_u64(), &mut body)?;
        Ok(body)
    }
}
